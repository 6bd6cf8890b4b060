//! The tables: their names and columns, and the scripts that make them and finish them after loading.

use super::settings::{SysbenchMode, SysbenchSettings, SysbenchTest};
use crate::dataset::DataTable;
use crate::sql::{self, SqlError, SqlSection, filled, sections};
use engines::statement::ByDialect;

const COLUMNS: &[&str] = &["id", "k", "c", "pad"];
const COLUMNS_OF_BULK: &[&str] = &["id", "k"];
const KEY: &[&str] = &["id"];

/// sbtest1, sbtest2 and so on. Mode 0.4.8 has one table, without a number.
pub fn names(settings: &SysbenchSettings) -> Vec<String> {
    match settings.mode {
        SysbenchMode::Of10 => (1..=settings.tables).map(|number| format!("sbtest{number}")).collect(),
        SysbenchMode::Of048 => vec!["sbtest".to_owned()],
    }
}

pub fn tables(settings: &SysbenchSettings) -> Vec<DataTable> {
    let columns = if settings.test == SysbenchTest::BulkInsert { COLUMNS_OF_BULK } else { COLUMNS };
    names(settings).into_iter().map(|name| DataTable { name: name.into(), columns, key: KEY }).collect()
}

/// Scripts to run before and after loading.
#[derive(Debug)]
pub struct TableScripts {
    pub before: String,
    pub after: String,
}

pub fn scripts(settings: &SysbenchSettings) -> Result<ByDialect<TableScripts>, SqlError> {
    let files = sql::files!("sql/tables");
    let chosen = ByDialect {
        sqlite: (files.sqlite, sqlite_table(settings), sqlite_finish(settings)),
        postgres: (files.postgres, postgres_table(settings), postgres_finish(settings)),
        mysql: (files.mysql, mysql_table(settings), mysql_finish(settings)),
    };
    chosen.try_map(|(file, before, after)| {
        let sections = sections(file)?;
        Ok(TableScripts {
            before: script(settings, &sections, &[before])?,
            after: script(settings, &sections, &after)?,
        })
    })
}

/// The named statements, repeated for each table.
fn script(settings: &SysbenchSettings, sections: &[SqlSection], chosen: &[&'static str]) -> Result<String, SqlError> {
    let next = (settings.table_size + 1).to_string();
    let mut script = String::new();
    for table in names(settings) {
        for &name in chosen {
            let section = sections.iter().find(|section| section.name == name).ok_or(SqlError::Missing(name))?;
            script.push_str(&filled(section.sql, &[("{table}", &table), ("{next}", &next)]));
            script.push_str(";\n");
        }
    }
    Ok(script)
}

fn sqlite_table(settings: &SysbenchSettings) -> &'static str {
    match settings.test {
        SysbenchTest::BulkInsert => "numbers-only",
        _ if settings.secondary => "rows-without-key",
        _ => "rows",
    }
}

fn sqlite_finish(settings: &SysbenchSettings) -> Vec<&'static str> {
    let mut chosen = Vec::new();
    if settings.test != SysbenchTest::BulkInsert {
        chosen.extend(settings.secondary.then_some("id-index"));
        chosen.extend(settings.create_secondary.then_some("k-index"));
    }
    chosen
}

fn postgres_table(settings: &SysbenchSettings) -> &'static str {
    match settings.test {
        SysbenchTest::BulkInsert => "numbers-only",
        SysbenchTest::Insert if !settings.auto_inc => "rows-of-wide-ids",
        _ if settings.auto_inc => "rows-numbered",
        _ => "rows",
    }
}

fn postgres_finish(settings: &SysbenchSettings) -> Vec<&'static str> {
    if settings.test == SysbenchTest::BulkInsert {
        return vec!["primary-key"];
    }
    let mut chosen = vec![if settings.secondary { "id-index" } else { "primary-key" }];
    chosen.extend(settings.create_secondary.then_some("k-index"));
    chosen.extend(settings.auto_inc.then_some("numbering"));
    chosen
}

fn mysql_table(settings: &SysbenchSettings) -> &'static str {
    let wide = settings.test == SysbenchTest::Insert && !settings.auto_inc;
    match (settings.test, settings.secondary) {
        (SysbenchTest::BulkInsert, _) => "numbers-only",
        (_, true) if wide => "wide-rows-without-key",
        (_, true) => "rows-without-key",
        (_, false) if wide => "rows-of-wide-ids",
        (_, false) if settings.auto_inc => "rows-numbered",
        (_, false) => "rows",
    }
}

fn mysql_finish(settings: &SysbenchSettings) -> Vec<&'static str> {
    let indexed = settings.create_secondary && settings.test != SysbenchTest::BulkInsert;
    indexed.then_some("k-index").into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn made(table: &Value) -> ByDialect<TableScripts> {
        let keys = crate::sysbench_oltp::settings::KEYS;
        scripts(&settings::read(table.as_object().unwrap(), keys).unwrap()).unwrap()
    }

    #[test]
    fn every_combination_of_keys_has_its_statements() {
        for test in ["read_write", "insert", "bulk_insert"] {
            for bits in 0..8 {
                let key = |bit: u32| bits >> bit & 1 == 1;
                let table = json!({
                    "test": test, "auto_inc": key(0), "secondary": key(1), "create_secondary": key(2),
                });
                let ByDialect { sqlite, postgres, mysql } = made(&table);
                for TableScripts { before, after } in [sqlite, postgres, mysql] {
                    assert!(before.starts_with("CREATE TABLE sbtest1") && !before.contains('{'), "{before}");
                    assert!(!after.contains('{'), "{after}");
                    assert_eq!(after.contains("sbtest1_k "), key(2) && test != "bulk_insert", "{table}: {after}");
                    let script = format!("{before}{after}");
                    assert_eq!(script.contains("_xid "), key(1) && test != "bulk_insert", "{table}: {script}");
                }
            }
        }
    }

    #[test]
    fn new_rows_are_numbered_after_the_loaded_ones() {
        let after = made(&json!({ "tables": 2, "table_size": 500 })).postgres.after;
        assert!(after.ends_with("ALTER SEQUENCE sbtest2_id_seq RESTART WITH 501;\n"), "{after}");
    }

    #[test]
    fn the_old_mode_has_one_table_without_a_number() {
        assert!(made(&json!({ "mode": "0.4.8" })).sqlite.before.starts_with("CREATE TABLE sbtest ("));
    }
}
