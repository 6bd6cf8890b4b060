//! Conditions on data as queries for what violates them, so that a finding can name it.

use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::{Param, SessionError};
use record::check::Verdict;
use std::fmt::Write;

/// How many violating keys a verdict names; the rest are only counted.
const KEYS_SHOWN: u64 = 5;

/// Runs a query that returns the keys of what violates a condition; `keys` says what its columns are.
pub fn judge(query: &str, keys: &[&str], admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let mut violations = 0_u64;
    let mut shown = String::new();
    admin.ask(query, Limit::KEYS, &mut |set, row| {
        if violations < KEYS_SHOWN {
            shown.push_str(if violations == 0 { "" } else { "; " });
            for (column, key) in keys.iter().enumerate() {
                let separator = if column == 0 { "" } else { ", " };
                // Writing to a text cannot fail.
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
