//! Writes reports to `target/sample/`, to be looked at: of made-up runs, and of the folders of runs that are named.
//! `cargo run -p report --example sample [RUN…]`

use record::run::Run;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let made_up = [("sound", record::synthetic::run(5)), ("troubled", record::synthetic::troubled())];
    let mut runs: Vec<(String, Run)> = made_up.map(|(name, run)| (name.to_owned(), run)).to_vec();
    for (index, path) in std::env::args().skip(1).enumerate() {
        runs.push((format!("run{index}"), Run::open(Path::new(&path))?));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/sample");
    fs::create_dir_all(&folder)?;
    for (name, run) in runs {
        let analysis = analysis::summary::analyse(&run);
        fs::write(folder.join(format!("{name}.html")), report::html(&run, &analysis))?;
        fs::write(folder.join(format!("{name}.md")), report::markdown(&run, &analysis))?;
        fs::write(folder.join(format!("{name}.txt")), report::terminal(&run, &analysis))?;
        fs::write(folder.join(format!("{name}.json")), report::json(&run, &analysis)?)?;
    }
    Ok(())
}
