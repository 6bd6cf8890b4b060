//! What the answers to questions 51 to 99 look like.

use super::super::Shaped;
use crate::decision_support::shapes::{ANY, Column, shape};

const T: Column = Column::Text;
const D: Column = Column::Date;
const E: Column = Column::Exact;
const R: Column = Column::Rounded;
const M: Column = Column::Money;
const A: Column = Column::MoneyAverage;

pub const STATEMENTS: &[Shaped] = &[
    ("q51", shape(&[E, D, M, M, M, M], 0, 100)),
    ("q52", shape(&[E, E, T, M], 0, 100)),
    ("q53", shape(&[E, M, A], 0, 100)),
    ("q54", shape(&[E, E, E], 0, 100)),
    ("q55", shape(&[E, T, M], 0, 100)),
    ("q56", shape(&[T, M], 0, 100)),
    ("q57", shape(&[T, T, T, E, E, A, M, M, M], 0, 100)),
    ("q58", shape(&[T, M, R, M, R, M, R, A], 0, 100)),
    ("q59", shape(&[T, T, E, R, R, R, R, R, R, R], 0, 100)),
    ("q60", shape(&[T, M], 0, 100)),
    ("q61", shape(&[M, M, R], 1, 1)),
    ("q62", shape(&[T, T, T, E, E, E, E, E], 0, 100)),
    ("q63", shape(&[E, M, A], 0, 100)),
    ("q64", shape(&[T, T, T, T, T, T, T, T, T, T, T, E, E, M, M, M, M, M, M, E, E], 0, ANY)),
    ("q65", shape(&[T, T, M, M, M, T], 0, 100)),
    (
        "q66",
        shape(
            &[
                T, E, T, T, T, T, T, E, M, M, M, M, M, M, M, M, M, M, M, M, A, A, A, A, A, A, A, A, A, A, A, A, M, M,
                M, M, M, M, M, M, M, M, M, M,
            ],
            0,
            100,
        ),
    ),
    ("q67", shape(&[T, T, T, T, E, E, E, T, M, E], 0, 100)),
    ("q68", shape(&[T, T, T, T, E, M, M, M], 0, 100)),
    ("q69", shape(&[T, T, T, E, E, E, T, E], 0, 100)),
    ("q70", shape(&[M, T, T, E, E], 0, 100)),
    ("q71", shape(&[E, T, E, E, M], 0, ANY)),
    ("q72", shape(&[T, T, E, E, E, E], 0, 100)),
    ("q73", shape(&[T, T, T, T, E, E], 0, ANY)),
    ("q74", shape(&[T, T, T], 0, 100)),
    ("q75", shape(&[E, E, E, E, E, E, E, E, E, M], 0, 100)),
    ("q76", shape(&[T, T, E, E, T, E, M], 0, 100)),
    ("q77", shape(&[T, E, M, M, M], 0, 100)),
    ("q78", shape(&[E, E, E, R, E, M, M, E, M, M], 0, 100)),
    ("q79", shape(&[T, T, T, E, M, M], 0, 100)),
    ("q80", shape(&[T, T, M, M, M], 0, 100)),
    ("q81", shape(&[T, T, T, T, T, T, T, T, T, T, T, T, T, M, T, M], 0, 100)),
    ("q82", shape(&[T, T, M], 0, 100)),
    ("q83", shape(&[T, E, R, E, R, E, R, R], 0, 100)),
    ("q84", shape(&[T, T], 0, 100)),
    ("q85", shape(&[T, R, A, A], 0, 100)),
    ("q86", shape(&[M, T, T, E, E], 0, 100)),
    ("q87", shape(&[E], 1, 1)),
    ("q88", shape(&[E, E, E, E, E, E, E, E], 1, 1)),
    ("q89", shape(&[T, T, T, T, T, E, M, A], 0, 100)),
    ("q90", shape(&[R], 1, 1)),
    ("q91", shape(&[T, T, T, M], 0, ANY)),
    ("q92", shape(&[M], 1, 1)),
    ("q93", shape(&[E, M], 0, 100)),
    ("q94", shape(&[E, M, M], 1, 1)),
    ("q95", shape(&[E, M, M], 1, 1)),
    ("q96", shape(&[E], 1, 1)),
    ("q97", shape(&[E, E, E], 1, 1)),
    ("q98", shape(&[T, T, T, T, M, M, R], 0, ANY)),
    ("q99", shape(&[T, T, T, E, E, E, E, E], 0, 100)),
];
