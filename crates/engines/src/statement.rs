//! Named statements in the SQL of one product.

settings::names! {
    /// The product whose SQL a text is in.
    pub enum Dialect {
        Sqlite => "sqlite",
        Postgres => "postgres",
        /// MariaDB and MySQL.
        Mysql => "mysql",
    }
}

/// One value for each dialect; the compiler refuses a missing one.
#[derive(Debug, Clone, Copy)]
pub struct ByDialect<T> {
    pub sqlite: T,
    pub postgres: T,
    pub mysql: T,
}

impl<T> ByDialect<T> {
    pub const fn of(&self, dialect: Dialect) -> &T {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
            Dialect::Mysql => &self.mysql,
        }
    }

    pub fn try_map<U, E>(self, make: impl Fn(T) -> Result<U, E>) -> Result<ByDialect<U>, E> {
        let Self { sqlite, postgres, mysql } = self;
        Ok(ByDialect { sqlite: make(sqlite)?, postgres: make(postgres)?, mysql: make(mysql)? })
    }
}

/// Index into the list of statements that a session was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementId(pub u16);

/// A statement with `$1`, `$2`, … for its parameters. MariaDB gets `?` in their place. Where others return the rows
/// that they change, MariaDB may get two statements in one text, separated by a semicolon. The second is executed only
/// if the first found or changed a row. For MariaDB a last one may read the rows of several requests, with a list of values
/// such as `IN ($1, ...)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub name: &'static str,
    pub sql: String,
}
