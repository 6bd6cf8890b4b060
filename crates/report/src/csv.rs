//! `observations.csv`: every value of every measure of a run as one long table.

use analysis::summary::Analysis;
use record::run::Run;

const HEADINGS: [&str; 11] =
    ["run", "trial", "block", "contender", "coordinates", "machine", "measure", "value", "unit", "n", "why_none"];

/// A line for each value; an empty machine stands for all together.
pub fn write(run: &Run, analysis: &Analysis) -> csv::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(HEADINGS)?;
    let name = run.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for measured in analysis.observations.measures() {
        let unit = serde_json::to_value(&measured.measure.unit).unwrap_or_default();
        let unit = unit.as_str().unwrap_or_default();
        for one in &measured.observations {
            let cell = analysis.cells.iter().find(|cell| cell.cell == one.cell);
            let (contender, coordinates) =
                cell.map_or(("", ""), |cell| (cell.contender.as_str(), cell.coordinates.as_str()));
            let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
            out.write_record([
                name.as_str(),
                &one.trial.to_string(),
                &one.block.to_string(),
                contender,
                coordinates,
                &number(one.machine.map(u64::from)),
                &measured.measure.id,
                &one.value.map(|value| value.to_string()).unwrap_or_default(),
                unit,
                &number(one.n),
                one.why_none.as_deref().unwrap_or_default(),
            ])?;
        }
    }
    out.into_inner().map_err(|error| error.into_error().into())
}
