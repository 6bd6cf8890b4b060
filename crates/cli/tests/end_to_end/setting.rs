//! Where tests find things, and what they do if a part is missing.

use crate::running::{below, send};
use record::folder::RunFolder;
use record::trial::Outcome;
use rustix::process::Signal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Once, OnceLock};
use std::time::Duration;

const STUDY: &str = "study.toml";
/// With one of these options, `--verbose` is not added.
const NOT_ALL: [&str; 2] = ["--quiet", "--json"];
const TEMPORARY: &str = "temporary";
/// Parts of the cache that are kept between test runs, and loaded data.
const MADE: [&str; 4] = ["trees", "kernels", "initramfs", "kvm"];
const DATA: &str = "data";

/// All tests together take a quarter of an hour on two CPUs.
const LONGEST: Duration = Duration::from_mins(45);

/// Makes a failure of what would hang for ever: in the end, everything that tests have started is killed.
fn end_in_time() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        drop(std::thread::spawn(|| {
            let (_held, never) = channel::<()>();
            let _ = never.recv_timeout(LONGEST);
            eprintln!("the tests took {} minutes: everything that they have started is killed", LONGEST.as_secs() / 60);
            for process in below(std::process::id()) {
                send(process, Signal::KILL);
            }
        }));
    });
}

/// Skips a test with a message if a part is missing, or fails it if `REQUIRE` names that part.
#[must_use]
pub fn missing(part: &str, is_there: bool) -> bool {
    end_in_time();
    let required = std::env::var("REQUIRE").unwrap_or_default();
    assert!(is_there || !required.split(',').any(|name| name == part), "{part} is required but not here");
    if !is_there {
        eprintln!("SKIPPED: {part} is not here");
    }
    !is_there
}

pub fn has_qemu() -> bool {
    on_path("qemu-system-x86_64") && on_path("mmdebstrap")
}

/// True if tests may mount in a namespace of their own, which root may do where it is not forbidden.
pub fn can_mount() -> bool {
    let tried = Command::new("unshare").args(["--mount", "--net", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    tried.is_ok_and(|output| output.status.success())
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The program under test. Each run links to it, or copies it from another file system. So where temporary files are on one of their
/// own, as in memory, it is copied there once, for all tests.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_bakeoff"));
        let (found, folder) = (built.metadata().expect("a program"), std::env::temp_dir());
        if folder.metadata().is_ok_and(|folder| folder.dev() == found.dev()) {
            return built.to_owned();
        }
        let place = folder.join(format!("under-test-{}-{}", found.ino(), found.mtime()));
        let copy = place.join("bakeoff");
        if !copy.exists() {
            std::fs::create_dir_all(&place).expect("a folder for the program");
            let unfinished = place.join(format!("{}.unfinished", std::process::id()));
            std::fs::copy(built, &unfinished).expect("a copy of the program");
            // A test that was quicker runs it already, so it must not be replaced.
            let _ = std::fs::hard_link(&unfinished, &copy);
            std::fs::remove_file(&unfinished).expect("its other name");
        }
        copy
    })
}

/// What is kept between test runs.
pub fn cache() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_bakeoff"));
    let target = binary.ancestors().nth(3).expect("the binary lies in target/TRIPLE/PROFILE");
    target.join("test-cache")
}

/// A folder with one study in it, and the binary to run it with. Its cache shares images and loaded data with all others, and has its
/// own folder for what runs need for a while.
pub struct Place {
    pub folder: tempfile::TempDir,
    /// Different from that of any other test, since run folders and scratch folders are named after it.
    study: String,
    cache: PathBuf,
    /// Tests run in parallel, so each place has its own queue.
    queue: String,
}

impl Place {
    pub fn new(study: &str) -> Self {
        static PLACES: AtomicU32 = AtomicU32::new(0);
        end_in_time();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = format!("{}x{}-{STUDY}", std::process::id(), PLACES.fetch_add(1, Ordering::Relaxed));
        std::fs::write(folder.path().join(&name), study).expect("writing the study");
        std::fs::create_dir(folder.path().join(TEMPORARY)).expect("a folder for temporary files");
        let cache = folder.path().join("common");
        std::fs::create_dir(&cache).expect("a cache");
        let place = Self { folder, queue: name.clone(), study: name, cache };
        MADE.iter().chain([&DATA]).for_each(|part| place.share(part));
        place
    }

    /// Makes a part of the cache that of all tests.
    fn share(&self, part: &str) {
        let shared = cache().join(part);
        std::fs::create_dir_all(&shared).expect("a shared part of the cache");
        std::os::unix::fs::symlink(shared, self.cache.join(part)).expect("a link to it");
    }

    /// A place whose runs wait for those of another place.
    pub fn behind(other: &Self, study: &str) -> Self {
        Self { queue: other.queue.clone(), ..Self::new(study) }
    }

    /// A place with its own loaded data. It shares the images of all tests, among them the named recipe's.
    pub fn apart(study: &str, recipe: &str) -> Self {
        let place = Self::new(study);
        assert_eq!(place.bakeoff(&["image", "build", recipe]).status.code(), Some(0), "the image of {recipe}");
        std::fs::remove_file(place.cache.join(DATA)).expect("the link to the data of all tests");
        place
    }

    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Where runs of this place put temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join(TEMPORARY)
    }

    /// The word "study.toml" stands for this place's study. Runs print every step, so that tests can wait for it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments.iter().map(|word| if *word == STUDY { &self.study } else { *word }));
        if arguments.first() == Some(&"run") && !arguments.iter().any(|word| NOT_ALL.contains(word)) {
            command.arg("--verbose");
        }
        command.current_dir(self.folder.path()).env("BAKEOFF_CACHE", &self.cache).env("TMPDIR", self.temporary());
        command.env("BAKEOFF_QUEUE", &self.queue).stdin(Stdio::null());
        command
    }

    /// The name of the study's file, in the folder.
    pub fn study(&self) -> &str {
        &self.study
    }

    pub fn bakeoff(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("running bakeoff")
    }

    /// The only run folder.
    pub fn run_folder(&self) -> PathBuf {
        self.begun_run().expect("a run")
    }

    /// The only run, if it has a plan: a run that is killed early has no folder yet, or one without a plan.
    pub fn begun_run(&self) -> Option<PathBuf> {
        let runs = std::fs::read_dir(self.folder.path().join("runs")).into_iter().flatten().flatten();
        let mut begun = runs.map(|run| run.path()).filter(|run| RunFolder::is_at(run));
        let first = begun.next();
        assert!(begun.next().is_none(), "more than one run");
        first
    }

    pub fn record(&self) -> record::run::Run {
        record::run::Run::open(&self.run_folder()).expect("a readable run")
    }
}

/// How a run ends whose trials count, but not its answers: without an interval, as of fewer than three blocks, none is usable.
pub const NOT_USABLE: Option<i32> = Some(12);

/// How a run ends whose answers are not usable, with or without a trial that is no measurement.
pub fn end_of(all_completed: bool) -> Option<i32> {
    if all_completed { NOT_USABLE } else { Some(4) }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All trials have a result; returns whether all of them count. On a machine that does other things besides, some may be no
/// measurement.
pub fn none_failed(place: &Place, trials: usize) -> bool {
    let run = place.record();
    let outcomes: Vec<&Outcome> = run.trials.iter().map(|trial| &trial.record.outcome).collect();
    let has_result = |outcome: &&Outcome| matches!(outcome, Outcome::Completed | Outcome::Invalid { .. });
    assert!(outcomes.len() == trials && outcomes.iter().all(has_result), "{outcomes:?}");
    outcomes.iter().all(|outcome| **outcome == Outcome::Completed)
}
