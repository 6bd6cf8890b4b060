//! The 99 questions: their statements, and their parameters.
//!
//! Four questions have two statements. Both have the values of the question that they name.

mod draws;
mod first_half;
mod golden;
mod second_half;
mod shapes;

use crate::decision_support::questions::{QuestionList, names_of_questions};
use crate::decision_support::scale::DataScale;
use crate::decision_support::texts::DialectWords;
use crate::decision_support::values::{ParameterChoice, ParameterValues};
use engines::statement::ByDialect;

pub use shapes::STATEMENTS;

/// Makes everything that has the names of the questions in it: also the texts, each from a file of its question.
macro_rules! questions {
    ($($name:literal)+) => {
        names_of_questions! { $($name)+ }

        const SHARED: &str = concat!($(include_str!(concat!("../sql/questions/", $name, ".sql"))),+);
    };
}

questions! {
    "q01" "q02" "q03" "q04" "q05" "q06" "q07" "q08" "q09" "q10" "q11" "q12" "q13" "q14" "q15" "q16" "q17" "q18"
    "q19" "q20" "q21" "q22" "q23" "q24" "q25" "q26" "q27" "q28" "q29" "q30" "q31" "q32" "q33" "q34" "q35" "q36"
    "q37" "q38" "q39" "q40" "q41" "q42" "q43" "q44" "q45" "q46" "q47" "q48" "q49" "q50" "q51" "q52" "q53" "q54"
    "q55" "q56" "q57" "q58" "q59" "q60" "q61" "q62" "q63" "q64" "q65" "q66" "q67" "q68" "q69" "q70" "q71" "q72"
    "q73" "q74" "q75" "q76" "q77" "q78" "q79" "q80" "q81" "q82" "q83" "q84" "q85" "q86" "q87" "q88" "q89" "q90"
    "q91" "q92" "q93" "q94" "q95" "q96" "q97" "q98" "q99"
}

/// As many as kinds of transactions are before the functions.
pub const COUNT: u16 = 99;
const _: () = assert!(NAMES.len() == COUNT as usize);

pub static QUESTIONS: QuestionList = QuestionList {
    names: NAMES,
    statements: STATEMENTS,
    shared: SHARED,
    different: ByDialect {
        sqlite: (include_str!("../sql/questions/q67.sqlite.sql"), ON_SQLITE),
        postgres: ("", ON_POSTGRES),
        mysql: ("", ON_MYSQL),
    },
    values,
    orders: &[POWER],
    answers: golden::ANSWERS,
};

/// What dialects write differently. SQLite stores money in whole hundredths, so it needs 1.00 and what follows a sum of products of
/// two amounts. Servers group by several columns and by the first of them, down to none, each in its own way. MariaDB joins in the
/// order of the text where its own choice may take a hundred times as long.
const ON_POSTGRES: DialectWords =
    &[("{one}", "1"), ("{e4}", ""), ("{rollup_of}", "ROLLUP ("), ("{in_levels}", ")"), ("{in_order}", "")];
const ON_MYSQL: DialectWords = &[
    ("{one}", "1"),
    ("{e4}", ""),
    ("{rollup_of}", ""),
    ("{in_levels}", " WITH ROLLUP"),
    ("{in_order}", "STRAIGHT_JOIN "),
];
const ON_SQLITE: DialectWords = &[("{one}", "100"), ("{e4}", " || 'e-4'"), ("{in_order}", "")];

/// That of the original for the power phase. In its other orders, a question with a cycle of few others, among them the
/// heaviest, meets itself in several streams at the same place.
const POWER: &[u8] = &[
    96, 7, 75, 44, 39, 80, 32, 19, 25, 78, 86, 1, 91, 21, 43, 27, 94, 45, 58, 64, 36, 33, 46, 62, 16, 10, 63, 69, 60,
    59, 37, 98, 85, 70, 67, 28, 81, 97, 66, 90, 17, 47, 95, 92, 3, 51, 35, 49, 9, 31, 11, 93, 29, 38, 22, 89, 15, 6,
    52, 50, 42, 41, 8, 12, 20, 88, 82, 23, 14, 57, 65, 71, 34, 48, 30, 74, 87, 77, 73, 84, 54, 55, 56, 2, 26, 40, 72,
    53, 79, 18, 13, 24, 4, 99, 68, 83, 61, 5, 76,
];

/// The parameters of a question, which is counted from 1.
fn values(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let values = if question <= first_half::LAST { first_half::values } else { second_half::values };
    values(question, scale, choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_support::questions::Questions;

    fn questions() -> Questions {
        Questions::read(&QUESTIONS, DataScale::of(0.01).unwrap()).unwrap()
    }

    #[test]
    fn every_stream_asks_every_question_once_in_an_order_of_its_own() {
        questions().assert_orders(41);
    }

    #[test]
    fn every_question_can_be_written_with_every_draw() {
        questions().assert_every_draw_can_be_written(20);
    }

    #[test]
    fn every_value_is_used() {
        questions().assert_all_values_are_used();
    }
}
