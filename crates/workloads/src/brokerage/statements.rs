//! The statements of the transactions, by name.

use crate::sql::{self, SqlError};
use engines::statement::{ByDialect, Statement};

const SHARED: &str = include_str!("sql/transactions.sql");
/// The statements that differ in a dialect.
const OWN: ByDialect<&str> = sql::files!("sql/transactions");

sql::statement_names! {
    /// Position in the list of prepared statements.
    pub enum BrokerageStatement {
        BrokerVolume => "broker-volume",
        CustomerOfTaxId => "customer-of-tax-id",
        Customer => "customer",
        Accounts => "accounts",
        AccountHistory => "account-history",
        ChangeOfWatchList => "change-of-watch-list",
        ChangeOfIndustry => "change-of-industry",
        ChangeOfAccount => "change-of-account",
        SecurityDetail => "security-detail",
        Competitors => "competitors",
        Financials => "financials",
        DailyMarket => "daily-market",
        LastTrade => "last-trade",
        News => "news",
        WholeNews => "whole-news",
        Trade => "trade",
        TradesOfAccount => "trades-of-account",
        TradesOfSecurity => "trades-of-security",
        TradesWithNames => "trades-with-names",
        FirstTrade => "first-trade",
        HoldingHistories => "holding-histories",
        Settlement => "settlement",
        Cash => "cash",
        History => "history",
        ExecutorToChange => "executor-to-change",
        SetExecutor => "set-executor",
        CashTypeToChange => "cash-type-to-change",
        SetCashType => "set-cash-type",
        CashNameToChange => "cash-name-to-change",
        SetCashName => "set-cash-name",
        LatestTrades => "latest-trades",
        NamesOfAccount => "names-of-account",
        Account => "account",
        Owner => "owner",
        Broker => "broker",
        Permission => "permission",
        CompanyOfName => "company-of-name",
        SecurityOfCompany => "security-of-company",
        Security => "security",
        Company => "company",
        Price => "price",
        TradeType => "trade-type",
        QuantityHeld => "quantity-held",
        LotsOldestFirst => "lots-oldest-first",
        LotsNewestFirst => "lots-newest-first",
        TaxRate => "tax-rate",
        CommissionRate => "commission-rate",
        Charge => "charge",
        Balance => "balance",
        Assets => "assets",
        InsertTrade => "insert-trade",
        InsertRequest => "insert-request",
        InsertHistory => "insert-history",
        OrderedTrade => "ordered-trade",
        LockAccount => "lock-account",
        QuantityToChange => "quantity-to-change",
        LotsToChangeOldestFirst => "lots-to-change-oldest-first",
        LotsToChangeNewestFirst => "lots-to-change-newest-first",
        InsertSummary => "insert-summary",
        UpdateSummary => "update-summary",
        DeleteSummary => "delete-summary",
        InsertLot => "insert-lot",
        UpdateLot => "update-lot",
        DeleteLot => "delete-lot",
        InsertHoldingHistory => "insert-holding-history",
        SetTax => "set-tax",
        SecurityTraded => "security-traded",
        Tier => "tier",
        CompleteTrade => "complete-trade",
        PayBroker => "pay-broker",
        InsertSettlement => "insert-settlement",
        ChangeBalance => "change-balance",
        InsertCash => "insert-cash",
        SetPrice => "set-price",
        TriggeredRequests => "triggered-requests",
        SetStatus => "set-status",
        DeleteRequest => "delete-request",
        RequestsLeft => "requests-left",
        TradesLeft => "trades-left",
        HighestPermission => "highest-permission",
        SetPermission => "set-permission",
        AddressOfCustomer => "address-of-customer",
        AddressOfCompany => "address-of-company",
        SetAddress => "set-address",
        Rating => "rating",
        SetRating => "set-rating",
        Mail => "mail",
        SetMail => "set-mail",
        CountryTax => "country-tax",
        SetCountryTax => "set-country-tax",
        ChangeVolumes => "change-volumes",
        Exchanges => "exchanges",
        SetExchange => "set-exchange",
        Quarters => "quarters",
        ShiftQuarters => "shift-quarters",
        DateNewsLater => "date-news-later",
        ListSecurityLater => "list-security-later",
        TaxName => "tax-name",
        SetTaxName => "set-tax-name",
        Watched => "watched",
        NextUnwatched => "next-unwatched",
        SetWatched => "set-watched",
    }
}

/// The statements of every dialect.
pub fn read() -> Result<ByDialect<Vec<Statement>>, SqlError> {
    OWN.try_map(|own| sql::statements(BrokerageStatement::NAMES, SHARED, own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engines::statement::Dialect;

    #[test]
    fn the_files_and_the_names_belong_together() {
        let statements = read().unwrap();
        let named = |dialect, sql: BrokerageStatement| statements.of(dialect)[sql as usize].sql.as_str();
        for dialect in [Dialect::Postgres, Dialect::Mysql] {
            assert!(named(dialect, BrokerageStatement::LockAccount).contains("UPDATE"));
        }
        assert!(named(Dialect::Sqlite, BrokerageStatement::LockAccount).ends_with("ca_id = $1"));
        assert!(named(Dialect::Sqlite, BrokerageStatement::SetWatched).starts_with("UPDATE watch_item"));
        assert!(named(Dialect::Mysql, BrokerageStatement::ChangeVolumes).contains("DAYOFMONTH"));
    }
}
