//! The questions: their texts, what their answers look like, and in which orders streams ask them.

use super::golden::ANSWERS;
use super::parameters::values;
use crate::decision_support::questions::{QuestionList, names_of_questions};
use crate::decision_support::shapes::{ANY, AnswerColumn, Shaped, shape};
use crate::decision_support::texts::DialectWords;
use engines::statement::ByDialect;

names_of_questions! {
    "h01" "h02" "h03" "h04" "h05" "h06" "h07" "h08" "h09" "h10" "h11" "h12" "h13" "h14" "h15" "h16" "h17" "h18"
    "h19" "h20" "h21" "h22"
}

/// As many as kinds of transactions are before the functions.
pub const COUNT: u16 = 22;
const _: () = assert!(NAMES.len() == COUNT as usize);

pub static QUESTIONS: QuestionList = QuestionList {
    names: NAMES,
    statements: STATEMENTS,
    shared: include_str!("sql/questions.sql"),
    different: ByDialect { sqlite: ("", ON_SQLITE), postgres: ("", ON_SERVERS), mysql: ("", ON_SERVERS) },
    values,
    orders: ORDERS,
    answers: ANSWERS,
};

const T: AnswerColumn = AnswerColumn::Text;
const D: AnswerColumn = AnswerColumn::Date;
const E: AnswerColumn = AnswerColumn::Exact;
const R: AnswerColumn = AnswerColumn::Rounded;

const STATEMENTS: &[Shaped] = &[
    ("h01", shape(&[T, T, E, E, E, E, R, R, R, E], 1, 4)),
    ("h02", shape(&[E, T, T, E, T, T, T, T], 0, 100)),
    ("h03", shape(&[E, E, D, E], 0, 10)),
    ("h04", shape(&[T, E], 0, 5)),
    ("h05", shape(&[T, E], 0, 5)),
    ("h06", shape(&[E], 1, 1)),
    ("h07", shape(&[T, T, E, E], 0, 4)),
    ("h08", shape(&[E, R], 0, 2)),
    ("h09", shape(&[T, E, E], 0, 175)),
    ("h10", shape(&[E, T, E, E, T, T, T, T], 0, 20)),
    ("h11", shape(&[E, E], 0, ANY)),
    ("h12", shape(&[T, E, E], 0, 2)),
    ("h13", shape(&[E, E], 1, ANY)),
    ("h14", shape(&[R], 1, 1)),
    ("h15", shape(&[E, T, T, T, E], 1, ANY)),
    ("h16", shape(&[T, T, E, E], 1, ANY)),
    ("h17", shape(&[R], 1, 1)),
    ("h18", shape(&[T, E, E, D, E, E], 0, 100)),
    ("h19", shape(&[E], 1, 1)),
    ("h20", shape(&[T, T], 0, ANY)),
    ("h21", shape(&[T, E], 0, 100)),
    ("h22", shape(&[T, E, E], 0, 7)),
];

/// What dialects write differently in the texts.
const ON_SERVERS: DialectWords = &[
    ("{one}", "1"),
    ("{e2}", ""),
    ("{e4}", ""),
    ("{e6}", ""),
    ("{hundredth}", ""),
    ("{year_of}", "EXTRACT(YEAR FROM "),
    ("{as_year}", ")"),
];
const ON_SQLITE: DialectWords = &[
    ("{one}", "100"),
    ("{e2}", " || 'e-2'"),
    ("{e4}", " || 'e-4'"),
    ("{e6}", " || 'e-6'"),
    ("{hundredth}", " / 100.0"),
    ("{year_of}", "CAST(SUBSTR("),
    ("{as_year}", ", 1, 4) AS INTEGER)"),
];

/// Those of the original, for its first streams.
const ORDERS: &[&[u8]] = &[
    &[14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12],
    &[21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4],
    &[6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21],
    &[8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3],
    &[5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20],
    &[21, 15, 4, 6, 7, 16, 19, 18, 14, 22, 11, 13, 3, 1, 2, 5, 8, 20, 12, 17, 10, 9],
    &[10, 3, 15, 13, 6, 8, 9, 7, 4, 11, 22, 18, 12, 1, 5, 16, 2, 14, 19, 20, 17, 21],
    &[18, 8, 20, 21, 2, 4, 22, 17, 1, 11, 9, 19, 3, 13, 5, 7, 10, 16, 6, 14, 15, 12],
    &[19, 1, 15, 17, 5, 8, 9, 12, 14, 7, 4, 3, 20, 16, 6, 22, 10, 13, 2, 21, 18, 11],
    &[8, 13, 2, 20, 17, 3, 6, 21, 18, 11, 19, 10, 15, 4, 22, 1, 7, 12, 9, 14, 5, 16],
    &[6, 15, 18, 17, 12, 1, 7, 2, 22, 13, 21, 10, 14, 9, 3, 16, 20, 19, 11, 4, 8, 5],
    &[15, 14, 18, 17, 10, 20, 16, 11, 1, 8, 4, 22, 5, 12, 3, 9, 21, 2, 13, 6, 19, 7],
    &[1, 7, 16, 17, 18, 22, 12, 6, 8, 9, 11, 4, 2, 5, 20, 21, 13, 10, 19, 3, 14, 15],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_support::questions::Questions;
    use crate::decision_support::scale::DataScale;

    fn questions() -> Questions {
        Questions::read(&QUESTIONS, DataScale::of(0.01).unwrap()).unwrap()
    }

    #[test]
    fn every_stream_asks_every_question_once_in_an_order_of_its_own() {
        questions().assert_orders(65);
    }

    #[test]
    fn every_question_can_be_written_with_every_draw() {
        questions().assert_every_draw_can_be_written(50);
    }

    #[test]
    fn every_value_is_used() {
        questions().assert_all_values_are_used();
    }
}
