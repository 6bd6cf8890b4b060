//! Figures of published studies, and the studies that repeat them.

use analysis::beside::{PublishedFigures, compare};
use analysis::observations::Observations;
use images::KernelChoice;
use platforms::huge_pages::HugePages;
use platforms::placement::UsableCpus;
use record::facts::Facts;
use record::run::Run;
use std::fs;
use std::path::{Path, PathBuf};
use study::{Against, Catalogs, FindingCode, Host};

const FIGURES: &str = "published.toml";

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A run of this study on a host that is large enough, before its first trial.
fn begun(study: &Path) -> Run {
    let topology = UsableCpus::flat(&(0..240).collect::<Vec<_>>());
    let host =
        Host { topology, memory_bytes: 2 << 40, huge_pages: HugePages::default(), kernel: KernelChoice::DEBIAN_12 };
    let codes = vec![FindingCode { name: "storage-differs", acceptable: true }];
    let catalogs = Catalogs { codes, ..Catalogs::standard() };
    // These CPUs have no second threads.
    let text = fs::read_to_string(study).unwrap().replace(", \"machine.pinning\" = \"threads\"", "");
    let name = study.display().to_string();
    let plan = study::plan(&name, &text, Against::Baseline, &catalogs, &host);
    let plan = plan.unwrap_or_else(|problems| panic!("{}", study::render(&problems, &name)));
    Run { plan, host: Facts::new(), trials: Vec::new(), durability: Vec::new(), dir: PathBuf::new() }
}

/// A row that names a cell is empty in every run if no study beside it has the cell.
#[test]
fn each_published_figure_that_names_a_cell_is_filled_by_a_study_of_its_folder() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/published");
    let folders: Vec<PathBuf> = entries(&published).into_iter().filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), 5);
    for folder in folders {
        let figures: PublishedFigures = toml::from_str(&fs::read_to_string(folder.join(FIGURES)).unwrap()).unwrap();
        let studies = entries(&folder)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml") && !path.ends_with(FIGURES));
        let found: Vec<PublishedFigures> =
            studies.map(|study| compare(&begun(&study), &Observations::default(), &figures).unwrap()).collect();
        for (at, table) in figures.tables.iter().enumerate() {
            for (number, row) in table.rows.iter().enumerate().filter(|(_, row)| row.of.is_some()) {
                let why = |beside: &PublishedFigures| beside.tables[at].rows[number].why.clone().unwrap();
                // Nothing was measured yet, which is said only of cells that are there.
                let is_filled = found.iter().map(why).any(|why| why.starts_with("this run has no measure "));
                let measure = row.measure.as_deref().or(table.measure.as_deref()).unwrap_or("throughput");
                let is_known = !measure.contains('.') || report::measures::words(measure).0 != measure;
                assert!(is_known, "{}: there is no measure {measure}", folder.display());
                assert!(is_filled, "{}: {}: {}", folder.display(), table.title, row.label);
            }
        }
    }
}
