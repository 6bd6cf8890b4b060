//! What an answer says, in a form that is the same on every engine: its rows, a checksum of them, and the sum of its numbers.

use super::shapes::{AnswerColumn, AnswerShape, AskedStatement};
use crate::checksum::ChecksumRows;
use engines::rows::RowSink;
use engines::session::{Decimal, Param, ResultSet, SessionError};
use engines::statement::Dialect;

/// Digits after the point of the sums, which no exact number exceeds.
const SUM_SCALE: u8 = 6;
/// Digits after the point that every engine gives of an average or a ratio.
const COMPARED_DIGITS: u8 = 4;
const MONEY_SCALE: u8 = 2;

/// An answer, added up row by row.
#[derive(Debug)]
pub struct QuestionAnswer {
    name: &'static str,
    shape: &'static AnswerShape,
    rows: ChecksumRows,
    /// Of all numbers, in units of ten to the minus six.
    sum: i128,
    rounded: u64,
    /// Whether averages of money count hundredths.
    in_hundredths: bool,
}

/// Figures of a whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerFigures {
    pub rows: u64,
    /// Over all rows in any order.
    pub checksum: u64,
    pub sum: Decimal,
    /// How many averages and ratios are in the sum.
    pub rounded: u64,
}

impl Default for AnswerFigures {
    fn default() -> Self {
        Self { rows: 0, checksum: 0, sum: Decimal::new(0, SUM_SCALE), rounded: 0 }
    }
}

impl AnswerFigures {
    /// Of both answers together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            checksum: self.checksum.wrapping_add(other.checksum),
            sum: Decimal::new(self.sum.units() + other.sum.units(), SUM_SCALE),
            rounded: self.rounded + other.rounded,
        }
    }
}

impl QuestionAnswer {
    /// The answer to a statement.
    pub fn to(asked: &AskedStatement) -> Self {
        let AskedStatement { name, shape, dialect, .. } = asked;
        let in_hundredths = *dialect == Dialect::Sqlite;
        Self { name, shape, rows: ChecksumRows::default(), sum: 0, rounded: 0, in_hundredths }
    }

    pub fn add(&mut self, set: &ResultSet, row: usize) -> Result<(), SessionError> {
        if set.columns() != self.shape.columns.len() {
            return Err(self.unexpected(format!("{} columns instead of {}", set.columns(), self.shape.columns.len())));
        }
        for (column, kind) in self.shape.columns.iter().enumerate() {
            match kind {
                AnswerColumn::Text | AnswerColumn::Date if set.is_null(row, column) => self.rows.null(),
                AnswerColumn::Text => self.rows.text(set.text(row, column)?),
                AnswerColumn::Date => self.rows.date(set.date(row, column)?),
                AnswerColumn::Exact => self.number(exact(set, row, column, 0)?),
                AnswerColumn::Money => self.number(exact(set, row, column, MONEY_SCALE)?),
                AnswerColumn::Rounded => self.average(exact(set, row, column, 0)?),
                AnswerColumn::MoneyAverage => {
                    let average = exact(set, row, column, 0)?;
                    self.average(average.map(|average| if self.in_hundredths { hundredth(average) } else { average }));
                }
            }
        }
        self.rows.end_row();
        Ok(())
    }

    fn average(&mut self, value: Option<Decimal>) {
        self.number(value.map(rounded));
        self.rounded += 1;
    }

    fn number(&mut self, value: Option<Decimal>) {
        let Some(value) = value else { return self.rows.null() };
        self.rows.decimal(value);
        self.sum += value.at_scale(SUM_SCALE).map_or(0, Decimal::units);
    }

    /// Fails if it has fewer or more rows than an answer to the statement can have.
    pub fn figures(&self) -> Result<AnswerFigures, SessionError> {
        let found = self.rows.checksum();
        if !usize::try_from(found.rows).is_ok_and(|rows| self.shape.rows.contains(&rows)) {
            return Err(self.unexpected(format!("{} rows instead of {:?}", found.rows, self.shape.rows)));
        }
        Ok(AnswerFigures {
            rows: found.rows,
            checksum: found.sum,
            sum: Decimal::new(self.sum, SUM_SCALE),
            rounded: self.rounded,
        })
    }

    #[cold]
    fn unexpected(&self, what: String) -> SessionError {
        SessionError::Unexpected { statement: self.name, what }
    }
}

/// A number; the sum over no rows is null. An integer counts units of this scale.
fn exact(set: &ResultSet, row: usize, column: usize, scale: u8) -> Result<Option<Decimal>, SessionError> {
    match set.value(row, column) {
        Some(Param::Null) => Ok(None),
        Some(Param::Integer(value)) => Ok(Some(Decimal::new(value.into(), scale))),
        // SQLite gives a binary number without a fraction as digits alone.
        _ => set.decimal(row, column).map(Some),
    }
}

fn hundredth(value: Decimal) -> Decimal {
    Decimal::new(value.units(), value.scale() + MONEY_SCALE)
}

/// To as many digits as are compared. A half goes away from zero.
fn rounded(value: Decimal) -> Decimal {
    let Some(surplus) = value.scale().checked_sub(COMPARED_DIGITS).filter(|surplus| *surplus > 0) else { return value };
    let unit = 10_i128.checked_pow(surplus.into()).unwrap_or(i128::MAX);
    let half = unit / 2 * value.units().signum();
    Decimal::new((value.units() + half) / unit, COMPARED_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::super::shapes::shape;
    use super::*;

    static MARKET: AnswerShape = shape(&[AnswerColumn::Exact, AnswerColumn::Rounded], 0, 2);
    static PROFIT: AnswerShape = shape(&[AnswerColumn::Text, AnswerColumn::Exact, AnswerColumn::Exact], 0, 175);

    #[test]
    fn averages_are_compared_in_four_digits() {
        let of = |text: &str| rounded(Decimal::parse(text).unwrap()).to_string();
        assert_eq!(
            ["2.00004999", "2.00005", "-2.00005", "7", "0.123456789012345678"].map(of),
            ["2.0000", "2.0001", "-2.0001", "7", "0.1235"]
        );
    }

    fn asked(name: &'static str, shape: &'static AnswerShape, dialect: Dialect) -> AskedStatement {
        AskedStatement { name, text: String::new(), shape, dialect }
    }

    fn market(ratio: &str) -> ResultSet {
        let mut set = ResultSet::default();
        set.start("h08");
        for year in [1995, 1996] {
            set.push_integer(year);
            set.push_text(ratio);
            set.end_row();
        }
        set
    }

    #[test]
    fn an_answer_is_the_same_however_many_digits_it_has() {
        let figures = |ratio: &str| {
            let (set, mut answer) = (market(ratio), QuestionAnswer::to(&asked("h08", &MARKET, Dialect::Postgres)));
            (0..2).for_each(|row| answer.add(&set, row).unwrap());
            answer.figures().unwrap()
        };
        assert_eq!(figures("0.03443589"), figures("0.034435891234567"));
        assert_eq!((figures("0.0344").sum.to_string(), figures("0.0344").rows), ("3991.068800".to_owned(), 2));
        assert_ne!(figures("0.0344").checksum, figures("0.0345").checksum);
    }

    #[test]
    fn money_is_the_same_in_hundredths() {
        static MONEY: AnswerShape = shape(&[AnswerColumn::Money, AnswerColumn::MoneyAverage], 1, 1);
        let figures = |dialect, sum: Param<'_>, average: &str| {
            let mut set = ResultSet::default();
            set.start("q01");
            match sum {
                Param::Integer(sum) => set.push_integer(sum),
                _ => set.push_text("12.50"),
            }
            set.push_text(average);
            set.end_row();
            let mut answer = QuestionAnswer::to(&asked("q01", &MONEY, dialect));
            answer.add(&set, 0).unwrap();
            answer.figures().unwrap()
        };
        let expected = figures(Dialect::Postgres, Param::Null, "3.3333333333");
        assert_eq!(figures(Dialect::Sqlite, Param::Integer(1_250), "333.33333333"), expected);
        assert_eq!((expected.sum.to_string(), expected.rounded), ("15.833300".to_owned(), 1));
    }

    #[test]
    fn an_answer_of_another_shape_is_an_error() {
        let set = market("0.5");
        assert!(
            QuestionAnswer::to(&asked("h09", &PROFIT, Dialect::Postgres))
                .add(&set, 0)
                .unwrap_err()
                .to_string()
                .contains("2 columns instead of 3")
        );
        let mut answer = QuestionAnswer::to(&asked("h08", &MARKET, Dialect::Postgres));
        (0..2).for_each(|row| answer.add(&set, row).unwrap());
        answer.add(&set, 0).unwrap();
        assert!(answer.figures().unwrap_err().to_string().contains("3 rows instead of 0..=2"));
    }
}
