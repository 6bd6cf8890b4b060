//! Published figures beside those of a run: the same rows, each with the published number and the measured one.

use crate::estimate::Estimate;
use crate::measures::throughput::THROUGHPUT;
use crate::measures::{Scale, Unit};
use crate::observations::{MeasuredValues, Observations};
use crate::pairing::Pairing;
use record::plan::{Cell, Plan};
use record::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A file of published figures; with [`compare`], beside those of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigures {
    pub title: String,
    /// Where the figures are from.
    pub source: String,
    /// What cannot be compared, and why; a sentence each.
    #[serde(default)]
    pub not_compared: Vec<String>,
    #[serde(rename(deserialize = "table"), alias = "tables")]
    pub tables: Vec<PublishedTable>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    pub title: String,
    pub form: Form,
    /// Of published values.
    #[serde(default)]
    pub unit: String,
    /// The measure of all rows that name none, if it is not the throughput.
    #[serde(default, skip_serializing)]
    pub measure: Option<String>,
    pub rows: Vec<PublishedRow>,
}

/// What the numbers of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    Value,
    /// Of one cell over another.
    Ratio,
    /// The same, as a change in per cent.
    Change,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    pub label: String,
    /// A change is in per cent here, and a ratio in `measured`.
    pub published: f64,
    /// Not in a file of published figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Estimate>,
    /// Of the measure, where this run has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Why nothing of the run corresponds to it, or why nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing)]
    pub measure: Option<String>,
    /// The cell of the run that corresponds to it.
    #[serde(default, skip_serializing)]
    pub of: Option<WantedCell>,
    /// The cell that a ratio or change is to.
    #[serde(default, skip_serializing)]
    pub over: Option<WantedCell>,
}

/// A cell of a run. What is not given may be anything, but only one cell must fit.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WantedCell {
    pub contender: Option<String>,
    pub scenario: Option<String>,
    pub sweep: Map<String, Value>,
    /// All machines together, not the slowest one.
    pub sum: bool,
    /// One of several machines, by its number.
    pub machine: Option<u32>,
}

/// The published figures with those of the run, or what is wrong with the file.
pub fn compare(
    run: &Run,
    observations: &Observations,
    published: &PublishedFigures,
) -> Result<PublishedFigures, String> {
    let table = |table: &PublishedTable| {
        let row = |row: &PublishedRow| {
            let place = || format!("table \"{}\", row \"{}\"", table.title, row.label);
            let measured = measured(run, observations, table, row).map_err(|why| format!("{}: {why}", place()))?;
            let (measured, why) = measured.map_or_else(|why| (None, Some(why)), |estimate| (Some(estimate), None));
            let unit = observations.measure(measure(table, row)).map(|measured| measured.measure.unit.clone());
            let label = row.label.clone();
            Ok(PublishedRow { label, measured, unit, why, measure: None, of: None, over: None, ..*row })
        };
        let rows = table.rows.iter().map(row).collect::<Result<_, String>>()?;
        Ok(PublishedTable { rows, measure: None, ..table.clone() })
    };
    let tables = published.tables.iter().map(table).collect::<Result<_, String>>()?;
    Ok(PublishedFigures { tables, ..published.clone() })
}

/// The outer error is a mistake in the file; the inner one is why this run has no figure.
fn measured(
    run: &Run,
    observations: &Observations,
    table: &PublishedTable,
    row: &PublishedRow,
) -> Result<Result<Estimate, String>, String> {
    if !row.published.is_finite() {
        return Err("published is no number".to_owned());
    }
    if row.measured.is_some() || row.unit.is_some() {
        return Err("measured and unit are what this run adds".to_owned());
    }
    if let Some(why) = &row.why {
        return if row.of.is_none() { Ok(Err(why.clone())) } else { Err("it has both of and why".to_owned()) };
    }
    let own = row.of.as_ref().ok_or("it needs of, the cell that corresponds to it, or why none does")?;
    let over = match (table.form, &row.over) {
        (Form::Value, Some(_)) => return Err("a value has no over; the table's form is not \"ratio\"".to_owned()),
        (Form::Ratio | Form::Change, None) => return Err("a ratio needs over, the cell that it is to".to_owned()),
        (_, over) => over,
    };
    if [Some(own), over.as_ref()].into_iter().flatten().any(|which| which.sum && which.machine.is_some()) {
        return Err("it has both sum and machine".to_owned());
    }
    let id = measure(table, row);
    let found = || {
        let own = cell(&run.plan, own).map(|cell| (cell, own))?;
        let over = over.as_ref().map(|over| Ok::<_, String>((cell(&run.plan, over)?, over))).transpose()?;
        let measured = observations.measure(id).ok_or_else(|| format!("this run has no measure {id}"))?;
        estimate(&run.plan, measured, own, over)
    };
    Ok(found())
}

fn measure<'a>(table: &'a PublishedTable, row: &'a PublishedRow) -> &'a str {
    row.measure.as_deref().or(table.measure.as_deref()).unwrap_or(THROUGHPUT)
}

/// The one cell that fits.
fn cell<'a>(plan: &'a Plan, which: &WantedCell) -> Result<&'a Cell, String> {
    let fits = |cell: &&Cell| {
        which.contender.as_ref().is_none_or(|name| *name == cell.contender)
            && (which.scenario.is_none() || which.scenario == cell.scenario)
            && which.sweep.iter().all(|(key, value)| cell.sweep.get(key) == Some(value))
    };
    let mut found = plan.cells.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(format!("this run has no cell with {}", words(which))),
        (Some(_), Some(_)) => Err(format!("this run has several cells with {}", words(which))),
    }
}

fn words(which: &WantedCell) -> String {
    let named = [("contender", &which.contender), ("scenario", &which.scenario)];
    let named = named.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref()?)));
    let swept = which.sweep.iter().map(|(key, value)| format!("{key} = {value}"));
    let words = named.chain(swept).collect::<Vec<_>>().join(", ");
    if words.is_empty() { "any name".to_owned() } else { words }
}

fn estimate(
    plan: &Plan,
    measured: &MeasuredValues,
    own: (&Cell, &WantedCell),
    over: Option<(&Cell, &WantedCell)>,
) -> Result<Estimate, String> {
    let none = |cell: &Cell| format!("{} has no value of it that counts", cell.contender);
    let blocks = |(cell, which): (&Cell, &WantedCell)| {
        let is_of_machines = which.sum || which.machine.is_some();
        let of_machines = || measured.of_machines_by_block(cell.id, which.machine);
        let blocks = if is_of_machines { of_machines() } else { measured.by_block(cell.id) };
        blocks.filter(|blocks| !blocks.is_empty()).ok_or_else(|| none(cell))
    };
    let values = blocks(own)?;
    let Some(over) = over else { return measured.mean_of(&values).ok_or_else(|| none(own.0)) };
    let base = blocks(over)?;
    let positive = values.values().chain(base.values()).all(|value| *value > 0.0);
    let pairing = Pairing::planned(plan, over.0, own.0);
    let ratio = measured.paired_on(Scale::Ratio, &pairing, [&base, &values]).filter(|_| positive);
    ratio.map(|ratio| ratio.estimate).ok_or_else(|| "no block has both sides".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::analyse;
    use record::synthetic;
    use serde_json::json;

    fn published(form: &str, row: &Value) -> PublishedFigures {
        let table = json!({ "title": "a table", "form": form, "rows": [row] });
        serde_json::from_value(json!({ "title": "a paper", "source": "a place", "table": [table] })).unwrap()
    }

    fn row(form: &str, row: &Value) -> Result<PublishedRow, String> {
        let run = synthetic::run(5);
        let beside = compare(&run, &analyse(&run).observations, &published(form, row))?;
        Ok(beside.tables[0].rows[0].clone())
    }

    #[test]
    fn a_ratio_is_that_of_the_comparison() {
        let found = row(
            "ratio",
            &json!({ "label": "VM", "published": 0.853, "of": { "contender": "kvm" }, "over": { "contender": "native" } }),
        );
        let found = found.unwrap();
        let analysis = analyse(&synthetic::run(5));
        assert_eq!(found.measured.as_ref(), Some(&analysis.comparisons[0].throughput().unwrap().estimate));
        assert_eq!((found.published, found.why), (0.853, None));
    }

    #[test]
    fn a_value_is_that_of_the_cell() {
        let found =
            row("value", &json!({ "label": "VM", "published": 250_000, "of": { "contender": "kvm" } })).unwrap();
        let analysis = analyse(&synthetic::run(5));
        assert_eq!(found.measured.as_ref(), analysis.cells[1].throughput());
    }

    #[test]
    fn what_a_run_lacks_is_said_in_its_row() {
        let of = |which: &Value| json!({ "label": "x", "published": 1, "of": which });
        for (which, expected) in [
            (json!({ "contender": "xen" }), "this run has no cell with contender xen"),
            (json!({}), "this run has several cells with any name"),
            (json!({ "contender": "kvm", "sweep": { "load.clients": 8 } }), "contender kvm, load.clients = 8"),
        ] {
            let found = row("value", &of(&which)).unwrap();
            assert!(found.measured.is_none() && found.why.as_ref().unwrap().contains(expected), "{found:?}");
        }
        let other = json!({ "label": "x", "published": 1, "measure": "speed", "of": { "contender": "kvm" } });
        assert_eq!(row("value", &other).unwrap().why.unwrap(), "this run has no measure speed");
        let none = json!({ "label": "x", "published": 1, "why": "nothing corresponds to it" });
        assert_eq!(row("value", &none).unwrap().why.unwrap(), "nothing corresponds to it");
    }

    #[test]
    fn mistakes_in_the_file_are_told_with_their_place() {
        let of = json!({ "contender": "kvm" });
        for (form, wrong, expected) in [
            ("value", json!({ "label": "x", "published": 1 }), "table \"a table\", row \"x\": it needs of"),
            ("value", json!({ "label": "x", "published": 1, "of": of, "over": of }), "a value has no over"),
            ("change", json!({ "label": "x", "published": 1, "of": of }), "a ratio needs over"),
            ("value", json!({ "label": "x", "published": 1, "of": of, "why": "y" }), "both of and why"),
            ("value", json!({ "label": "x", "published": 1, "of": of, "unit": "count" }), "this run adds"),
            (
                "value",
                json!({ "label": "x", "published": 1, "of": { "contender": "kvm", "sum": true, "machine": 2 } }),
                "both sum and machine",
            ),
        ] {
            let found = row(form, &wrong).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
    }
}
