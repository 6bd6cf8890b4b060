//! A study file, read and planned, for the commands that start from one.

use crate::exit::Ended;
use crate::host;
use anyhow::Result;
use platforms::huge_pages::HugePages;
use platforms::placement::Topology;
use record::plan::Plan;
use std::path::Path;
use study::{Against, Catalogs, Host};

/// A study whose every problem was looked for and not found.
pub struct Planned {
    pub text: String,
    pub plan: Plan,
    /// What it was planned for.
    pub host: Host,
}

/// With `aa`, each contender is compared with itself.
pub fn planned(path: &Path, aa: bool) -> Result<Planned> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Ended::bad_input(format!("reading the study {}: {error}", path.display())))?;
    let name = path.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy().into_owned());
    let host = Host {
        topology: Topology::of_host(&host::cpus()?),
        memory_bytes: host::memory_bytes(),
        huge_pages: HugePages::read(Path::new("/")),
    };
    let against = if aa { Against::Itself } else { Against::Baseline };
    let plan = study::plan(&name, &text, against, &Catalogs::standard(), &host).map_err(|problems| {
        Ended::bad_input(format!("the study has problems\n{}", study::render(&problems, &path.display().to_string())))
    })?;
    Ok(Planned { text, plan, host })
}

/// The plan with the trials that `--only` leaves.
pub fn chosen(plan: &Plan, only: &[String]) -> Result<Plan> {
    Ok(study::only(plan, only).map_err(|error| Ended::bad_input(format!("--only: {error}")))?)
}
