//! A measure of a user's own appears wherever measures do.

use analysis::many_runs::brief;
use analysis::many_runs::trend::{TrendQuery, trend};
use analysis::measures::{Better, CATALOG, MeasureEntry, MeasureReading, Scale, Unit, counted};
use analysis::summary::analyse_with;
use analysis::two_runs::compare_with;
use record::synthetic;

/// A made-up measure with a known value: the length of the contender's name.
fn with_a_made_up_measure() -> Vec<MeasureEntry> {
    let made_up: MeasureEntry = |trial| {
        let length = trial.record.contender.len() as f64;
        vec![MeasureReading::new("made-up", Unit::Count, Better::Less, Scale::Ratio, length)]
    };
    [CATALOG, &[made_up]].concat()
}

#[test]
fn a_made_up_measure_is_in_table_csv_json_compare_and_trend() {
    let run = synthetic::run(3);
    let catalog = with_a_made_up_measure();
    let analysis = analyse_with(&run, &catalog);
    let row = "| made-up | 6.00 (6.00 to 6.00) | 3.00 (3.00 to 3.00) | −50.0 % (−50.0 to −50.0 %) |";
    let markdown = report::markdown(&run, &analysis);
    assert!(markdown.contains(row), "{markdown}");
    let csv = String::from_utf8(report::observations(&run, &analysis).unwrap()).unwrap();
    let own = csv.lines().filter(|line| line.contains(",made-up,")).collect::<Vec<_>>();
    assert_eq!(own.len(), 6);
    assert!(own[1].ends_with(",2,1,native,,,made-up,6,count,,"), "{own:?}");
    let json: serde_json::Value = serde_json::from_str(&report::json(&run, &analysis).unwrap()).unwrap();
    let levels = json["analysis"]["cells"][1]["levels"].as_array().unwrap();
    assert!(levels.iter().any(|level| level["measure"] == "made-up" && level["point"].as_f64() > Some(2.9)));
    let two = compare_with(&run, &run, Some(0.03).into(), &catalog).unwrap();
    let figures = &two.cells[0].figures;
    assert!(
        figures
            .iter()
            .any(|figure| figure.measure.id == "made-up" && (figure.change.estimate.point - 1.0).abs() < 1e-9)
    );
    let runs = [0; 3].map(|_| brief(&run, &analysis));
    let trend = trend(&runs, TrendQuery { measure: "made-up", ..TrendQuery::default() }).unwrap();
    let text = report::trend::text(&trend);
    let in_each = "6.00 (6.00 to 6.00)  3.00 (3.00 to 3.00)  −50.0 % (−50.0 to −50.0 %)\n";
    assert_eq!(text.matches(in_each).count(), 4, "three runs and their mean: {text}");
    let csv = String::from_utf8(report::trend::csv(&trend).unwrap()).unwrap();
    assert_eq!(csv.matches(",kvm,,made-up,native,0.5").count(), 3, "{csv}");
}

#[test]
fn each_measure_of_telemetry_has_a_name_for_readers() {
    let unnamed = counted::names().filter(|id| report::measures::words(id).0 == *id);
    assert_eq!(unnamed.collect::<Vec<_>>(), Vec::<&str>::new());
    let unknown = counted::COUNTED_COSTS.into_iter().filter(|id| !counted::names().any(|known| known.starts_with(id)));
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&str>::new());
}
