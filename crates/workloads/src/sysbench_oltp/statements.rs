//! The statements of the chosen test, by name and table.

use super::settings::SysbenchSettings;
use super::steps::Steps;
use crate::sql::{self, SqlError, filled};
use engines::statement::{Statement, StatementId};

const SHARED: &str = include_str!("sql/transactions.sql");
/// Every engine understands the shared statements, so no dialect has its own.
const OF_DIALECT: &str = "";

/// Rows of one statement of `bulk_insert`.
pub const BULK_ROWS: usize = 250;

settings::names! {
    #[repr(u16)]
    pub enum SysbenchStatement {
        PointSelect => "point-select",
        SimpleRange => "simple-range",
        SumRange => "sum-range",
        OrderRange => "order-range",
        DistinctRange => "distinct-range",
        UpdateIndex => "update-index",
        UpdateNonIndex => "update-non-index",
        Delete => "delete",
        Insert => "insert",
        InsertNumbered => "insert-numbered",
        RandomPoints => "random-points",
        RandomRanges => "random-ranges",
        BulkInsert => "bulk-insert",
    }
}

/// The statements that the test executes; no others are prepared.
fn used(steps: &Steps, auto_inc: bool) -> Vec<SysbenchStatement> {
    let rewrites = steps.delete_inserts > 0;
    let uses = [
        (SysbenchStatement::PointSelect, steps.point_selects > 0),
        (SysbenchStatement::SimpleRange, steps.simple_ranges > 0),
        (SysbenchStatement::SumRange, steps.sum_ranges > 0),
        (SysbenchStatement::OrderRange, steps.order_ranges > 0),
        (SysbenchStatement::DistinctRange, steps.distinct_ranges > 0),
        (SysbenchStatement::UpdateIndex, steps.index_updates > 0 || rewrites && steps.updates_before_delete),
        (SysbenchStatement::UpdateNonIndex, steps.non_index_updates > 0),
        (SysbenchStatement::Delete, steps.deletes > 0 || rewrites),
        (SysbenchStatement::Insert, rewrites || steps.inserts > 0 && !auto_inc),
        (SysbenchStatement::InsertNumbered, steps.inserts > 0 && auto_inc),
        (SysbenchStatement::RandomPoints, steps.random_points > 0),
        (SysbenchStatement::RandomRanges, steps.random_ranges > 0),
        (SysbenchStatement::BulkInsert, steps.bulk_inserts > 0),
    ];
    uses.into_iter().filter(|(_, is_used)| *is_used).map(|(sql, _)| sql).collect()
}

/// The statements with `{table}` still in them, and the place of each among those of one table.
#[derive(Debug)]
pub struct SysbenchStatements {
    of_any_table: Vec<Statement>,
    tables: Vec<String>,
    places: [u16; SysbenchStatement::NAMES.len()],
}

impl SysbenchStatements {
    pub fn new(settings: &SysbenchSettings, steps: &Steps, tables: Vec<String>) -> Result<Self, SqlError> {
        let used = used(steps, settings.auto_inc);
        let mut places = [0; SysbenchStatement::NAMES.len()];
        for (place, sql) in (0..).zip(&used) {
            places[*sql as usize] = place;
        }
        let all = sql::statements(SysbenchStatement::NAMES, SHARED, OF_DIALECT)?;
        let markers = Markers::of(settings);
        let of_any_table = used.iter().map(|sql| markers.filled_into(&all[*sql as usize])).collect();
        Ok(Self { of_any_table, tables, places })
    }

    /// The statements of the first table, then those of the second, and so on.
    pub fn of_all_tables(&self) -> Vec<Statement> {
        let fill = |table: &str, Statement { name, sql }: &Statement| Statement {
            name,
            sql: filled(sql, &[("{table}", table)]),
        };
        self.tables.iter().flat_map(|table| self.of_any_table.iter().map(|statement| fill(table, statement))).collect()
    }

    pub fn id(&self, table: u32, sql: SysbenchStatement) -> StatementId {
        // There are at most a thousand tables with a dozen statements each.
        let before = u16::try_from(table as usize * self.of_any_table.len()).unwrap_or(u16::MAX);
        StatementId(before + self.places[sql as usize])
    }
}

/// The lists of markers, whose lengths the settings give.
struct Markers {
    points: String,
    ranges: String,
    rows: String,
}

impl Markers {
    fn of(settings: &SysbenchSettings) -> Self {
        let list = |count: u32, each: &dyn Fn(u32) -> String, between: &str| {
            (0..count).map(each).collect::<Vec<_>>().join(between)
        };
        let pair = |place: u32| (2 * place + 1, 2 * place + 2);
        let range = |place: u32| {
            let (low, high) = pair(place);
            format!("k BETWEEN ${low} AND ${high}")
        };
        let row = |place: u32| {
            let (id, k) = pair(place);
            format!("(${id}, ${k})")
        };
        Self {
            points: list(settings.random_points, &|place| format!("${}", place + 1), ", "),
            ranges: list(settings.number_of_ranges, &range, " OR "),
            rows: list(u32::try_from(BULK_ROWS).unwrap_or(0), &row, ", "),
        }
    }

    fn filled_into(&self, statement: &Statement) -> Statement {
        let values = [("{points}", &*self.points), ("{ranges}", &*self.ranges), ("{rows}", &*self.rows)];
        Statement { name: statement.name, sql: filled(&statement.sql, &values) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn statements(table: &Value, tables: &[&str]) -> SysbenchStatements {
        let keys = crate::sysbench_oltp::settings::KEYS;
        let settings: SysbenchSettings = settings::read(table.as_object().unwrap(), keys).unwrap();
        let tables = tables.iter().map(|&table| table.to_owned()).collect();
        SysbenchStatements::new(&settings, &Steps::of(&settings), tables).unwrap()
    }

    #[test]
    fn every_table_has_its_own_and_the_ids_find_them() {
        let statements = statements(&json!({}), &["one", "two"]);
        let all = statements.of_all_tables();
        assert_eq!(all.len(), 2 * 9);
        let found = |table, sql| all[usize::from(statements.id(table, sql).0)].sql.as_str();
        assert_eq!(found(0, SysbenchStatement::PointSelect), "SELECT c FROM one WHERE id = $1");
        assert_eq!(found(1, SysbenchStatement::UpdateNonIndex), "UPDATE two SET c = $1 WHERE id = $2");
        assert_eq!(found(1, SysbenchStatement::Insert), "INSERT INTO two (id, k, c, pad) VALUES ($1, $2, $3, $4)");
    }

    #[test]
    fn only_what_is_used_is_prepared() {
        let names = |table: &Value| {
            let all = statements(table, &["one"]).of_all_tables();
            all.iter().map(|statement| statement.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&json!({ "test": "point_select" })), ["point-select"]);
        assert_eq!(names(&json!({ "test": "insert" })), ["insert-numbered"]);
        assert_eq!(names(&json!({ "test": "insert", "auto_inc": false })), ["insert"]);
        let rewriting = json!({ "test": "write_only", "index_updates": 0, "non_index_updates": 0 });
        assert_eq!(names(&rewriting), ["delete", "insert"]);
    }

    #[test]
    fn lists_have_as_many_markers_as_the_settings_say() {
        let only = |table: &Value| statements(table, &["one"]).of_all_tables().remove(0).sql;
        assert_eq!(
            only(&json!({ "test": "select_random_points", "random_points": 3 })),
            "SELECT id, k, c, pad FROM one WHERE k IN ($1, $2, $3)"
        );
        assert_eq!(
            only(&json!({ "test": "select_random_ranges", "number_of_ranges": 2 })),
            "SELECT COUNT(k) FROM one WHERE k BETWEEN $1 AND $2 OR k BETWEEN $3 AND $4"
        );
        assert!(only(&json!({ "test": "bulk_insert" })).ends_with("($497, $498), ($499, $500)"));
    }
}
