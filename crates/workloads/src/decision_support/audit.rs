//! Whether all of a trial's work was done.

use record::check::Verdict;
use record::trial::KindTotals;

/// Whether each of these questions has as many answers as there are streams. One without an answer is no fault of the data, and the
/// figure of its phase is not computed.
pub fn answered<'a>(kinds: &[KindTotals], names: impl Iterator<Item = &'a str>, expected: u64) -> Verdict {
    match otherwise(kinds, names, expected) {
        None => Verdict::Holds { seen: None },
        Some(why) => Verdict::Undecided { why },
    }
}

/// Whether each of these functions, which change the data, was done as often.
pub fn done<'a>(kinds: &[KindTotals], names: impl Iterator<Item = &'a str>, expected: u64) -> Verdict {
    match otherwise(kinds, names, expected) {
        None => Verdict::Holds { seen: None },
        Some(seen) => Verdict::Violated { seen },
    }
}

/// "q14 4 times, q23 0 times instead of 5".
fn otherwise<'a>(kinds: &[KindTotals], names: impl Iterator<Item = &'a str>, expected: u64) -> Option<String> {
    let committed = |name: &str| kinds.iter().find(|totals| totals.kind == name).map_or(0, |totals| totals.committed);
    let wrong = |name: &'a str| (committed(name) != expected).then(|| format!("{name} {} times", committed(name)));
    let wrong: Vec<_> = names.filter_map(wrong).collect();
    (!wrong.is_empty()).then(|| format!("{} instead of {expected}", wrong.join(", ")))
}
