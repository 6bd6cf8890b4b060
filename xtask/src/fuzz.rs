//! The property tests of everything that reads foreign bytes, repeated with new seeds for as long as wanted.
//!
//! proptest writes a failing case beside its test, as in any run of the tests; a case that hangs is ended.

use crate::process;
use anyhow::Context;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Cases of one round: so many that starting the test costs nothing in comparison.
const CASES: &str = "20000";
/// A round takes a minute or two on a slow machine; after this time it hangs.
const ROUND_LIMIT: Duration = Duration::from_mins(15);

struct FuzzReader {
    name: &'static str,
    /// Its property tests, as arguments for cargo.
    tests: &'static [&'static str],
}

const READERS: &[FuzzReader] = &[
    FuzzReader { name: "PostgreSQL's messages", tests: &["--package", "engines", "--lib", "postgres::decode"] },
    FuzzReader { name: "MySQL's and MariaDB's messages", tests: &["--package", "engines", "--lib", "mysql"] },
    FuzzReader { name: "addresses of servers", tests: &["--package", "engines", "--lib", "address"] },
    FuzzReader { name: "studies", tests: &["--package", "study", "--test", "study", "properties"] },
];

pub fn run(root: &Path, minutes: u64) -> anyhow::Result<()> {
    READERS.iter().try_for_each(|reader| {
        let rounds = feed(root, reader, Duration::from_secs(minutes * 60)).with_context(|| reader.name)?;
        println!(
            "{}: {rounds} rounds of {CASES} cases each, in {minutes} minutes, without a crash or hang",
            reader.name
        );
        Ok(())
    })
}

fn feed(root: &Path, reader: &FuzzReader, span: Duration) -> anyhow::Result<u32> {
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds == 0 || begin.elapsed() < span {
        let mut command = Command::new("cargo");
        command.args(["test", "--quiet"]).args(reader.tests).env("PROPTEST_CASES", CASES).current_dir(root);
        process::run(&mut command, ROUND_LIMIT, |_| Ok(()))?;
        rounds += 1;
    }
    Ok(rounds)
}
