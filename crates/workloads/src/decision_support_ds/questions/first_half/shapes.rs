//! What the answers to questions 1 to 50 look like.

use super::super::Shaped;
use crate::decision_support::shapes::{ANY, Column, shape};

const T: Column = Column::Text;
const E: Column = Column::Exact;
const R: Column = Column::Rounded;
const M: Column = Column::Money;
const A: Column = Column::MoneyAverage;

pub const STATEMENTS: &[Shaped] = &[
    ("q01", shape(&[T], 0, 100)),
    ("q02", shape(&[E, R, R, R, R, R, R, R], 0, ANY)),
    ("q03", shape(&[E, E, T, M], 0, 100)),
    ("q04", shape(&[T, T, T, T], 0, 100)),
    ("q05", shape(&[T, T, M, M, M], 0, 100)),
    ("q06", shape(&[T, E], 0, 100)),
    ("q07", shape(&[T, R, A, A, A], 0, 100)),
    ("q08", shape(&[T, M], 0, 100)),
    ("q09", shape(&[A, A, A, A, A], 1, 1)),
    ("q10", shape(&[T, T, T, E, E, E, T, E, E, E, E, E, E, E], 0, 100)),
    ("q11", shape(&[T, T, T, T], 0, 100)),
    ("q12", shape(&[T, T, T, T, M, M, R], 0, 100)),
    ("q13", shape(&[R, A, A, M], 1, 1)),
    ("q14a", shape(&[T, E, E, E, M, E], 0, 100)),
    ("q14b", shape(&[T, E, E, E, M, E, T, E, E, E, M, E], 0, 100)),
    ("q15", shape(&[T, M], 0, 100)),
    ("q16", shape(&[E, M, M], 1, 1)),
    ("q17", shape(&[T, T, T, E, R, R, R, E, R, R, R, E, R, R, R], 0, 100)),
    ("q18", shape(&[T, T, T, T, R, A, A, A, A, R, R], 0, 100)),
    ("q19", shape(&[E, T, E, T, M], 0, 100)),
    ("q20", shape(&[T, T, T, T, M, M, R], 0, 100)),
    ("q21", shape(&[T, T, E, E], 0, 100)),
    ("q22", shape(&[T, T, T, T, R], 0, 100)),
    ("q23a", shape(&[M], 1, 1)),
    ("q23b", shape(&[T, T, M], 0, 100)),
    ("q24a", shape(&[T, T, T, M], 0, ANY)),
    ("q24b", shape(&[T, T, T, M], 0, ANY)),
    ("q25", shape(&[T, T, T, T, A, A, A], 0, 100)),
    ("q26", shape(&[T, R, A, A, A], 0, 100)),
    ("q27", shape(&[T, T, E, R, A, A, A], 0, 100)),
    ("q28", shape(&[A, E, E, A, E, E, A, E, E, A, E, E, A, E, E, A, E, E], 1, 1)),
    ("q29", shape(&[T, T, T, T, R, R, R], 0, 100)),
    ("q30", shape(&[T, T, T, T, T, E, E, E, T, T, T, E, M], 0, 100)),
    ("q31", shape(&[T, E, R, R, R, R], 0, ANY)),
    ("q32", shape(&[M], 1, 1)),
    ("q33", shape(&[E, M], 0, 100)),
    ("q34", shape(&[T, T, T, T, E, E], 0, ANY)),
    ("q35", shape(&[T, T, T, E, E, R, R, R, E, E, R, R, R, E, E, R, R, R], 0, 100)),
    ("q36", shape(&[R, T, T, E, E], 0, 100)),
    ("q37", shape(&[T, T, M], 0, 100)),
    ("q38", shape(&[E], 1, 1)),
    ("q39a", shape(&[E, E, E, R, R, E, E, E, R, R], 0, ANY)),
    ("q39b", shape(&[E, E, E, R, R, E, E, E, R, R], 0, ANY)),
    ("q40", shape(&[T, T, M, M], 0, 100)),
    ("q41", shape(&[T], 0, 100)),
    ("q42", shape(&[E, E, T, M], 0, 100)),
    ("q43", shape(&[T, T, M, M, M, M, M, M, M], 0, 100)),
    ("q44", shape(&[E, T, T], 0, 100)),
    ("q45", shape(&[T, T, M], 0, 100)),
    ("q46", shape(&[T, T, T, T, E, M, M], 0, 100)),
    ("q47", shape(&[T, T, T, T, E, E, A, M, M, M], 0, 100)),
    ("q48", shape(&[E], 1, 1)),
    ("q49", shape(&[T, E, R, E, E], 0, 100)),
    ("q50", shape(&[T, E, T, T, T, T, T, T, T, T, E, E, E, E, E], 0, 100)),
];
