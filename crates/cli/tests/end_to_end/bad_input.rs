//! Bad input: a clear message, the right exit code, nothing started.

use crate::runs::study;
use crate::setting::{Place, text};
use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

const GOOD: &str = r#"
question = "Does it work?"
blocks = 1
[machine]
vcpus = 1
memory = "512MiB"
[engine]
kind = "sqlite"
[workload]
kind = "order-entry"
warehouses = 1
[load]
clients = 1
warmup = "1s"
measure = "1s"
[[contender]]
name = "native"
platform = { kind = "native" }
"#;

fn refused(study: &str, expected: &[&str]) {
    let place = Place::new(study);
    for command in ["plan", "run"] {
        let output = place.bakeoff(&[command, "study.toml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        for part in expected {
            assert!(told.contains(part), "{part:?} is not in:\n{told}");
        }
        assert!(!place.folder.path().join("runs").exists(), "something was begun");
    }
}

#[test]
fn a_good_study_is_planned_without_starting_anything() {
    let place = Place::new(GOOD);
    let output = place.bakeoff(&["plan", "study.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("block 1: 1 native"), "{}", text(&output.stdout));
    assert!(!place.folder.path().join("runs").exists());
}

#[test]
fn a_plan_tells_what_several_machines_take_and_where_they_run() {
    let place = Place::new(&GOOD.replace("vcpus = 1", "vcpus = 1\ncount = 2\noversubscribe = true"));
    let output = place.bakeoff(&["plan", "study.toml"]);
    let told = text(&output.stdout);
    for part in ["2 machines of 1 vCPU and 512 MiB: 2 vCPUs on", "1 GiB of", "place 2: CPUs ", "native, 2 machines\n"] {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
}

#[test]
fn every_problem_is_told_at_once_with_its_line_and_the_nearest_word() {
    let study = GOOD.replace("warehouses = 1", "warehouse = 1").replace("\"512MiB\"", "\"512 apples\"");
    refused(&study, &["study.toml:11", "did you mean \"warehouses\"", "study.toml:6", "512 apples"]);
}

/// Escape sequences that command a terminal: to clear it, and to set its window's title.
const HOSTILE: &str = "\\u001b[2J\\u001b]0;owned\\u0007";

#[test]
fn what_a_study_says_is_no_command_to_a_terminal() {
    let question = GOOD.replace("Does it work?", &format!("Does it work?{HOSTILE}"));
    let place = Place::new(&question);
    for arguments in [&["plan", "study.toml"][..], &["plan", "study.toml", "--json"]] {
        let output = place.bakeoff(arguments);
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(!told.contains(['\u{1b}', '\u{7}']) && told.contains("Does it work?\\u001b[2J"), "{told:?}");
    }
    let key = GOOD.replace("blocks = 1", &format!("blocks = 1\n\"{HOSTILE}\\nerror: forged\" = 1"));
    let told = text(&Place::new(&key).bakeoff(&["plan", "study.toml"]).stderr);
    assert!(!told.contains(['\u{1b}', '\u{7}']) && told.contains("\\x1b[2J"), "{told:?}");
    assert!(!told.lines().any(|line| line.starts_with("error: forged")), "{told:?}");
}

#[test]
fn what_a_server_says_is_no_command_to_a_terminal() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut rest = vec![0; u32::from_be_bytes(length) as usize - length.len()];
        stream.read_exact(&mut rest).unwrap();
        let fields = b"SFATAL\0C28000\0Mno \x1b[2J\x1b]0;owned\x07\0\0";
        let length = u32::try_from(fields.len() + 4).unwrap();
        stream.write_all(&[b"E", &length.to_be_bytes()[..], fields].concat()).unwrap();
    });
    let place = Place::new(GOOD);
    let url = format!("postgres://bob@{address}/shop?sslmode=disable");
    let told = text(&place.bakeoff(&["drive", "order-entry", &url, "--steps", "check"]).stderr);
    server.join().unwrap();
    assert!(!told.contains(['\u{1b}', '\u{7}']) && told.contains("no \\x1b[2J"), "{told:?}");
}

/// Files of a cache are run with our rights, so nobody else may be able to write it.
#[test]
fn a_cache_that_is_not_ours_alone_is_refused_and_left_as_it_is() {
    let place = Place::new(GOOD);
    let cache = place.folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let refused = |words: &[&str]| {
        for arguments in [&["run", "study.toml"][..], &["doctor"], &["image", "list"]] {
            let output = place.command(arguments).env("BAKEOFF_CACHE", &cache).output().unwrap();
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{told}");
            assert!(words.iter().all(|word| told.contains(word)) && told.contains("BAKEOFF_CACHE"), "{told}");
        }
    };
    std::fs::set_permissions(&cache, Permissions::from_mode(0o777)).unwrap();
    refused(&["mode is 0777", "chmod -R go-w"]);
    std::fs::set_permissions(&cache, Permissions::from_mode(0o755)).unwrap();
    if chown(&cache, Some(4711), None).is_ok() {
        refused(&["the number 4711, not to 0", "chown -R 0"]);
    }
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 0, "something was made in it");
}

#[test]
fn a_folder_of_runs_that_others_can_write_is_refused() {
    let place = Place::new(GOOD);
    let runs = place.folder.path().join("runs");
    let run = runs.join("20260101T000000Z-study");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(run.join("plan.json"), "{}").unwrap();
    std::fs::set_permissions(&run, Permissions::from_mode(0o777)).unwrap();
    let resume = format!("--resume={}", run.display());
    let output = place.bakeoff(&["run", "study.toml", &resume]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("the folder of runs is not ours alone") && told.contains("mode is 0777"), "{told}");
}

#[test]
fn what_is_made_is_writable_for_its_owner_alone_whatever_the_umask() {
    let place = Place::new(GOOD);
    for umask in ["000", "777"] {
        let cache = place.folder.path().join(umask);
        let script = format!("umask {umask}; exec \"$0\" image list");
        let mut command = Command::new("sh");
        let output = command.args(["-c", &script, env!("CARGO_BIN_EXE_bakeoff")]).env("BAKEOFF_CACHE", &cache).output();
        assert_eq!(output.unwrap().status.code(), Some(0));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o722;
        assert_eq!((mode(&cache), mode(&cache.join("trees"))), (0o700, 0o700), "{umask}");
    }
}

#[test]
fn zero_vcpus_and_more_memory_than_the_host_has_are_refused() {
    refused(&GOOD.replace("vcpus = 1", "vcpus = 0"), &["study.toml:5", "vcpus"]);
    refused(&GOOD.replace("512MiB", "15TiB"), &["study.toml:6", "memory"]);
}

#[test]
fn data_that_do_not_fit_on_their_disk_are_refused_before_they_are_loaded() {
    let small = GOOD.replace("memory = \"512MiB\"", "memory = \"512MiB\"\ndisk = { size = \"64MiB\" }");
    refused(
        &small,
        &["study.toml:7: machine.disk.size: found 64 MiB; expected at least ", "workload on sqlite", " MiB"],
    );
    let huge = GOOD.replace("warehouses = 1", "warehouses = 100000");
    refused(&huge, &["study.toml:5: machine.disk.size: found 20 GiB; expected at least ", "about 6.1 TiB"]);
}

#[test]
fn what_a_virtual_machine_cannot_have_is_refused_in_its_line() {
    let vm = |settings: &str| {
        let platform = format!("platform = {{ kind = \"qemu\", {settings} }}");
        format!("{GOOD}[[contender]]\nname = \"vm\"\n{platform}\n")
    };
    let ahci = |kernel: &str| {
        vm("disk = { adapter = \"ahci\" }").replace("vcpus = 1", &format!("vcpus = 1\nkernel = \"{kernel}\""))
    };
    let expected =
        ["study.toml:22: platform.disk.adapter: found \"ahci\"", "kernel = \"debian-13-generic\"", "contender vm"];
    refused(&ahci("debian-13"), &expected);
    let generic = Place::new(&ahci("debian-12-generic"));
    let planned = generic.bakeoff(&["plan", "study.toml"]).status.code();
    assert!(matches!(planned, Some(0 | 3)), "a host that lacks what it needs can still plan it: {planned:?}");
    refused(
        &vm("disk = { adapter = \"nvme\", iothread = true }"),
        &["study.toml:21: platform.disk.iothread", "virtio"],
    );
    refused(&vm("cpu = \"auto\"").replace("512MiB", "100MiB"), &["study.toml:21: platform: ", "100 MiB", "128 MiB"]);
    refused(&GOOD.replace("vcpus = 1", "vcpus = 1\nimage = \"micra\""), &["study.toml:6: machine.image", "\"micro\"?"]);
}

#[test]
fn a_kernel_that_there_is_not_is_refused_with_the_nearest_one() {
    let with = |kernel: &str| GOOD.replace("vcpus = 1", &format!("vcpus = 1\nkernel = \"{kernel}\""));
    for (word, nearest) in
        [("cloud", "debian-12"), ("generic", "debian-12-generic"), ("debian13", "debian-13"), ("Host", "host")]
    {
        let found = format!("study.toml:6: machine.kernel: found \"{word}\"; expected \"host\", \"debian-12\"");
        refused(&with(word), &[&found, "or the path of a vmlinuz", &format!("did you mean \"{nearest}\"?")]);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vmlinuz");
    std::fs::write(&file, "text").unwrap();
    let vm = "[[contender]]\nname = \"vm\"\nplatform = { kind = \"qemu\" }\n";
    let place = Place::new(&format!("{}{vm}", with(&file.display().to_string())));
    for command in ["plan", "run"] {
        let output = place.bakeoff(&[command, "study.toml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{told}");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("contender vm: the kernel /") && told.contains("it is no Linux kernel for x86-64"),
            "{told}"
        );
    }
}

#[test]
fn a_precision_that_is_none_is_refused_in_its_line() {
    let wishing = |wish: &str| GOOD.replace("blocks = 1", &format!("precision = {wish}"));
    for wish in ["\"0%\"", "\"1\"", "1", "\"200%\"", "\"-1%\""] {
        refused(&wishing(wish), &["study.toml:3: precision: found", "a share such as \"5%\", from 0.1 % to 50 %"]);
    }
    let other = "[[contender]]\nname = \"other\"\nplatform = { kind = \"native\" }\n";
    let few = GOOD.replace("blocks = 1", "blocks = 5\nprecision = \"1%\"") + other;
    refused(&few, &["study.toml:3: blocks: found 5; expected at least 10 beside precision"]);
    let stray = GOOD.replace("blocks = 1", "blocks = 5\ntime_limit = \"2h\"");
    refused(&stray, &["study.toml:4: time_limit: given; expected this key only beside precision"]);
}

#[test]
fn a_load_from_outside_needs_an_engine_with_a_network() {
    refused(&GOOD.replace("clients = 1", "clients = 1\nplacement = \"outside\""), &["placement", "sqlite"]);
}

#[test]
fn procedures_need_an_engine_that_has_them_and_are_not_sent_in_batches() {
    let called = GOOD.replace("warehouses = 1", "warehouses = 1\ntransactions = \"procedures\"");
    refused(&called, &["workload.transactions: found \"procedures\"", "SQLite has no procedures"]);
    let both = called.replace("transactions = ", "statements = \"pipelined\"\ntransactions = ");
    refused(&both, &["workload.statements: found \"pipelined\"", "one request for each transaction"]);
}

#[test]
fn a_study_that_is_not_there_is_named() {
    let output = Place::new(GOOD).bakeoff(&["run", "absent.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("absent.toml"));
}

/// Standard output may be a file on a full disk.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let place = Place::new(GOOD);
    for arguments in [&["list"][..], &["list", "order-entry"], &["plan", "study.toml"], &[]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.command(arguments).stdout(full).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("error: writing to standard output: No space left"), "{told}");
    }
}

#[test]
fn only_a_known_contender_can_be_chosen() {
    let output = Place::new(GOOD).bakeoff(&["plan", "study.toml", "--only", "nativ"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean \"native\""), "{}", text(&output.stderr));
}

#[test]
fn rows_are_printed_without_a_database_and_parts_make_the_whole() {
    let place = Place::new(GOOD);
    let rows = |part: &[&str]| {
        let arguments = [&["rows", "order-entry", "district", "--set", "warehouses=2"], part].concat();
        let output = place.bakeoff(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let whole = rows(&[]);
    assert_eq!(whole.lines().count(), 20);
    assert_eq!(rows(&["--part", "1/3"]) + &rows(&["--part", "2/3"]) + &rows(&["--part", "3/3"]), whole);
    let wrong = place.bakeoff(&["rows", "order-entry", "districts"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("district"));
}

#[test]
fn more_sessions_than_a_server_takes_are_refused_before_anything_begins() {
    let study = study("postgres", "512MiB", "");
    let place = Place::new(&study);
    for command in ["plan", "run"] {
        let output = place.bakeoff(&[command, "study.toml", "--set", "load.clients=3000"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("load.clients: found 3000; expected at most"), "{told}");
    }
}
