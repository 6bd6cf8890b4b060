//! A plan in which each contender meets itself: what it then finds is not there.

use record::plan::Cell;

/// What the second of two equal contenders is called after the first. Names in a study hold no brackets.
const AGAIN: &str = " (again)";

/// Each cell twice: as it is, and once more under another name with the first as its baseline. Where a study has several
/// contenders they are kept apart by a scenario, since cells are compared within one.
pub fn doubled(cells: &[Cell]) -> Vec<Cell> {
    let several = cells.iter().any(|cell| cell.contender != cells[0].contender);
    let twice = cells.iter().flat_map(|cell| {
        let itself = several.then(|| format!("{} against itself", cell.contender));
        let words: Vec<String> = itself.into_iter().chain(cell.scenario.clone()).collect();
        let scenario = (!words.is_empty()).then(|| words.join(", "));
        let first = Cell { baseline: true, scenario, ..cell.clone() };
        let again = Cell { baseline: false, contender: format!("{}{AGAIN}", cell.contender), ..first.clone() };
        [first, again]
    });
    (0..).zip(twice).map(|(id, cell)| Cell { id, ..cell }).collect()
}

/// The contender as it is called in the study.
pub fn original(contender: &str) -> &str {
    contender.strip_suffix(AGAIN).unwrap_or(contender)
}

/// The question that a doubled plan answers.
pub fn question(question: &str) -> String {
    format!("A/A study: does each contender equal itself? Asked of: {question}")
}
