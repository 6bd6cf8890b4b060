//! Conditions on data, as queries for the rows that violate them, so that a finding can name those rows.

use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::{Param, SessionError};
use record::check::Verdict;
use std::fmt::Write;

/// How many violating keys a verdict names; it only counts the rest.
const KEYS_SHOWN: u64 = 5;

/// Runs a query that returns the keys of the rows that violate a condition; `keys` names its columns.
pub fn judge(query: &str, keys: &[&str], admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let mut violations = 0_u64;
    let mut shown = String::new();
    admin.ask(query, Limit::KEYS, &mut |set, row| {
        if violations < KEYS_SHOWN {
            shown.push_str(if violations == 0 { "" } else { "; " });
            for (column, key) in keys.iter().enumerate() {
                let separator = if column == 0 { "" } else { ", " };
                // Writing to a string cannot fail.
                let _ = match set.value(row, column) {
                    Some(Param::Integer(id)) => write!(shown, "{separator}{key} {id}"),
                    other => write!(shown, "{separator}{key} {other:?}"),
                };
            }
        }
        violations += 1;
    })?;
    Ok(match violations {
        0 => Verdict::Holds { seen: None },
        1..=KEYS_SHOWN => Verdict::Violated { seen: shown },
        more => Verdict::Violated { seen: format!("{shown}; and {} more", more - KEYS_SHOWN) },
    })
}
