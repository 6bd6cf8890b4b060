//! Single tables and figures of a recorded run; a wrong name is answered with the names that exist.

use crate::setting::{Place, text};
use std::path::PathBuf;

fn recorded() -> String {
    let runs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../report/tests/runs");
    runs.join("sqlite").to_string_lossy().into_owned()
}

#[test]
fn a_table_or_figure_is_printed_alone_and_nothing_is_written() {
    let (place, run) = (Place::new(""), recorded());
    let table = place.bakeoff(&["report", &run, "--table", "comparison"]);
    assert_eq!(table.status.code(), Some(0), "{}", text(&table.stderr));
    let (table, said) = (text(&table.stdout), text(&table.stderr));
    assert!(table.starts_with("name,name id,name note,"), "{table}");
    assert!(table.contains("\nNOPM,throughput,new orders/min,") && said.is_empty(), "{table}{said}");
    let points = text(&place.bakeoff(&["report", &run, "--figure", "ratios"]).stdout);
    assert!(points.starts_with("panel,series,x,x_unit,y,y_unit,low,high\nThroughput,"), "{points}");
    let drawn = place.bakeoff(&["report", &run, "--figure", "ratios", "--svg", "ratios.svg"]);
    assert_eq!((drawn.status.code(), text(&drawn.stdout)), (Some(0), String::new()));
    let file = std::fs::read_to_string(place.folder.path().join("ratios.svg")).unwrap();
    assert!(file.starts_with("<svg xmlns=") && file.ends_with("</svg>\n"), "{file}");
    let printed = text(&place.bakeoff(&["report", &run, "--figure", "ratios", "--svg", "-"]).stdout);
    assert_eq!(printed, file);
    assert!(!PathBuf::from(&run).join("report.html").exists());
}

#[test]
fn what_cannot_be_had_says_what_would_do() {
    let (place, run) = (Place::new(""), recorded());
    let cases: [(&[&str], &str); 4] = [
        (&["--table", "comparisons"], "the report has no table \"comparisons\"; it has: comparison, "),
        (&["--figure", "ratio"], "the report has no figure \"ratio\"; it has: ratios, "),
        (&["--figure", "ratios", "--svg", "no/such.svg"], "--svg: no/such.svg cannot be written; name another file"),
        (&["--svg", "x.svg"], "--figure <ID>"),
    ];
    for (options, expected) in cases {
        let output = place.bakeoff(&[["report", &run].as_slice(), options].concat());
        let told = text(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(expected), "{options:?}: {told}");
    }
}
