//! The statements of an order, by name. A session prepares those that its settings need.

use super::settings::DvdStoreSettings;
use crate::sql::{self, SqlError};
use crate::way::Transactions;
use engines::statement::{ByDialect, Dialect, Statement, StatementId};

settings::names! {
    /// A statement.
    #[repr(u16)]
    pub enum DvdStoreStatement {
        InsertCustomer => "insert-customer",
        BrowseCategory => "browse-category",
        BrowseActor => "browse-actor",
        BrowseTitle => "browse-title",
        Login => "login",
        History => "history",
        Prices => "prices",
        InsertOrder => "insert-order",
        TakeStock => "take-stock",
        InsertLine => "insert-line",
        InsertHistory => "insert-history",
        InsertLineHere => "insert-line-here",
        InsertHistoryHere => "insert-history-here",
        CallLogin => "call-login",
        CallPurchase => "call-purchase",
        BecomeMember => "become-member",
        ReviewsByActor => "reviews-by-actor",
        ReviewsByTitle => "reviews-by-title",
        ProductReviews => "product-reviews",
        ProductReviewsByStars => "product-reviews-by-stars",
        ProductReviewsByDate => "product-reviews-by-date",
        InsertReview => "insert-review",
        InsertRating => "insert-rating",
    }
}

/// Statements that are needed together: the first and the last of [`DvdStoreStatement`], and files for all dialects and each.
struct StatementGroup {
    first: DvdStoreStatement,
    last: DvdStoreStatement,
    shared: ByDialect<&'static str>,
    own: ByDialect<&'static str>,
}

/// A group whose statements all dialects share, but for those in files of PostgreSQL and of MariaDB.
macro_rules! group {
    ($first:ident to $last:ident in $path:literal) => {{
        let shared = include_str!(concat!($path, ".sql"));
        StatementGroup {
            first: DvdStoreStatement::$first,
            last: DvdStoreStatement::$last,
            shared: ByDialect { sqlite: shared, postgres: shared, mysql: shared },
            own: ByDialect {
                sqlite: "",
                postgres: include_str!(concat!($path, ".postgres.sql")),
                mysql: include_str!(concat!($path, ".mysql.sql")),
            },
        }
    }};
}

const VISIT: StatementGroup = group!(InsertCustomer to BrowseTitle in "sql/visit");
const CLIENT: StatementGroup = group!(Login to InsertHistoryHere in "sql/client");
const COMMUNITY: StatementGroup = group!(BecomeMember to InsertRating in "sql/community");

/// SQLite has no procedures; settings that ask it for them are refused before anything is called.
const CALLS: StatementGroup = StatementGroup {
    first: DvdStoreStatement::CallLogin,
    last: DvdStoreStatement::CallPurchase,
    shared: ByDialect {
        sqlite: include_str!("sql/calls.postgres.sql"),
        postgres: include_str!("sql/calls.postgres.sql"),
        mysql: include_str!("sql/calls.mysql.sql"),
    },
    own: ByDialect { sqlite: "", postgres: "", mysql: "" },
};

/// The statements that some settings need.
#[derive(Debug)]
pub struct DvdStoreStatements {
    list: ByDialect<Vec<Statement>>,
    /// Their names, by their ids.
    pub names: Vec<&'static str>,
    /// Ids by place in [`DvdStoreStatement`]. Statements that the settings do not need have one that no session knows.
    ids: [StatementId; DvdStoreStatement::NAMES.len()],
}

impl DvdStoreStatements {
    pub fn read(settings: &DvdStoreSettings) -> Result<Self, SqlError> {
        let way = match settings.transactions {
            Transactions::Client => CLIENT,
            Transactions::Procedures => CALLS,
        };
        let mut groups = vec![VISIT, way];
        groups.extend(settings.community().is_some().then_some(COMMUNITY));
        let of = |dialect: Dialect| {
            let mut list = Vec::new();
            for group in &groups {
                let names = &DvdStoreStatement::NAMES[group.first as usize..=group.last as usize];
                list.extend(sql::statements(names, group.shared.of(dialect), group.own.of(dialect))?);
            }
            Ok(list)
        };
        let list =
            ByDialect { sqlite: of(Dialect::Sqlite)?, postgres: of(Dialect::Postgres)?, mysql: of(Dialect::Mysql)? };
        let names: Vec<&str> = list.sqlite.iter().map(|statement| statement.name).collect();
        let place = |name: &&str| names.iter().position(|known| known == name);
        let mut ids = [StatementId(u16::MAX); DvdStoreStatement::NAMES.len()];
        for (id, name) in ids.iter_mut().zip(DvdStoreStatement::NAMES) {
            *id = StatementId(place(name).and_then(|place| u16::try_from(place).ok()).unwrap_or(u16::MAX));
        }
        Ok(Self { list, names, ids })
    }

    pub fn of(&self, dialect: Dialect) -> &[Statement] {
        self.list.of(dialect)
    }

    pub fn id(&self, sql: DvdStoreStatement) -> StatementId {
        self.ids[sql as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::DvdStoreVersion;
    use super::super::size::DvdStoreSize;
    use super::*;

    #[test]
    fn files_and_names_belong_together() {
        let size = DvdStoreSize::parse("1MB").unwrap();
        for version in [DvdStoreVersion::Two, DvdStoreVersion::Three] {
            for transactions in [Transactions::Client, Transactions::Procedures] {
                let statements = DvdStoreStatements::read(&DvdStoreSettings {
                    transactions,
                    ..DvdStoreSettings::plain(size, version)
                })
                .unwrap();
                for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
                    assert_eq!(statements.of(dialect).len(), statements.names.len());
                }
                let title =
                    &statements.of(Dialect::Mysql)[usize::from(statements.id(DvdStoreStatement::BrowseTitle).0)];
                assert!(title.sql.contains("MATCH (title)"));
                let is_known = |sql| statements.id(sql).0 < u16::MAX;
                assert_eq!(is_known(DvdStoreStatement::CallPurchase), transactions == Transactions::Procedures);
                assert_eq!(is_known(DvdStoreStatement::TakeStock), transactions == Transactions::Client);
                assert_eq!(is_known(DvdStoreStatement::InsertRating), version == DvdStoreVersion::Three);
            }
        }
    }
}
