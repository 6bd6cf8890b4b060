//! Kinds of work, and counters of what was really executed.

use super::function::Function;
use super::questions::{COUNT, NAMES};
use crate::workload::Kind;

const FUNCTIONS: usize = Function::NAMES.len();

/// The questions in the order of their numbers, then the maintenance functions. Only questions count.
pub const KINDS: [Kind; COUNT + FUNCTIONS] = {
    let mut kinds = [Kind::transaction("", false); COUNT + FUNCTIONS];
    let mut place = 0;
    while place < COUNT {
        kinds[place] = Kind::transaction(NAMES[place], true);
        place += 1;
    }
    while place < COUNT + FUNCTIONS {
        kinds[place] = Kind::transaction(Function::NAMES[place - COUNT], false);
        place += 1;
    }
    kinds
};

/// Rows of all answers, then a checksum for each question. Nothing changes the data while questions are asked, so for the same
/// seed these are equal on every engine.
pub const COUNTERS: [&str; COUNT + 1] = [
    "answer_rows",
    "answer_q01",
    "answer_q02",
    "answer_q03",
    "answer_q04",
    "answer_q05",
    "answer_q06",
    "answer_q07",
    "answer_q08",
    "answer_q09",
    "answer_q10",
    "answer_q11",
    "answer_q12",
    "answer_q13",
    "answer_q14",
    "answer_q15",
    "answer_q16",
    "answer_q17",
    "answer_q18",
    "answer_q19",
    "answer_q20",
    "answer_q21",
    "answer_q22",
    "answer_q23",
    "answer_q24",
    "answer_q25",
    "answer_q26",
    "answer_q27",
    "answer_q28",
    "answer_q29",
    "answer_q30",
    "answer_q31",
    "answer_q32",
    "answer_q33",
    "answer_q34",
    "answer_q35",
    "answer_q36",
    "answer_q37",
    "answer_q38",
    "answer_q39",
    "answer_q40",
    "answer_q41",
    "answer_q42",
    "answer_q43",
    "answer_q44",
    "answer_q45",
    "answer_q46",
    "answer_q47",
    "answer_q48",
    "answer_q49",
    "answer_q50",
    "answer_q51",
    "answer_q52",
    "answer_q53",
    "answer_q54",
    "answer_q55",
    "answer_q56",
    "answer_q57",
    "answer_q58",
    "answer_q59",
    "answer_q60",
    "answer_q61",
    "answer_q62",
    "answer_q63",
    "answer_q64",
    "answer_q65",
    "answer_q66",
    "answer_q67",
    "answer_q68",
    "answer_q69",
    "answer_q70",
    "answer_q71",
    "answer_q72",
    "answer_q73",
    "answer_q74",
    "answer_q75",
    "answer_q76",
    "answer_q77",
    "answer_q78",
    "answer_q79",
    "answer_q80",
    "answer_q81",
    "answer_q82",
    "answer_q83",
    "answer_q84",
    "answer_q85",
    "answer_q86",
    "answer_q87",
    "answer_q88",
    "answer_q89",
    "answer_q90",
    "answer_q91",
    "answer_q92",
    "answer_q93",
    "answer_q94",
    "answer_q95",
    "answer_q96",
    "answer_q97",
    "answer_q98",
    "answer_q99",
];

pub const ANSWER_ROWS: usize = 0;

/// The counter of a question's checksum. Questions count from 1.
pub fn checksum_of(question: u8) -> usize {
    usize::from(question)
}
