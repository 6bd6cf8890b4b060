//! Tables and figures as programs read them: their ids, the schema of report.json, single tables and figures.

use crate::real::{self, RUNS};
use analysis::summary::{Analysis, analyse};
use boon::{Compiler, SchemaIndex, Schemas};
use record::run::Run;
use record::synthetic;
use report::csv;
use report::document::Document;
use report::figures::alone;
use report::sections;
use report::table::{Table, Value};
use serde_json::json;
use std::collections::BTreeSet;

/// Made-up runs that together have every section, and the real runs.
fn all() -> Vec<(&'static str, Run, Analysis)> {
    let of = |run: Run| (analyse(&run), run);
    let made_up = [
        ("sound", of(synthetic::run(5))),
        ("troubled", of(synthetic::troubled())),
        ("sampled", of(synthetic::waits::sampled(synthetic::run(3)))),
        ("grown", of(crate::grown::grown(3))),
    ];
    let made_up = made_up.into_iter().map(|(name, (analysis, run))| (name, run, analysis));
    let real = RUNS.iter().map(|name| (*name, real::opened(name)));
    let shared = [
        ("offered", crate::offered()),
        ("consolidated", crate::consolidated::MADE_UP.clone()),
        ("neighbour", crate::neighbour::MADE_UP.clone()),
    ];
    made_up.chain(shared.into_iter().chain(real).map(|(name, (run, analysis))| (name, run, analysis))).collect()
}

/// One test, because the runs take longer to make than to look at.
#[test]
fn tables_figures_and_json_of_every_run() {
    let (mut families, schema) = (BTreeSet::new(), Schema::read());
    for (name, run, analysis) in &all() {
        let document = sections::all(run, analysis);
        families.extend(every_table_and_figure_has_an_id_of_its_own(name, &document));
        cells_hold_the_numbers_of_the_analysis(name, &document, analysis);
        a_figure_alone_needs_nothing_and_has_every_panel(name, &document);
        let json = serde_json::from_str(&report::json(run, analysis).unwrap()).unwrap();
        assert_eq!(schema.lacking(&json), None, "{name}");
        crate::numbers::every_number_on_the_page_is_in_the_json(name, &report::html(run, analysis), &json);
    }
    insta::assert_snapshot!(families.into_iter().collect::<Vec<_>>().join(" "), @"activity attribution busy checks checks-held climb-to-the-peak climbs comparison counters counters-over-time database-settings decided distribution-of-response-times driver endings equal evenness facts growth host laws machines machines-side-by-side measures neighbour other-counters others-over-time overview profile queues ratios readings response-time-shares response-times scores second-threads service-times settings steadiness throughput-over-size throughput-over-time trials waiting-for-a-session waits words work");
}

fn ids(document: &Document) -> Vec<String> {
    let tables = document.tables().into_iter().map(|table| table.id.clone());
    tables.chain(document.figures().into_iter().map(|figure| figure.id.clone())).collect()
}

/// Returns the families of ids.
fn every_table_and_figure_has_an_id_of_its_own(name: &str, document: &Document) -> BTreeSet<String> {
    let found = ids(document);
    let distinct: BTreeSet<&String> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "{name}: {found:#?}");
    // A number at the end would mean that two blocks asked for the same id.
    let asked_twice: Vec<&String> = found.iter().filter(|id| distinct.contains(&format!("{id}-2"))).collect();
    assert_eq!(asked_twice, Vec::<&String>::new(), "{name}");
    found.iter().map(|id| id.split('/').next().unwrap().to_owned()).collect()
}

/// The schema, which names its draft, compiled.
struct Schema(Schemas, SchemaIndex);

impl Schema {
    fn read() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let schema = serde_json::from_str(include_str!("../../../../docs/report.schema.json")).expect("JSON");
        compiler.add_resource("report.schema.json", schema).expect("a resource");
        let index = compiler.compile("report.schema.json", &mut schemas).expect("a schema");
        Self(schemas, index)
    }

    /// What is wrong with this report.
    fn lacking(&self, report: &serde_json::Value) -> Option<String> {
        self.0.validate(report, self.1).err().map(|error| error.to_string())
    }
}

#[test]
fn what_is_no_report_is_refused_by_the_schema() {
    let schema = Schema::read();
    let run = synthetic::run(5);
    let sound: serde_json::Value = serde_json::from_str(&report::json(&run, &analyse(&run)).unwrap()).unwrap();
    assert!(sound.pointer("/tables/0/rows/0/1/low").is_some(), "{}", sound["tables"][0]);
    let changes = [
        ("/format", json!(1)),
        ("/tables/0/id", json!("Two Words")),
        ("/tables/0/rows/0/1/value", json!("5,249")),
        ("/tables/0/rows/0/1/kind", json!("text")),
        ("/tables/0/rows/0/1/low", json!(null)),
        ("/tables/0/rows/0/0", json!({ "kind": "text", "text": "x", "unit": "ms" })),
        ("/figures/0/panels/0/series/0/points/0/y", json!("fast")),
        ("/figures/0/panels", json!([])),
        ("/analysis/observations/0/better", json!("much")),
        ("/analysis/observations/0/observations/0/value", json!(null)),
        ("/warnings/0/code", json!("Two words")),
        ("/analysis/findings/0/severity", json!("bad")),
        ("/analysis/cells/0/levels/0/interval", json!("unknown")),
        ("/trials/0/findings/0/verdict/verdict", json!("fine")),
    ];
    for (place, changed) in changes {
        let mut damaged = sound.clone();
        *damaged.pointer_mut(place).unwrap_or_else(|| panic!("{place} is not there")) = changed;
        assert!(schema.lacking(&damaged).is_some(), "{place} is not looked at");
    }
    for key in sound.as_object().unwrap().keys() {
        let mut damaged = sound.clone();
        damaged.as_object_mut().unwrap().remove(key);
        assert!(schema.lacking(&damaged).is_some(), "{key} is not needed");
    }
}

#[test]
fn a_table_as_csv_has_all_digits_and_says_why_something_is_missing() {
    let run = synthetic::troubled();
    let document = sections::all(&run, &analyse(&run));
    let table = document.tables().into_iter().find(|table| table.id == "comparison").unwrap();
    let csv = String::from_utf8(csv::of_table(table).unwrap()).unwrap();
    let first: Vec<&str> = csv.lines().take(2).collect();
    assert!(
        first[0].starts_with("name,name id,name note,native,native low,native high,native unit,native n,"),
        "{csv}"
    );
    assert!(first[0].ends_with("kvm,kvm unit,kvm n,kvm note,change,change note"), "{csv}");
    assert!(
        first[1].starts_with("NOPM,throughput,new orders per minute,5278.647218214107,5119.967341010258,"),
        "{csv}"
    );
    assert!(first[1].contains("\"too few trials: 1 block, at least 3 are needed\",,no block has it of both"), "{csv}");
}

/// Nothing is rounded on the way: cells hold the numbers of the analysis.
fn cells_hold_the_numbers_of_the_analysis(name: &str, document: &Document, analysis: &Analysis) {
    let mut compared = 0;
    let of_measures = ["measures", "response-times", "work", "evenness", "profile"];
    let family = |table: &&Table| of_measures.contains(&table.id.split('/').next().unwrap_or_default());
    for table in document.tables().into_iter().filter(family) {
        for row in &table.rows {
            let measure = row[0].id.as_deref().unwrap();
            for (column, cell) in table.columns.iter().zip(row).skip(1) {
                let own = analysis.cells.iter().filter(|one| one.contender == column.title);
                let levels: Vec<f64> = own.filter_map(|one| Some(one.level(measure)?.point)).collect();
                if let (Value::Quantity(quantity), false) = (&cell.value, levels.is_empty()) {
                    let ratios: Vec<f64> = levels.iter().map(|level| quantity.value / level).collect();
                    // Microseconds are shown as milliseconds, shares in per cent, bytes in kB or MB.
                    let is_whole =
                        |ratio: &f64| [1.0, 1e-3, 1e-6, 1e2].iter().any(|power| (ratio / power - 1.0).abs() < 1e-12);
                    assert!(quantity.value == 0.0 || ratios.iter().any(is_whole), "{name}: {measure}: {ratios:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10, "{name}: {compared}");
}

fn a_figure_alone_needs_nothing_and_has_every_panel(name: &str, document: &Document) {
    assert!(!document.figures().is_empty(), "{name}");
    for figure in document.figures() {
        let svg = alone::svg(figure);
        assert_eq!(svg.matches("<svg").count(), figure.panels.len() + 1, "{name}: {}", figure.id);
        assert!(!svg.contains("var(") && svg.contains("#0072b2"), "{name}: a colour without a value: {svg}");
        let points: usize = figure.panels.iter().flat_map(|panel| &panel.series).map(|one| one.points.len()).sum();
        let csv = String::from_utf8(csv::of_figure(figure).unwrap()).unwrap();
        assert_eq!(csv.lines().count(), points + 1, "{name}: {}", figure.id);
        assert!(points > 0, "{name}: {}", figure.id);
    }
}
