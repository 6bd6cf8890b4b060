//! Parameters of questions: those that answers are validated with, and those that a stream draws.

use crate::random::RandomStream;
use engines::session::{Date, Decimal, Param};
use std::ops::RangeInclusive;

/// A value in a question's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterValue {
    Integer(i64),
    Decimal(Decimal),
    Date(Date),
    Text(String),
}

impl ParameterValue {
    pub fn as_param(&self) -> Param<'_> {
        match self {
            Self::Integer(value) => Param::Integer(*value),
            Self::Decimal(value) => Param::Decimal(*value),
            Self::Date(value) => Param::Date(*value),
            Self::Text(value) => Param::Text(value),
        }
    }
}

/// Values by their names in the question's text.
pub type ParameterValues = Vec<(&'static str, ParameterValue)>;

/// Where the parameters of a question come from.
pub enum ParameterChoice<'a> {
    /// Those for which the answers are known.
    Validation,
    Drawn(&'a mut RandomStream),
}

impl ParameterChoice<'_> {
    pub fn number(&mut self, domain: RangeInclusive<i64>, validation: i64) -> i64 {
        match self {
            Self::Validation => validation,
            Self::Drawn(stream) => stream.uniform(*domain.start(), *domain.end()),
        }
    }

    pub fn word(&mut self, domain: &[&'static str], validation: &'static str) -> &'static str {
        match self {
            Self::Validation => validation,
            Self::Drawn(stream) => domain[place(stream, domain.len())],
        }
    }

    /// Different ones of a domain.
    pub fn several<T: Clone, const COUNT: usize>(&mut self, domain: Vec<T>, validation: [T; COUNT]) -> [T; COUNT] {
        match self {
            Self::Validation => validation,
            Self::Drawn(stream) => {
                let mut left = domain;
                std::array::from_fn(|_| left.swap_remove(place(stream, left.len())))
            }
        }
    }
}

fn place(stream: &mut RandomStream, count: usize) -> usize {
    usize::try_from(stream.below(count as u64)).unwrap_or(0)
}

pub fn text(text: impl Into<String>) -> ParameterValue {
    ParameterValue::Text(text.into())
}

pub fn hundredths(units: i64) -> ParameterValue {
    ParameterValue::Decimal(Decimal::new(units.into(), 2))
}
