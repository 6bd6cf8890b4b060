//! `precision` and its limits at the top of a study: which keys belong together, and their defaults.

use crate::problems::Flaw;
use crate::source::Leaf;
use record::precision::{FEWEST_BLOCKS, Precision};
use serde_json::{Map, Value};

/// Enough for a spread of several times the requested half-width; a larger spread should be reduced, not averaged.
const MAX_BLOCKS_DEFAULT: u32 = 100;

/// Keys that mean nothing without `precision`.
const LIMITS: [&str; 2] = ["max_blocks", "time_limit"];

/// The number of blocks to plan, and the requested precision, if any. `top` is checked; `base` has the lines.
pub fn blocks_and_precision(
    top: &Map<String, Value>,
    base: &[Leaf],
    problems: &mut Vec<Flaw>,
) -> (u32, Option<Precision>) {
    let number = |name: &str| top.get(name).and_then(Value::as_u64);
    let small = |name: &str| number(name).and_then(|number| u32::try_from(number).ok());
    let line = |name: &str| base.iter().find(|leaf| leaf.path == name).map(|leaf| leaf.line);
    let blocks = small("blocks").unwrap_or(1);
    let Some(half_width) = top.get("precision").and_then(Value::as_f64) else {
        // A precision that is written but wrong was already reported.
        for name in LIMITS.into_iter().filter(|name| top.contains_key(*name) && line("precision").is_none()) {
            problems.push(Flaw::new(line(name), name, "given", "this key only beside precision"));
        }
        return (blocks, None);
    };
    let least_blocks = if line("blocks").is_some() { blocks } else { FEWEST_BLOCKS };
    if least_blocks < FEWEST_BLOCKS {
        let expected = format!(
            "at least {FEWEST_BLOCKS} beside precision: with fewer, a run stops when chance makes its intervals narrow"
        );
        problems.push(Flaw::new(line("blocks"), "blocks", format!("found {least_blocks}"), expected));
    }
    let max_blocks = small("max_blocks").unwrap_or(MAX_BLOCKS_DEFAULT.max(least_blocks));
    if max_blocks < least_blocks {
        let expected = format!("at least {least_blocks}, the number of blocks");
        problems.push(Flaw::new(line("max_blocks"), "max_blocks", format!("found {max_blocks}"), expected));
    }
    let time_limit_ms = number("time_limit");
    (least_blocks, Some(Precision { half_width, least_blocks, max_blocks, time_limit_ms, ended: None }))
}

/// A precision belongs to comparisons; a single contender has none.
pub fn nothing_to_compare(contenders: usize, base: &[Leaf]) -> Option<Flaw> {
    let leaf = base.iter().find(|leaf| leaf.path == "precision").filter(|_| contenders == 1)?;
    let expected = "two contenders, whose ratio can be precise; or --aa, which compares a contender with itself";
    Some(Flaw::new(Some(leaf.line), "precision", "found 1 contender", expected))
}
