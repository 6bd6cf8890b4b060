//! README and docs match the binary: every command that they name, and every code of a finding.

use crate::setting::{Place, missing, text};
use analysis::findings::{CODES, Code, FindingKind, Severity, Stamp};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Stand-ins for the commands in the pages. `bakeoff` is asked for help after the arguments shown, so it accepts them
/// or says what is wrong. `make` only prints what it would do; `ls` finds a run. Other programs are outside this test.
const STAND_INS: &str = r#"
bakeoff() {
    echo >> tried
    "$BAKEOFF" "$@" --help > said 2>&1 || echo "bakeoff $*: $(head -n 1 said)" >> wrong
}
make() {
    command make --directory "$ROOT" --dry-run "$@" > said 2>&1 || echo "make $*: $(tail -n 1 said)" >> wrong
}
ls() { echo RUN; }
cargo() { :; }
command_not_found_handle() { :; }
"#;

/// The doubts whose size is known, if the readings are there (`reach::of` of the crate `analysis`).
const SIZED: [&str; 13] = [
    "clock-wrong",
    "host-busy-beside-one",
    "host-busy",
    "host-disk-busy-beside-one",
    "host-cpu-stolen",
    "host-memory-short",
    "host-frequency",
    "not-steady",
    "halves-unlike",
    "warm-up-too-short",
    "window-too-short",
    "transactions-failed",
    "not-honoured",
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The shell blocks of a page, and each of our commands within a sentence.
fn shell_of(page: &str) -> Vec<String> {
    let mut scripts = Vec::new();
    let mut fence: Option<&str> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), fence) {
            (Some(language), None) => {
                fence = Some(language);
                scripts.extend((language == "sh").then(String::new));
            }
            (Some(_), Some(_)) => fence = None,
            (None, Some("sh")) => {
                let script = scripts.last_mut().expect("the fence began it");
                writeln!(script, "{line}").expect("text grows");
            }
            (None, Some(_)) => {}
            (None, None) => {
                let spans = line.split('`').skip(1).step_by(2);
                scripts.extend(spans.filter(|span| span.starts_with("bakeoff ")).map(str::to_owned));
            }
        }
    }
    scripts
}

/// How many of our commands were tried, and what is wrong with them.
fn try_out(script: &str) -> (usize, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("{STAND_INS}{script}\n")]).current_dir(folder.path()).stdin(Stdio::null());
    shell.env("BAKEOFF", env!("CARGO_BIN_EXE_bakeoff")).env("ROOT", root());
    let ended = shell.output().expect("bash");
    let said = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let shell_says = text(&ended.stderr);
    let syntax = shell_says.lines().filter(|line| line.contains("syntax error") || line.contains("unexpected"));
    let wrong = said("wrong") + &syntax.map(|line| line.to_owned() + "\n").collect::<String>();
    (said("tried").lines().count(), wrong)
}

/// Applies `carry_out` to each script in README and docs. It returns how many commands it met, and what is wrong with them.
pub fn go_through(carry_out: impl Fn(&str) -> (usize, String)) {
    let docs = ["docs", "docs/workloads"].map(|folder| std::fs::read_dir(root().join(folder)).expect("docs").flatten());
    let docs = docs.into_iter().flatten().map(|entry| entry.path());
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"].map(|page| root().join(page));
    let pages = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).chain(top);
    let (mut met, mut wrong) = (0, String::new());
    for page in pages {
        for script in shell_of(&read(&page)) {
            let (commands, faults) = carry_out(&script);
            met += commands;
            if !faults.is_empty() {
                write!(wrong, "{}: {faults}", page.display()).expect("text grows");
            }
        }
    }
    assert_eq!(wrong, "");
    assert!(met > 40, "only {met} commands were found");
}

#[test]
fn the_binary_takes_every_command_of_the_docs() {
    go_through(try_out);
}

#[test]
fn a_command_of_the_docs_that_is_wrong_is_found() {
    let page = "`bakeoff run STUDY --no-such-option`\n```sh\nbakeoff frobnicate | cat\nmake no-such-target\n```\n```sh\nif\n```\n";
    let faults: Vec<String> = shell_of(page).iter().map(|script| try_out(script).1).collect();
    for (fault, word) in faults.iter().zip(["'--no-such-option'", "'frobnicate'", "syntax error"]) {
        assert!(fault.contains(word), "{word}: {faults:?}");
    }
    assert!(faults[1].contains("make no-such-target"), "{faults:?}");
}

/// The table of docs/findings.md is the catalog of the codes. `BLESS=1` writes it.
#[test]
fn the_docs_have_the_catalog_of_findings() {
    let file = root().join("docs/findings.md");
    let page = read(&file);
    let (before, rest) = page.split_once("| code | it says |").expect("the table");
    let (_, after) = rest.split_once("\n\n").expect("the end of the table");
    let rows: String = CODES.iter().map(row).collect();
    let title = "| code | it says | limit | kinds, their use, and what to do |\n| --- | --- | --- | --- |\n";
    let expected = format!("{before}{title}{rows}\n{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "docs/findings.md is not the catalog of analysis/src/findings/catalog.rs: BLESS=1 writes it"
    );
}

fn row(code: &Code) -> String {
    let of_kind = |kind: &FindingKind| {
        let severity = match kind.severity {
            Severity::Serious => "warning",
            Severity::Caution => "caution",
        };
        let stamp = match kind.stamp {
            Stamp::Usable => "usable",
            Stamp::WithCare => "with care",
            Stamp::NotUsable => "not usable",
        };
        let by_size = if SIZED.contains(&kind.name) { "by size, else " } else { "" };
        let name = if code.kinds.len() > 1 { format!("`{}`, ", kind.name) } else { String::new() };
        format!("{name}{severity}, {by_size}{stamp}: {}", kind.remedy)
    };
    let kinds: Vec<String> = code.kinds.iter().map(of_kind).collect();
    let mark = if code.acceptable { "" } else { " *" };
    format!("| `{}`{mark} | {} | {} | {} |\n", code.name, code.meaning, code.limit, kinds.join("<br>"))
}

/// With the library that the page names, from Python's index.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn the_percentile_that_the_docs_compute_in_python_is_that_of_the_report() {
    let has_pip = Command::new("python3").args(["-c", "import ensurepip, venv"]).output();
    if missing("python", has_pip.is_ok_and(|ended| ended.status.success())) {
        return;
    }
    let place = Place::new(&read(&root().join("studies/quickstart.toml")));
    let run = place.bakeoff(&["run", "study.toml", "--rehearse"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let page = read(&root().join("docs/formats.md"));
    let snippet = page.split("```python\n").find(|part| part.starts_with("import math")).expect("the snippet");
    let snippet = snippet.split("```").next().expect("its end").replace("8_000:", "3_000:");
    let python = place.folder.path().join("python/bin/python3");
    let of_system = |program: &Path, arguments: &[&str]| {
        let ended = Command::new(program).args(arguments).current_dir(place.run_folder().join("trials/0001")).output();
        let ended = ended.expect("Python, with its venv");
        assert!(ended.status.success(), "{}{}", text(&ended.stdout), text(&ended.stderr));
        text(&ended.stdout)
    };
    of_system(Path::new("python3"), &["-m", "venv", &place.folder.path().join("python").to_string_lossy()]);
    of_system(&python, &["-m", "pip", "install", "--quiet", "hdrhistogram"]);
    let computed = of_system(&python, &["-c", &snippet]);
    let observations = read(&place.run_folder().join("observations.csv"));
    let ours = observations.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let mut ours = ours.filter(|cells| cells.get(1) == Some(&"1") && cells.contains(&"response.p99/new-order"));
    let value = ours.next().and_then(|cells| cells.get(7).copied()).expect("the p99 of the first trial");
    assert_eq!(computed, format!("{value} µs\n"));
}
