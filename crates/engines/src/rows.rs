//! Rows on their way into a table, without knowing the table.

/// Takes rows cell by cell. The same producer feeds a COPY stream, bound inserts, a checksum or a text file.
pub trait RowSink {
    fn integer(&mut self, value: i64);
    fn text(&mut self, value: &str);
    fn null(&mut self);
    fn end_row(&mut self);
}
