//! What a statement returned: rows of integers, texts and nulls in buffers that are used again.

use crate::session::{Param, SessionError};
use crate::wire::Malformed;

/// The rows of one statement; owned by the session and reused, so that reading it allocates nothing.
///
/// Rows and columns are counted from 0.
#[derive(Debug, Default)]
pub struct ResultSet {
    statement: &'static str,
    columns: usize,
    rows: usize,
    changed: u64,
    cells: Vec<Cell>,
    text: String,
}

/// Far more than any statement of a workload returns. A server can tell of many nulls in few bytes.
const MOST_CELLS: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Null,
    Integer(i64),
    /// A range of `ResultSet::text`.
    Text {
        start: usize,
        end: usize,
    },
}

impl ResultSet {
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows that the statement inserted, updated or deleted; 0 for one that only reads. A row that an update finds counts
    /// even if it already was as wished, on every engine.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// The value of a cell, or `None` if there is no such row or column.
    pub fn value(&self, row: usize, column: usize) -> Option<Param<'_>> {
        if column >= self.columns {
            return None;
        }
        Some(match *self.cells.get(row * self.columns + column)? {
            Cell::Null => Param::Null,
            Cell::Integer(value) => Param::Integer(value),
            Cell::Text { start, end } => Param::Text(&self.text[start..end]),
        })
    }

    pub fn is_null(&self, row: usize, column: usize) -> bool {
        self.value(row, column) == Some(Param::Null)
    }

    pub fn integer(&self, row: usize, column: usize) -> Result<i64, SessionError> {
        match self.value(row, column) {
            Some(Param::Integer(value)) => Ok(value),
            other => Err(self.unexpected("an integer", row, column, other)),
        }
    }

    pub fn text(&self, row: usize, column: usize) -> Result<&str, SessionError> {
        match self.value(row, column) {
            Some(Param::Text(value)) => Ok(value),
            other => Err(self.unexpected("text", row, column, other)),
        }
    }

    /// Forgets everything, for the answer to `statement`.
    pub fn start(&mut self, statement: &'static str) {
        self.statement = statement;
        self.changed = 0;
        self.clear_rows();
    }

    /// Forgets the rows and keeps what is known of the statement.
    pub fn clear_rows(&mut self) {
        self.rows = 0;
        self.columns = 0;
        self.cells.clear();
        self.text.clear();
    }

    pub fn set_changed(&mut self, rows: u64) {
        self.changed = rows;
    }

    /// Whether it holds more than anybody asked for.
    pub(crate) fn check_size(&self) -> Result<(), Malformed> {
        if self.cells.len() > MOST_CELLS {
            return Err(Malformed::new(format!("the server's answer is longer than {MOST_CELLS} values")));
        }
        Ok(())
    }

    pub fn push_integer(&mut self, value: i64) {
        self.cells.push(Cell::Integer(value));
    }

    pub fn push_text(&mut self, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.cells.push(Cell::Text { start, end: self.text.len() });
    }

    pub fn push_null(&mut self) {
        self.cells.push(Cell::Null);
    }

    /// Ends a row; all rows of a statement have as many cells as the first.
    pub fn end_row(&mut self) {
        if self.rows == 0 {
            self.columns = self.cells.len();
        }
        self.rows += 1;
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
