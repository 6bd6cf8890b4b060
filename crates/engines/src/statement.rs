//! Named statements in the words of one product.

/// Whose SQL a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// Index into the list of statements that a session was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementId(pub u16);

/// A statement with `$1`, `$2`, … for its parameters (both products read that form).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub name: &'static str,
    pub sql: String,
}
