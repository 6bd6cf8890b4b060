//! A tour: every command in README and docs is carried out, in a folder with a study and two recorded runs.
//!
//! Placeholders are replaced: RUN by a run, URL by a file. What would take long is shortened: runs are rehearsed, audits have
//! one cut, and drives measure a small database for a second.

use crate::documented::{go_through, root};
use crate::setting::{cache, text};
use std::path::Path;
use std::process::{Command, Stdio};

/// Stand-ins for the commands in the pages. Codes 1 to 3 mean that a command could not do what it should.
const STAND_INS: &str = r#"
bakeoff() {
    local arguments=() previous= word timed= warmed= stepped=
    [ $# -gt 0 ] || { bakeoff_itself; return; }
    local command=$1
    # Some sentences name a command without saying of what.
    case "$*" in
        run|"run --resume"|drive|plan|compare|report|export|fleet|"runs trend") return 0 ;;
        "init "*) rm my-study.toml ;;
        # There is no fleet here, and no image; other tests have them.
        "fleet "*|"image export "*) echo >> tried; return ;;
    esac
    for word in "$@"; do
        # Five blocks are needed for it; three were recorded.
        case $previous in --pilot|--precision) previous=; continue ;; esac
        case $word in
            STUDY) word=my-study.toml ;;
            RUN|FOLDER|OLD|before|baseline|last-1) word=runs/20260101T000000Z-recorded ;;
            NEW|after|new/*) word=runs/20260102T000000Z-recorded ;;
            CODE) word=host-busy ;;
            ID) word=work ;;
            FILE) word=studies/published/monster-vm/published.toml ;;
            MEASURE) word=throughput ;;
            WORKLOAD) word=sysbench-oltp ;;
            kvm) word=other ;;
            nightly) word=sqlite ;;
            URL|*postgres://*) word=sqlite:tour.db ;;
            warehouses=*) word=warehouses=1 ;;
            # SQLite has none.
            transactions=procedures) word=transactions=client ;;
            table_size=*) word=table_size=100 ;;
            tables=*) word=tables=2 ;;
            db_size=*) word=db_size=1MB ;;
            # Its daily prices and news are most of its rows.
            initial_trade_days=*) arguments+=("$word" --set news_bytes=300 --set); word=scale_factor=20000 ;;
            --pilot|--precision) previous=$word; continue ;;
            # Nobody asks for the metrics of a rehearsal.
            --metrics|:9100|*:9464) continue ;;
        esac
        case $previous in
            -T|--time) word=1s timed=1 ;;
            --warmup) word=0s warmed=1 ;;
            -c|--clients) word=1 ;;
            --repeat) word=2 ;;
            --record) word=$(mktemp --dry-run --tmpdir=. record-XXXX) ;;
            --steps)
                stepped=1
                # Its tables are loaded once.
                case "$command $2 $word" in
                    "drive order-entry load"*)
                        [ ! -e "$TOUR/loaded.db" ] || { cp "$TOUR/loaded.db" tour.db; word=${word#load}; word=${word#,}; : ${word:=check}; }
                        ;;
                esac
                ;;
        esac
        arguments+=("$word")
        previous=$word
    done
    case $command in
        # The same words are carried out once, on whichever page they are. Other pages get a copy of the run.
        run)
            arguments+=(--rehearse)
            local kept="$TOUR/$(echo "${arguments[*]}" | tr -c '[:alnum:]\n' -)"
            [ ! -e "$kept" ] || { cp -r "$kept/." runs; echo >> tried; return; }
            ls runs > before
            ;;
        plan|doctor)
            local once="$TOUR/$(echo "${arguments[*]}" | tr -c '[:alnum:]\n' -)"
            [ ! -e "$once" ] || { echo >> tried; return; }
            : > "$once"
            ;;
        # One contender with little data, driven for a second, with one cut. All audits of the pages become this one, so that it is carried out once.
        audit)
            [ ! -e "$TOUR/audited" ] || { echo >> tried; return; }
            : > "$TOUR/audited"
            sed 's/^workload = .*/workload = { kind = "sysbench-oltp", tables = 1, table_size = 100 }/' my-study.toml > audited.toml
            arguments=(audit durability audited.toml --only one --set audit.durability.drive=1s --set audit.durability.holds=0)
            arguments+=(--set "audit.durability.cuts={ acknowledged = 1, unflushed = 0, growing = 0 }")
            arguments+=(--set audit.durability.flush_delay=0s)
            ;;
        drive)
            [ -n "$timed" ] || arguments+=(-T 1)
            [ -n "$warmed" ] || arguments+=(--warmup 0s)
            # Without steps a drive runs on tables that are there.
            [ -n "$stepped" ] || [ -e tour.db ] || arguments+=(--steps load,run)
            ;;
    esac
    bakeoff_itself "${arguments[@]}"
    local code=$?
    [ "$command $code" != "run 0" ] || (
        mkdir "$kept"
        cd runs
        for new in $(ls | comm -13 ../before -); do cp -r "$new" "$kept"; done
    )
    [ "$command $2" != "drive order-entry" ] || [ -e "$TOUR/loaded.db" ] || cp tour.db "$TOUR/loaded.db"
    return $code
}
bakeoff_itself() {
    echo >> tried
    timeout 120 "$BAKEOFF" "$@" > said 2> told < /dev/null
    local code=$?
    case $code in
        1|2|3|101|124) echo "bakeoff $*: $code: $(tail -n 2 told | tr '\n' ' ')" >> wrong ;;
    esac
    cat said
    return $code
}
make() { :; }
cargo() { :; }
command_not_found_handle() { :; }
"#;

/// The study of the recorded runs.
const STUDY: &str = r#"
question = "What does it cost to flush every commit?"
blocks = 3
machine = { vcpus = 2, memory = "512MiB", disk = { size = "1GiB" } }
platform = { kind = "native" }
workload = { kind = "order-entry", warehouses = 1 }
load = { placement = "inside", clients = 2, warmup = "1s", measure = "4s" }

[[contender]]
name = "one"
baseline = true
engine = { kind = "sqlite", profile = "durable" }

[[contender]]
name = "other"
engine = { kind = "sqlite", profile = "relaxed" }
"#;

/// The user's own transactions, and the files that they need.
const SCRIPTS: [(&str, &str); 5] = [
    (
        "tables.sql",
        "DROP TABLE IF EXISTS accounts;\nCREATE TABLE accounts (aid INTEGER PRIMARY KEY, balance INTEGER);\n\
         INSERT INTO accounts VALUES (1, 0), (2, 0);\n",
    ),
    ("transfer.sql", "\\set aid random(1, 2)\nUPDATE accounts SET balance = balance + 1 WHERE aid = :aid;\n"),
    ("read.sql", "SELECT balance FROM accounts WHERE aid = 1;\n"),
    ("checks.sql", "SELECT aid FROM accounts WHERE balance < 0;\n"),
    ("script.sql", "SELECT 1;\n"),
];

/// How many commands were carried out, and which ones failed. The tour's folder has what its scripts share: tables that are loaded
/// once.
fn carry_out(script: &str, tour: &Path) -> (usize, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    for run in ["20260101T000000Z-recorded", "20260102T000000Z-recorded"] {
        copy(&root().join("crates/report/tests/runs/sqlite"), &at("runs").join(run));
    }
    copy(&root().join("studies"), &at("studies"));
    let studies = [("my-study.toml", STUDY), ("studies/nightly.toml", STUDY)];
    for (name, text) in studies.into_iter().chain(SCRIPTS) {
        std::fs::write(at(name), text).expect("a file");
    }
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("{STAND_INS}{script}\n")]).current_dir(folder.path()).stdin(Stdio::null());
    shell.env("BAKEOFF", env!("CARGO_BIN_EXE_bakeoff")).env("BAKEOFF_CACHE", cache()).env("TOUR", tour);
    shell.env("BAKEOFF_QUEUE", folder.path().file_name().expect("a temporary folder's name"));
    let ended = shell.output().expect("bash");
    let said = |name: &str| std::fs::read_to_string(at(name)).unwrap_or_default();
    (said("tried").lines().count(), said("wrong") + &text(&ended.stderr))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().expect("it is in a folder")).expect("a folder");
    assert!(Command::new("cp").arg("-r").args([from, to]).status().expect("cp").success());
}

#[test]
fn every_command_of_the_docs_does_what_it_is_asked_for() {
    let tour = tempfile::tempdir().expect("a temporary folder");
    go_through(|script| carry_out(script, tour.path()));
}
