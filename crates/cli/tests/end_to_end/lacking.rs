//! Hosts that lack something: a tool, a network, room. There is a clear message, exit code 3, nothing half made, and
//! the run continues once the thing is there.

use crate::runs::{ORDERS, small, study, with_time};
use crate::setting::{NOT_USABLE, Place, cache, can_mount, has_qemu, missing, text};
use crate::starved::counts_or_was_starved;
use record::trial::Outcome;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const VM: &str = "[[contender]]\nname = \"vm\"\nplatform = { kind = \"qemu\", accelerator = \"tcg\" }\n";
const LACKS: Option<i32> = Some(3);

/// The files below a folder, as relative paths.
fn files_in(folder: &Path) -> Vec<String> {
    let output = Command::new("find").arg(folder).args(["-type", "f", "-printf", "%P\n"]).output().unwrap();
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// A PATH with everything that is on ours except one program.
pub fn path_without(program: &str, place: &Place) -> std::path::PathBuf {
    let folder = place.folder.path().join("programs");
    std::fs::create_dir(&folder).unwrap();
    for from in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
            if entry.file_name() != program {
                // For a program in two folders, the first one counts.
                let _ = std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name()));
            }
        }
    }
    folder
}

#[test]
fn a_host_without_qemu_is_told_its_package_before_anything_begins() {
    let place = Place::new(&study("sqlite", "512MiB", VM));
    let path = path_without("qemu-system-x86_64", &place);
    let output = place.command(&["run", "study.toml"]).env("PATH", &path).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), LACKS, "{told}");
    assert!(told.contains("qemu-system-x86_64, for platform qemu"), "{told}");
    assert!(told.contains("apt-get install qemu-system-x86"), "{told}");
    assert!(!place.folder.path().join("runs").exists(), "something was begun");
    let plan = |more: &[&str]| {
        let mut command = place.command(&[&["plan", "study.toml"], more].concat());
        let output = command.env("PATH", &path).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (code, told) = plan(&[]);
    assert!(code == LACKS && told.contains("qemu-system-x86_64"), "{told}");
    let (code, told) = plan(&["--only", "native"]);
    assert!(code == Some(0) && !told.contains("qemu"), "a contender left out needs no tool: {told}");
}

#[test]
fn without_ssh_no_other_host_measures_or_drives() {
    let outside = "[[contender]]\nname = \"there\"\nplatform = { kind = \"host\", host = \"db-1\" }\n";
    let place = Place::new(&study("postgres", "512MiB", outside));
    let path = path_without("ssh", &place);
    let plan = |only: &str| {
        let mut command = place.command(&["plan", "study.toml", "--only", only]);
        text(&command.env("PATH", &path).output().unwrap().stderr)
    };
    assert!(plan("there").contains("ssh, for other hosts"), "{}", plan("there"));
    assert!(!plan("native").contains("ssh"), "{}", plan("native"));
    let from = "[load]\nplacement = \"outside\"\nfrom = [\"load-1\"]";
    std::fs::write(place.folder.path().join(place.study()), study("postgres", "512MiB", "").replace("[load]", from))
        .unwrap();
    assert!(plan("native").contains("ssh, for other hosts"), "{}", plan("native"));
}

#[test]
fn a_host_without_a_runtime_is_told_its_package_before_anything_begins() {
    let contender = |runtime: &str| {
        format!("[[contender]]\nname = \"c\"\nplatform = {{ kind = \"oci\", runtime = \"{runtime}\" }}\n")
    };
    let place = Place::new(&study("sqlite", "512MiB", &contender("crun")));
    let path = path_without("crun", &place);
    let output = place.command(&["run", "study.toml"]).env("PATH", &path).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), LACKS, "{told}");
    assert!(told.contains("crun, for runtime = \"crun\" on platform oci"), "{told}");
    assert!(told.contains("apt-get install crun"), "{told}");
    let place = Place::new(&study("sqlite", "512MiB", &contender("/nowhere/crun")));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), LACKS, "{told}");
    assert!(told.contains("contender c: runtime = \"/nowhere/crun\" cannot be used"), "{told}");
    assert!(!place.folder.path().join("runs").exists(), "something was begun");
}

#[test]
fn contenders_whose_platform_is_missing_are_skipped_if_that_is_asked_for() {
    if missing("root", can_mount()) {
        return;
    }
    let contender =
        |name: &str, platform: &str| format!("[[contender]]\nname = \"{name}\"\nplatform = {{ {platform} }}\n");
    let more = contender("crun", "kind = \"oci\", runtime = \"crun\"")
        + &contender("other", "kind = \"oci\", runtime = \"/nowhere/runc\"")
        + &contender("libvirt", "kind = \"libvirt\", uri = \"qemu+unix:///system?socket=/nowhere\"");
    let place = Place::new(&small("sqlite", "512MiB", &more));
    let path = path_without("crun", &place);
    let run = |more: &[&str]| {
        let mut command = place.command(&[&["run", "study.toml"], more].concat());
        let output = command.env("PATH", &path).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (code, told) = run(&[]);
    assert_eq!(code, LACKS, "{told}");
    assert!(told.contains("--skip-missing runs the study without crun, other, libvirt"), "{told}");

    let (code, told) = run(&["--skip-missing"]);
    let trials = place.record().trials;
    assert_eq!(trials.len(), 4);
    let is_measured = trials.iter().any(|trial| trial.record.outcome == Outcome::Completed);
    assert_eq!(code, Some(if is_measured { 5 } else { 4 }), "{told}");
    for trial in trials {
        let expected = match trial.record.contender.as_str() {
            "native" => {
                assert!(counts_or_was_starved(&trial.record), "{:?}", trial.record.outcome);
                continue;
            }
            "crun" => "crun is not installed (on Debian: apt-get install crun)",
            "other" => "runtime = \"/nowhere/runc\" cannot be used",
            _ => "no libvirtd listens at /nowhere",
        };
        let Outcome::Skipped { why } = &trial.record.outcome else { panic!("{:?}", trial.record.outcome) };
        assert!(why.contains(expected), "{why}");
    }
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    assert!(page.contains("crun was skipped: crun is not installed"), "{page}");
}

/// Runs a shell script in mount and network namespaces of its own; its mounts disappear when it ends.
fn apart(place: &Place, script: &str, namespaces: &[&str]) -> Output {
    let mut command = Command::new("unshare");
    command.args(namespaces).args(["--mount", "--propagation", "private", "--", "sh", "-euc", script]);
    command.current_dir(place.folder.path()).stdin(Stdio::null());
    command.env("BAKEOFF", env!("CARGO_BIN_EXE_bakeoff")).env("STUDY", place.study()).env("CACHE", cache());
    command.env("BAKEOFF_QUEUE", place.study());
    command.env("BAKEOFF_CACHE", place.folder.path().join("cache")).output().unwrap()
}

/// An image cannot be built: the message says what is missing, nothing is begun, and the cache stays as empty as it was.
fn no_image(script: &str, namespaces: &[&str], expected: &[&str]) {
    if missing("root", can_mount()) || missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&study("sqlite", "512MiB", VM).replace("blocks = 2", "blocks = 1"));
    let output = apart(&place, script, namespaces);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), LACKS, "{told}");
    for part in expected {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
    assert!(!place.folder.path().join("runs").exists(), "something was begun");
    assert_eq!(files_in(&place.folder.path().join("cache")), Vec::<String>::new());
}

#[test]
fn an_image_cannot_be_built_without_mmdebstrap() {
    let script = "mount --bind /dev/null \"$(command -v mmdebstrap)\"\n\"$BAKEOFF\" run \"$STUDY\"";
    no_image(script, &[], &["mmdebstrap is not installed", "apt-get install mmdebstrap"]);
}

#[test]
fn an_image_cannot_be_built_without_a_network() {
    no_image("\"$BAKEOFF\" run \"$STUDY\"", &["--net"], &["cannot be reached; check network"]);
}

#[test]
fn a_study_without_guests_needs_no_kernel_for_them() {
    if missing("root", can_mount()) || missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&small("sqlite", "512MiB", ""));
    let output = apart(&place, "\"$BAKEOFF\" run \"$STUDY\"", &["--net"]);
    assert_eq!(output.status.code(), NOT_USABLE, "{}", text(&output.stderr));
    let kernels = std::fs::read_dir(place.folder.path().join("cache/kernels")).unwrap();
    assert_eq!(kernels.count(), 0, "there is no network to fetch one from, and no use for it");
}

/// A cache with images and no other room; then one that fills up while data are loaded, and in the middle of a trial.
const FULL_CACHE: &str = r#"
mkdir cache
mount -t tmpfs -o size=40m,mode=755 tmpfs cache
for part in kernels trees; do
    mkdir "cache/$part"
    mount --bind "$CACHE/$part" "cache/$part"
done
run() { "$BAKEOFF" run "$STUDY" "$@" > /dev/null && code=0 || code=$?; }

"$BAKEOFF" plan "$STUDY" 2> planned.txt > /dev/null || echo "planned $?"
sed 's/^kind = "sqlite"/&\ninstances = 2/' "$STUDY" > two.toml
"$BAKEOFF" plan two.toml 2> two.txt > /dev/null || echo "two planned $?"
run 2> early.txt; echo "early $code"
find . -xdev -name runs
mount -o remount,size=400m cache

# Runs until a line ends so, and then takes all the room that is left.
mkfifo said
fill_at() {
    words=$1; told=$2; shift 2
    "$BAKEOFF" run "$STUDY" --verbose "$@" > /dev/null 2> said & running=$!
    exec 3< said
    while read -r line <&3; do
        echo "$line" >> "$told"
        case $line in *"$words"*) break ;; esac
    done
    dd if=/dev/zero of=cache/filler bs=1M 2> /dev/null || true
    cat <&3 >> "$told"
    wait "$running" && code=0 || code=$?
    rm cache/filler
}
fill_at "data of sysbench-oltp" loading.txt; echo "loading $code"
find cache -xdev -path 'cache/data/*' -size +0
fill_at ": measure" measuring.txt --resume; echo "measuring $code"
find runs -name trial.json
run --resume 2> resumed.txt; echo "resumed $code"
"#;

#[test]
fn a_cache_without_room_ends_the_run_which_goes_on_when_there_is_some() {
    if missing("root", can_mount()) || missing("qemu", has_qemu()) {
        return;
    }
    let rows = "kind = \"sysbench-oltp\"\ntables = 1\ntable_size = 200000";
    let study = study("sqlite", "512MiB", "").replace("blocks = 2", "blocks = 1").replace(ORDERS, rows);
    let place = Place::new(&study);
    // The image must be in the cache that the script sees.
    assert_eq!(place.bakeoff(&["image", "build", "micro"]).status.code(), Some(0));
    let output = apart(&place, FULL_CACHE, &[]);
    let said = |name: &str| std::fs::read_to_string(place.folder.path().join(name)).unwrap_or_default();
    let told = text(&output.stderr);
    assert_eq!(
        text(&output.stdout),
        "planned 3\ntwo planned 3\nearly 3\nloading 3\nmeasuring 3\nresumed 12\n",
        "{told}{}",
        said("loading.txt")
    );
    let in_one_line = |name: &str| said(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let needed = |name: &str| {
        let told = in_one_line(name);
        let mebibytes = told.split(" MiB for data that are to be loaded").next().unwrap().rsplit(' ').next().unwrap();
        mebibytes.parse::<f64>().unwrap_or_else(|error| panic!("{error} in {told}"))
    };
    assert!((needed("two.txt") - 2.0 * needed("planned.txt")).abs() < 0.2, "a second database takes as much again");
    for early in [in_one_line("planned.txt"), in_one_line("early.txt")] {
        assert!(early.contains("the run needs about ") && early.contains(" are free there"), "{early}");
    }
    let (loading, measuring) = (said("loading.txt"), said("measuring.txt"));
    assert!(loading.contains("the host's disk is full") && loading.contains("cache/data"), "{loading}");
    assert!(loading.contains("` goes on"), "{loading}");
    assert!(measuring.contains("the host's disk is full: 0 MiB are left for"), "{measuring}");
    assert!(measuring.contains("cache/scratch"), "{measuring}");
    let run = place.record();
    assert_eq!(run.trials.len(), 1);
    assert_eq!(run.trials[0].record.outcome, Outcome::Completed);
}

/// A place for runs without room for the beginning of a run, then without room for a trial, then with enough.
const FULL_RUNS: &str = r#"
umask 000
mkdir runs
mount -t tmpfs -o size=8k tmpfs runs
export BAKEOFF_CACHE="$CACHE"
run() { "$BAKEOFF" run "$STUDY" "$@" > /dev/null && code=0 || code=$?; }

run 2> beginning.txt; echo "beginning $code"
find runs -mindepth 1
mount -o remount,size=40k runs

run 2> recording.txt; echo "recording $code"
find runs -name trial.json -o -name '*.partial'
mount -o remount,size=10m runs

run --resume 2> resumed.txt; echo "resumed $code"
find runs -mindepth 1 -perm /022
mount -o remount,ro runs
run 2> reading.txt; echo "reading $code"
cp -a runs kept
umount runs
cp -a kept/. runs
"#;

#[test]
fn a_record_without_room_ends_the_run_which_goes_on_when_there_is_some() {
    if missing("root", can_mount()) || missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&with_time(&small("sqlite", "512MiB", "")));
    let output = apart(&place, FULL_RUNS, &[]);
    let said = |name: &str| std::fs::read_to_string(place.folder.path().join(name)).unwrap_or_default();
    assert_eq!(
        text(&output.stdout),
        "beginning 3\nrecording 3\nresumed 12\nreading 3\n",
        "{}{}",
        text(&output.stderr),
        said("resumed.txt")
    );
    for (name, file) in [("beginning.txt", "plan.json"), ("recording.txt", "trials/0001/")] {
        let told = said(name);
        assert!(told.contains("writing runs/") && told.contains(file), "{told}");
        assert_eq!(told.matches("No space left on device").count(), 1, "{told}");
    }
    let run = place.record();
    assert_eq!(run.trials.len(), 1);
    assert_eq!(run.trials[0].record.outcome, Outcome::Completed);
    does_not_go_on_elsewhere(&place);
}

/// With its trial still to be carried out, and begun under another kernel.
fn does_not_go_on_elsewhere(place: &Place) {
    let run = place.run_folder();
    std::fs::remove_dir_all(run.join("trials/0001")).unwrap();
    let host = run.join("host.json");
    let mut facts: serde_json::Value = serde_json::from_slice(&std::fs::read(&host).unwrap()).unwrap();
    facts["kernel.release"]["known"] = "0.1".into();
    std::fs::write(&host, facts.to_string()).unwrap();
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("begun on another host or kernel: kernel.release was 0.1 and is"), "{told}");
    assert!(!run.join("trials/0001").exists(), "it went on");
}

/// A run of a native contender, started with limits of its own.
fn limited(limit: &str) -> (Option<i32>, String) {
    let place = Place::new(&small("sqlite", "512MiB", ""));
    let bakeoff = place.command(&[]);
    let script = format!("{limit}; exec \"$0\" run \"$1\"");
    let mut command = Command::new("sh");
    command.args(["-euc", &script]).arg(bakeoff.get_program()).arg(place.study()).current_dir(place.folder.path());
    command.env("BAKEOFF_CACHE", place.cache()).env("BAKEOFF_QUEUE", place.study());
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_limit_of_a_files_size_is_told_before_anything_begins() {
    let (code, told) = limited("ulimit -f 100");
    assert_eq!(code, LACKS, "{told}");
    assert!(told.contains("no file may be larger than 50 KiB here; ulimit -f"), "{told}");
}

#[test]
fn a_limit_of_open_files_met_in_a_trial_ends_the_run() {
    if missing("root", can_mount()) || missing("qemu", has_qemu()) {
        return;
    }
    // A soft limit is raised to the hard one. So shared things are made beforehand, with room for them.
    let (code, told) = limited("ulimit -S -n 15");
    assert_eq!(code, NOT_USABLE, "{told}");
    let (code, told) = limited("ulimit -n 15");
    assert_eq!(code, LACKS, "{told}");
    let limit = "the limit of 15 files open at once in one process was met; ulimit -n";
    assert_eq!(told.matches(limit).count(), 1, "{told}");
    assert!(told.contains("` goes on"), "{told}");
}
