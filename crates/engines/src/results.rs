//! The result of a statement: rows of values in reused buffers.

use crate::date::Date;
use crate::decimal::{Decimal, Units};
use crate::error::SessionError;
use crate::value::Param;
use crate::wire::Malformed;

/// The rows of one statement. The session owns and reuses it, so reading a result allocates nothing.
///
/// Rows and columns are counted from 0.
#[derive(Debug, Default)]
pub struct ResultSet {
    statement: &'static str,
    columns: usize,
    rows: usize,
    changed: u64,
    inserted_id: u64,
    cells: Vec<ResultValue>,
    text: String,
}

/// Far more than any workload's statement returns. A limit is needed because many nulls take few bytes on the wire.
const MOST_CELLS: usize = 4 << 20;

#[derive(Debug, Clone, Copy)]
enum ResultValue {
    Null,
    Integer(i64),
    /// The parts of a [`Decimal`]; they take no more space than a text's range.
    Decimal {
        units: Units,
        scale: u8,
    },
    Date(Date),
    /// A range of `ResultSet::text`.
    Text {
        start: usize,
        end: usize,
    },
}

/// Into an existing one, it reuses the buffers.
impl Clone for ResultSet {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { statement, columns, rows, changed, inserted_id, cells, text } = from;
        (self.statement, self.columns, self.rows) = (*statement, *columns, *rows);
        (self.changed, self.inserted_id) = (*changed, *inserted_id);
        self.cells.clone_from(cells);
        self.text.clone_from(text);
    }
}

impl ResultSet {
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows that the statement inserted, updated or deleted; 0 if it only reads. On every engine, a row that an update
    /// matches counts even if its values stay the same.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// The id that the database generated for the first row that the statement inserted. Only MySQL and MariaDB report
    /// it with every answer. On other engines, and on MariaDB too, a statement can ask for it with `RETURNING`.
    pub fn inserted_id(&self) -> Result<i64, SessionError> {
        match i64::try_from(self.inserted_id) {
            Ok(0) => Err(self.unexpected_id("the database reports no row that it numbered")),
            Ok(id) => Ok(id),
            Err(_) => Err(self.unexpected_id("the number of the inserted row does not fit 64 bits with a sign")),
        }
    }

    /// The value of a cell; `None` if there is no such row or column.
    pub fn value(&self, row: usize, column: usize) -> Option<Param<'_>> {
        if column >= self.columns {
            return None;
        }
        Some(match *self.cells.get(row * self.columns + column)? {
            ResultValue::Null => Param::Null,
            ResultValue::Integer(value) => Param::Integer(value),
            ResultValue::Decimal { units, scale } => Param::Decimal(Decimal::of_parts(units, scale)),
            ResultValue::Date(value) => Param::Date(value),
            ResultValue::Text { start, end } => Param::Text(&self.text[start..end]),
        })
    }

    pub fn is_null(&self, row: usize, column: usize) -> bool {
        self.value(row, column) == Some(Param::Null)
    }

    /// Some engines return sums of integers as decimals without a fraction; here they are integers.
    pub fn integer(&self, row: usize, column: usize) -> Result<i64, SessionError> {
        match self.value(row, column) {
            Some(Param::Integer(value)) => Ok(value),
            Some(Param::Decimal(value)) if let (0, Ok(whole)) = (value.scale(), value.units().try_into()) => Ok(whole),
            other => Err(self.unexpected("an integer", row, column, other)),
        }
    }

    /// A decimal, or a text with one, which is how SQLite returns computed values. An integer is refused, because
    /// SQLite's may be units of any scale.
    pub fn decimal(&self, row: usize, column: usize) -> Result<Decimal, SessionError> {
        match self.value(row, column) {
            Some(Param::Decimal(value)) => Ok(value),
            Some(Param::Text(text)) if let Some(value) = Decimal::parse(text) => Ok(value),
            other => Err(self.unexpected("a decimal", row, column, other)),
        }
    }

    /// A date, or a text with one, which is how SQLite returns computed values.
    pub fn date(&self, row: usize, column: usize) -> Result<Date, SessionError> {
        match self.value(row, column) {
            Some(Param::Date(value)) => Ok(value),
            Some(Param::Text(text)) if let Some(value) = Date::parse(text) => Ok(value),
            other => Err(self.unexpected("a date", row, column, other)),
        }
    }

    pub fn text(&self, row: usize, column: usize) -> Result<&str, SessionError> {
        match self.value(row, column) {
            Some(Param::Text(value)) => Ok(value),
            other => Err(self.unexpected("text", row, column, other)),
        }
    }

    /// Clears everything, for the answer to `statement`.
    pub fn start(&mut self, statement: &'static str) {
        self.statement = statement;
        self.changed = 0;
        self.inserted_id = 0;
        self.clear_rows();
    }

    /// Clears the rows and keeps what is known of the statement.
    pub fn clear_rows(&mut self) {
        self.rows = 0;
        self.columns = 0;
        self.cells.clear();
        self.text.clear();
    }

    pub fn set_changed(&mut self, rows: u64) {
        self.changed = rows;
    }

    /// Adds what one part of the statement changed. The id 0 means none: no database generates that id.
    pub(crate) fn add_changed(&mut self, rows: u64, inserted_id: u64) {
        self.changed += rows;
        self.inserted_id = self.inserted_id.max(inserted_id);
    }

    /// Fails if the result is larger than any workload needs.
    pub(crate) fn check_size(&self) -> Result<(), Malformed> {
        if self.cells.len() > MOST_CELLS {
            return Err(Malformed::too_large(format!("more than {MOST_CELLS} values. Select fewer rows or columns")));
        }
        Ok(())
    }

    pub fn push_integer(&mut self, value: i64) {
        self.cells.push(ResultValue::Integer(value));
    }

    pub fn push_decimal(&mut self, value: Decimal) {
        let (units, scale) = value.parts();
        self.cells.push(ResultValue::Decimal { units, scale });
    }

    pub fn push_date(&mut self, value: Date) {
        self.cells.push(ResultValue::Date(value));
    }

    /// A number written in digits. If it has too many digits, it stays a text.
    pub(crate) fn push_digits(&mut self, digits: &str) {
        match Decimal::parse(digits) {
            Some(value) => self.push_decimal(value),
            None => self.push_text(digits),
        }
    }

    pub fn push_text(&mut self, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.cells.push(ResultValue::Text { start, end: self.text.len() });
    }

    pub fn push_null(&mut self) {
        self.cells.push(ResultValue::Null);
    }

    /// Appends a row of another result, from this column on.
    pub(crate) fn push_row(&mut self, from: &Self, row: usize, first_column: usize) {
        for column in first_column..from.columns {
            match from.value(row, column) {
                Some(Param::Integer(value)) => self.push_integer(value),
                Some(Param::Decimal(value)) => self.push_decimal(value),
                Some(Param::Date(value)) => self.push_date(value),
                Some(Param::Text(value)) => self.push_text(value),
                Some(Param::Null) | None => self.push_null(),
            }
        }
        self.end_row();
    }

    /// Ends a row. All rows of a statement must have as many cells as the first.
    pub fn end_row(&mut self) {
        if self.rows == 0 {
            self.columns = self.cells.len();
        }
        self.rows += 1;
    }

    #[cold]
    fn unexpected_id(&self, what: &str) -> SessionError {
        SessionError::Unexpected { statement: self.statement, what: what.to_owned() }
    }

    #[cold]
    fn unexpected(&self, wanted: &str, row: usize, column: usize, found: Option<Param<'_>>) -> SessionError {
        let what = match found {
            Some(value) => format!("row {row}, column {column} should be {wanted}, is {value:?}"),
            None => format!("no row {row}, column {column} in {} rows of {} columns", self.rows, self.columns),
        };
        SessionError::Unexpected { statement: self.statement, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rows() -> ResultSet {
        let mut set = ResultSet::default();
        set.start("stock");
        for (number, word) in [(7, "seven"), (8, "eight")] {
            set.push_integer(number);
            set.push_text(word);
            set.push_null();
            set.end_row();
        }
        set
    }

    #[test]
    fn cells_are_read_by_row_and_column() {
        let set = two_rows();
        assert_eq!((set.rows(), set.columns()), (2, 3));
        assert_eq!(set.integer(1, 0).unwrap(), 8);
        assert_eq!(set.text(0, 1).unwrap(), "seven");
        assert!(set.is_null(1, 2));
        assert!(!set.is_null(2, 2));
    }

    #[test]
    fn a_promise_not_kept_names_the_statement_and_the_cell() {
        let set = two_rows();
        let missing = set.integer(2, 0).unwrap_err().to_string();
        assert_eq!(missing, "unexpected result of stock: no row 2, column 0 in 2 rows of 3 columns");
        let other_type = set.text(0, 0).unwrap_err().to_string();
        assert_eq!(other_type, "unexpected result of stock: row 0, column 0 should be text, is Integer(7)");
        let null = set.integer(0, 2).unwrap_err().to_string();
        assert_eq!(null, "unexpected result of stock: row 0, column 2 should be an integer, is Null");
    }

    #[test]
    fn decimals_and_dates_are_read_as_such_and_from_their_texts() {
        let (price, day) = (Decimal::new(-1250, 2), Date::parse("2026-11-21").unwrap());
        let mut set = ResultSet::default();
        set.start("line");
        set.push_decimal(price);
        set.push_decimal(Decimal::new(i64::MIN.into(), 0));
        set.push_decimal(Decimal::new(i128::from(i64::MAX) + 1, 0));
        set.push_date(day);
        set.push_text("-1250e-2");
        set.push_text("2026-11-21");
        set.push_integer(-1250);
        set.end_row();
        assert_eq!((set.decimal(0, 0).unwrap(), set.decimal(0, 4).unwrap()), (price, price));
        assert_eq!((set.date(0, 3).unwrap(), set.date(0, 5).unwrap()), (day, day));
        assert_eq!((set.value(0, 0), set.value(0, 3)), (Some(Param::Decimal(price)), Some(Param::Date(day))));
        assert_eq!(set.integer(0, 1).unwrap(), i64::MIN);
        let told = |error: SessionError| error.to_string().rsplit_once("column ").unwrap().1.to_owned();
        assert_eq!(told(set.integer(0, 0).unwrap_err()), "0 should be an integer, is Decimal(-12.50)");
        assert_eq!(told(set.integer(0, 2).unwrap_err()), "2 should be an integer, is Decimal(9223372036854775808)");
        assert_eq!(told(set.decimal(0, 6).unwrap_err()), "6 should be a decimal, is Integer(-1250)");
        assert_eq!(told(set.decimal(0, 3).unwrap_err()), "3 should be a decimal, is Date(2026-11-21)");
        assert_eq!(told(set.date(0, 4).unwrap_err()), "4 should be a date, is Text(\"-1250e-2\")");
    }

    #[test]
    fn a_cell_is_no_larger_than_that_of_a_text() {
        assert_eq!(size_of::<ResultValue>(), 3 * size_of::<usize>());
    }

    #[test]
    fn only_a_number_that_was_given_is_an_inserted_id() {
        let mut set = two_rows();
        assert!(set.inserted_id().unwrap_err().to_string().contains("result of stock"));
        set.add_changed(1, 7);
        assert_eq!(set.inserted_id().unwrap(), 7);
        set.add_changed(0, u64::MAX);
        assert!(set.inserted_id().is_err());
        set.start("next");
        assert!(set.inserted_id().is_err());
    }

    #[test]
    fn a_column_beyond_the_last_is_not_the_next_row() {
        assert_eq!(two_rows().value(0, 3), None);
    }

    #[test]
    fn a_new_statement_starts_empty() {
        let mut set = two_rows();
        set.set_changed(2);
        set.start("district");
        assert_eq!((set.rows(), set.columns(), set.changed()), (0, 0, 0));
    }
}
