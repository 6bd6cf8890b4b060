//! A study file, read and planned, for the commands that start from one.

use super::study_set;
use crate::exit::EndedWith;
use crate::host;
use analysis::findings::names;
use anyhow::Result;
use images::KernelChoice;
use platforms::huge_pages::HugePages;
use platforms::placement::UsableCpus;
use record::plan::Plan;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use study::{Against, Catalogs, FindingCode, Flaw, Host, StudyFiles, TypedPlan};

/// A study with every key of every kind and a comment for each takes a hundredth of this.
const LARGEST_BYTES: u64 = 4 << 20;

/// The plan of a study of our own, which has no file.
pub fn plan_of(text: &str) -> Result<TypedPlan> {
    let problems = |problems: Vec<Flaw>| EndedWith::bad_input(study::render(&problems, "study"));
    typed(plan(Path::new("study"), false, text, &host_here()?).map_err(problems)?)
}

fn typed(plan: Plan) -> Result<TypedPlan> {
    Ok(TypedPlan::read(plan, platforms::catalog::settings).map_err(|error| EndedWith::bad_input(error.to_string()))?)
}

/// A study that was checked for every problem and has none.
pub struct CheckedStudy {
    pub text: String,
    pub plan: TypedPlan,
    /// The host it was planned for.
    pub host: Host,
}

/// With `aa`, each contender is compared with itself. `set` are keys that are changed first.
pub fn planned(path: &Path, aa: bool, set: &[String]) -> Result<CheckedStudy> {
    let written = text(path).map_err(|error| EndedWith::bad_input(unreadable(path, &error)))?;
    let host = host_here()?;
    let with = |set: &[String]| study_set::with(written.clone(), set).map_err(EndedWith::bad_input);
    let text = with(set)?;
    let plan = plan(path, aa, &text, &host).map_err(|problems| {
        let lines = if set.is_empty() { "" } else { " (lines are those of the study with --set)" };
        let problems = study::render(&problems, &path.display().to_string());
        EndedWith::bad_input(format!("the study has problems{lines}\n{problems}"))
    })?;
    // Contenders, scenarios and the sweep come after the keys of the study.
    for (place, setting) in set.iter().enumerate().filter(|(_, setting)| !study_set::is_in(&written, setting)) {
        let others = [&set[..place], &set[place + 1..]].concat();
        if self::plan(path, aa, &with(&others)?, &host).is_ok_and(|without| without == plan) {
            return Err(EndedWith::bad_input(format!(
                "--set {setting} changes nothing: this is the default, or the sweep, the contenders or the scenarios set this key"
            ))
            .into());
        }
    }
    Ok(CheckedStudy { text, plan: typed(plan)?, host })
}

fn host_here() -> Result<Host> {
    Ok(Host {
        topology: UsableCpus::of_host(&host::cpus()?),
        memory_bytes: host::memory_bytes(),
        huge_pages: HugePages::read(Path::new("/")),
        kernel: KernelChoice::of_this_host(),
    })
}

fn plan(path: &Path, aa: bool, text: &str, host: &Host) -> std::result::Result<Plan, Vec<Flaw>> {
    let name = path.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy().into_owned());
    let against = if aa { Against::Itself } else { Against::Baseline };
    let codes = names().map(|(name, acceptable)| FindingCode { name, acceptable }).collect();
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let beside = folder.clone();
    let files = StudyFiles(Rc::new(move |named| self::text(&beside.join(named)).map_err(|error| error.to_string())));
    let recipes =
        StudyFiles(Rc::new(move |named| images::in_folder(&folder.join(named)).map_err(|error| error.to_string())));
    let catalogs = Catalogs { codes, files, recipes, ..Catalogs::standard() };
    study::plan(&name, text, against, &catalogs, host)
}

/// A missing study is usually a misspelt one, so this names others.
fn unreadable(path: &Path, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::NotFound {
        return format!("reading the study {}: {error}", path.display());
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_study = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml") && is_a_study(path);
    let files = [folder, Path::new("studies")].into_iter().filter_map(|folder| folder.read_dir().ok());
    let mut studies: Vec<PathBuf> = files.flatten().flatten().map(|entry| entry.path()).filter(is_study).collect();
    studies.sort();
    studies.dedup();
    let known: Vec<String> =
        studies.iter().map(|study| study.strip_prefix(".").unwrap_or(study).display().to_string()).collect();
    let stem = |study: &Path| study.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stems: Vec<String> = studies.iter().map(|study| stem(study)).collect();
    let near = settings::nearest(&stem(path), stems.iter().map(String::as_str));
    let instead = if let Some(place) = stems.iter().position(|stem| Some(stem.as_str()) == near) {
        format!("did you mean {}?", known[place])
    } else if known.is_empty() {
        "`bakeoff init` writes one".to_owned()
    } else {
        format!("there are: {}", known.join(", "))
    };
    format!("there is no study {}; {instead}", path.display())
}

/// Other programs have files of the same type.
fn is_a_study(path: &Path) -> bool {
    text(path).is_ok_and(|text| text.lines().any(|line| line.trim() == "[[contender]]"))
}

/// It need not be a file: a shell may pass the output of another program.
pub fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(io::Error::other(format!("it is larger than {} KiB; name another file", LARGEST_BYTES >> 10)));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The plan with only the trials selected by `--only`.
pub fn chosen(plan: &TypedPlan, only: &[String]) -> Result<TypedPlan> {
    let chosen = study::only(plan, only).map_err(|error| EndedWith::bad_input(format!("--only: {error}")))?;
    Ok(plan.with(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_study_is_not_read_to_its_end() {
        assert_eq!(
            text(Path::new("/dev/zero")).unwrap_err().to_string(),
            "it is larger than 4096 KiB; name another file"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, b"question = \"\xff\"").unwrap();
        assert!(text(&path).unwrap_err().to_string().contains("utf-8"));
    }
}
