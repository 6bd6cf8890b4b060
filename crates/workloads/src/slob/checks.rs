//! Conditions on the data. After loading, they also cover where the rows lie, from the database's own catalogue.

use super::finding;
use super::rows::rows_of;
use super::settings::Settings;
use super::statements::{Checks, about};
use super::tables::{Purpose, name};
use crate::sql;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use engines::statement::{Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};

/// Limit of pairs of rows that are neighbours by place and by key. A random order has two on average, whatever the
/// number of rows, and exceeds this less than once in ten million times.
const NEIGHBOURS_MAX: i64 = 14;
/// A tree of `InnoDB` has at least this many rows in each page.
const INNODB_ROWS: i64 = 2;
/// `InnoDB`'s statistics put a handful of rows into one page, whatever their size; from this number on, they are used.
const INNODB_TELLS_FROM: i64 = 1_000;
const NO_ANSWER: &str = "the database gave no answer";

pub fn check(
    settings: &Settings,
    checks: &Checks,
    admin: &mut dyn Admin,
    dialect: Dialect,
    moment: Moment,
) -> Result<Vec<CheckResult>, SessionError> {
    let texts = sql::of_characters(&checks.text, dialect);
    let mut asking = Asking { settings, admin, moment };
    let mut findings = vec![
        asking.of_each("keys", "Every table has every key from 1 to its number of rows once.", &checks.keys, keys)?,
        asking.of_each("text", "Every column of text has its 128 letters in every row.", &texts, text)?,
    ];
    if moment == Moment::AfterLoad {
        let places = checks.places.of(dialect);
        let (name, rule, judge): (_, _, Judge) = match dialect {
            Dialect::Sqlite | Dialect::Postgres => {
                ("one-row-per-page", "Every row has a page of its own.", one_row_per_page)
            }
            Dialect::Mysql => (
                "two-rows-per-page",
                "No more rows share a page than the two that InnoDB puts into each.",
                two_rows_per_page,
            ),
        };
        findings.push(asking.of_each(name, rule, &places.pages, judge)?);
        let rule = "Rows lie in random order: neighbours by key are in pages far apart.";
        findings.push(asking.of_each("scattered", rule, &places.neighbours, scattered)?);
    }
    Ok(findings)
}

struct Asking<'a> {
    settings: &'a Settings,
    admin: &'a mut dyn Admin,
    moment: Moment,
}

/// From a query's numbers and the table's number of rows: what was seen, or as an error what is wrong.
type Judge = fn(&[i64], i64) -> Result<String, String>;

impl Asking<'_> {
    /// Asks about every table. Reports what is wrong with those that violate the rule, or else what was seen of the first.
    fn of_each(
        &mut self,
        name: &str,
        rule: &str,
        query: &Statement,
        judge: Judge,
    ) -> Result<CheckResult, SessionError> {
        let (mut seen, mut wrong) = (None, Vec::new());
        for (table, purpose) in tables(self.settings) {
            let numbers = self.numbers(&about(query, &table))?;
            match judge(&numbers, i64::from(rows_of(self.settings, purpose))) {
                Ok(text) => seen = seen.or(Some(format!("{table}: {text}"))),
                Err(text) => wrong.push(format!("{table}: {text}")),
            }
        }
        let verdict =
            if wrong.is_empty() { Verdict::Holds { seen } } else { Verdict::Violated { seen: wrong.join("; ") } };
        Ok(finding(name, rule, self.moment, verdict))
    }

    /// The numbers of a query's single row. A null, such as the highest key of no rows, counts as 0.
    fn numbers(&mut self, query: &str) -> Result<Vec<i64>, SessionError> {
        let mut found = Ok(Vec::new());
        self.admin.ask(query, Limit::WORK, &mut |set, row| {
            let number = |column| if set.is_null(row, column) { Ok(0) } else { set.integer(row, column) };
            found = (0..set.columns()).map(number).collect();
        })?;
        found
    }
}

fn tables(settings: &Settings) -> impl Iterator<Item = (String, Purpose)> {
    let of = |purpose| (1..=settings.schemas).map(move |schema| (name(schema, purpose), purpose));
    of(Purpose::Ranges).chain(of(Purpose::Scans))
}

fn keys(numbers: &[i64], rows: i64) -> Result<String, String> {
    let [found, lowest, highest, different] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    if (found, lowest, highest, different) == (rows, 1, rows, rows) {
        return Ok(format!("{rows} rows"));
    }
    Err(format!("{found} rows with {different} keys from {lowest} to {highest} instead of {rows}"))
}

fn text(numbers: &[i64], _: i64) -> Result<String, String> {
    match *numbers {
        [0] => Ok("all rows".to_owned()),
        [short] => Err(format!("{short} rows with text of another length")),
        _ => Err(NO_ANSWER.to_owned()),
    }
}

/// If several sessions extend a table at the same time, PostgreSQL adds more pages than they need; those that stay
/// empty hold no row.
fn one_row_per_page(numbers: &[i64], rows: i64) -> Result<String, String> {
    let [pages, fullest] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    let seen = format!("{rows} rows in {pages} pages, at most {fullest} in one");
    if fullest == 1 && pages >= rows { Ok(seen) } else { Err(seen) }
}

/// `InnoDB` gives the number of pages, not the rows in each, so this judges the average page.
fn two_rows_per_page(numbers: &[i64], rows: i64) -> Result<String, String> {
    let [pages, average] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    let seen = format!("{rows} rows in {pages} pages, {average} in each");
    if rows < INNODB_TELLS_FROM {
        return Ok(format!("{rows} rows are too few for InnoDB's statistics to tell"));
    }
    if average <= INNODB_ROWS { Ok(seen) } else { Err(seen) }
}

fn scattered(numbers: &[i64], _: i64) -> Result<String, String> {
    let [neighbours] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    let seen = format!("{neighbours} rows lie beside the row of the next key");
    if neighbours <= NEIGHBOURS_MAX { Ok(seen) } else { Err(format!("{seen}, at most {NEIGHBOURS_MAX} allowed")) }
}

#[cfg(test)]
mod tests {
    use super::one_row_per_page;

    #[test]
    fn a_page_of_its_own_may_have_empty_pages_beside_it() {
        assert_eq!(one_row_per_page(&[128, 1], 128).unwrap(), "128 rows in 128 pages, at most 1 in one");
        assert!(one_row_per_page(&[130, 1], 128).is_ok());
        assert!(one_row_per_page(&[128, 2], 128).is_err());
        assert!(one_row_per_page(&[127, 1], 128).is_err());
    }
}
