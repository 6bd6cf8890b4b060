//! Values of statements, and what their transactions may do.

use crate::date::Date;
use crate::decimal::Decimal;

/// A value bound to a statement or returned by one. The column's type decides the variant; only a value that does not
/// fit its variant comes back as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param<'a> {
    Integer(i64),
    Decimal(Decimal),
    Date(Date),
    Text(&'a str),
    Null,
}

/// How a transaction will use the data. Engines that lock per database (SQLite) need to know at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}
