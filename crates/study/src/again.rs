//! A plan that compares each contender with itself: any difference it finds is a false alarm.

use record::plan::Cell;

/// Added to the name of the second of two equal contenders. Names in a study have no brackets.
const AGAIN: &str = " (again)";

/// Each cell twice: as it is, and again under another name with the first as its baseline. Several contenders of a
/// study are kept apart by scenarios, since cells are compared within a scenario.
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

/// The contender's name in the study.
pub fn original(contender: &str) -> &str {
    contender.strip_suffix(AGAIN).unwrap_or(contender)
}

/// The question that a doubled plan answers.
pub fn question(question: &str) -> String {
    format!("A/A study: does each contender equal itself? Asked of: {question}")
}
