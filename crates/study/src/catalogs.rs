//! The kinds of engines, workloads and platforms that a study may name, and their keys.

use crate::accept::FindingCode;
use images::Recipe;
use platforms::entry::{FindSettings, PlatformEntry};
use record::plan::WorkloadNote;
use serde_json::{Map, Value};
use settings::Key;
use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use workloads::catalog::AnyWorkload;

/// The part of a catalog entry that a study needs.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub kind: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
    /// True if sessions may come from outside the machine; only engines have this.
    pub remote: bool,
    /// True if who works, and for how long, is not decided by `[load]`; only workloads have this.
    pub own_phases: bool,
}

/// Makes a workload from its checked table, as far as that needs no database. The last value is the engine's kind.
pub type WorkloadCheck = fn(&str, &Map<String, Value>, Option<&str>) -> Result<WorkloadNote, Vec<settings::Problem>>;

/// Space that the loaded data of a workload take on an engine: the engine's kind, the workload's, and its table.
pub type DataBytes = fn(&str, &str, &Map<String, Value>) -> Option<u64>;

/// Reads what a study names by its path, the text of a file or the recipes in a folder, or returns why it cannot be read.
#[derive(Clone)]
pub struct StudyFiles<Read = String>(pub Rc<ReadFile<Read>>);

type ReadFile<Read> = dyn Fn(&str) -> Result<Read, String>;

impl<Read: 'static> StudyFiles<Read> {
    /// No file can be read.
    pub fn none() -> Self {
        Self(Rc::new(|_| Err("no file can be read here".to_owned())))
    }
}

impl<Read> fmt::Debug for StudyFiles<Read> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Files")
    }
}

/// Everything that a study may name.
#[derive(Debug, Clone)]
pub struct Catalogs {
    pub engines: Vec<Kind>,
    pub workloads: Vec<Kind>,
    pub platforms: Vec<Kind>,
    /// The recipes that images can be built from. Those of a folder that the study names come last.
    pub images: Vec<Recipe>,
    /// Reads the recipes in a folder. [`Self::standard`] has no reader.
    pub recipes: StudyFiles<Vec<Recipe>>,
    /// Callers that may read files put a reader here; [`Self::standard`] has none.
    pub files: StudyFiles,
    /// Codes of findings. The analysis knows them, so [`Self::standard`] has none.
    pub codes: Vec<FindingCode>,
    /// What a reader of the results must know about a workload, or why its table is wrong.
    pub check_workload: WorkloadCheck,
    /// Reads the checked table of a platform.
    pub platform_settings: FindSettings,
    pub data_bytes: DataBytes,
}

impl Catalogs {
    /// The catalogs of this build.
    pub fn standard() -> Self {
        let plain = |kind, meaning, keys| Kind { kind, meaning, keys, remote: false, own_phases: false };
        let engine = |entry: &engines::entry::EngineEntry| Kind {
            remote: entry.remote,
            ..plain(entry.kind, entry.meaning, entry.keys)
        };
        let workload = |entry: &workloads::entry::WorkloadEntry| Kind {
            own_phases: entry.own_phases,
            ..plain(entry.kind, entry.meaning, entry.keys)
        };
        let platform = |entry: &PlatformEntry| plain(entry.kind, entry.meaning, entry.keys);
        Self {
            engines: engines::catalog::ENGINES.iter().map(engine).collect(),
            workloads: workloads::catalog::WORKLOADS.iter().map(workload).collect(),
            platforms: platforms::catalog::PLATFORMS.iter().map(platform).collect(),
            // A test holds that the recipes of this build can be read.
            images: images::catalog(None).unwrap_or_default(),
            recipes: StudyFiles::none(),
            files: StudyFiles::none(),
            codes: Vec::new(),
            check_workload,
            platform_settings: platforms::catalog::settings,
            data_bytes: crate::data_size::data_bytes,
        }
    }
}

fn check_workload(
    kind: &str,
    table: &Map<String, Value>,
    engine: Option<&str>,
) -> Result<WorkloadNote, Vec<settings::Problem>> {
    let workload = AnyWorkload::from_table(kind, table)?;
    if let Some(engine) = engine.and_then(engines::catalog::entry) {
        workload.dataset().check_dialect(engine.dialect)?;
    }
    Ok(note(kind, &workload))
}

/// What a reader of a workload's results must know.
pub fn note(kind: &str, workload: &AnyWorkload) -> WorkloadNote {
    let dataset = workload.dataset();
    WorkloadNote {
        kind: kind.to_owned(),
        notice: dataset.entry().notice.to_owned(),
        deviations: dataset.deviations().into_iter().map(Cow::into_owned).collect(),
    }
}
