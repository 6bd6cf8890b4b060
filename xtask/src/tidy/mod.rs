//! The project's own rules, which neither the compiler, rustfmt nor clippy checks.
//!
//! Each file here is one family of rules: pure functions from text to findings, with their own tests. All findings are
//! shown at once, each with its place and the reason for the rule. Rules about meaning are left to people.

mod budgets;
mod circles;
mod code;
mod direction;
mod exceptions;
mod finding;
mod heads;
mod links;
mod literals;
pub mod loc;
mod manifest;
mod names;
mod paths;
mod sizes;
mod source_file;
mod sources;
mod tells;
mod words;

use anyhow::{Context, ensure};
use finding::Breach;
use source_file::RustFile;
use sources::SourceFile;
use std::path::Path;
use std::process::Command;

pub fn run(root: &Path) -> anyhow::Result<()> {
    let sources = sources::read(root)?;
    let mut findings = check(&sources);
    findings.extend(direction::check(&metadata(root)?));
    let mut findings = exceptions::apply(exceptions::LISTED, findings);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    ensure!(findings.is_empty(), "tidy: {} findings in {} files", findings.len(), sources.len());
    println!("tidy: {} files in order", sources.len());
    Ok(())
}

/// Every rule that needs only files.
fn check(sources: &[SourceFile]) -> Vec<Breach> {
    let mut findings = Vec::new();
    let rust = source_file::parse_all(sources, &mut findings);
    for source in sources {
        findings.extend(words::check(source));
        findings.extend(names::check_path(&source.path));
    }
    for file in &rust {
        findings.extend(check_rust(file));
    }
    findings.extend(budgets::check(&rust));
    findings.extend(circles::check(&rust));
    findings.extend(names::check_unique(&rust));
    findings.extend(manifest::check(sources, &rust));
    findings.extend(links::check(sources));
    findings
}

fn check_rust(file: &RustFile) -> Vec<Breach> {
    let checks: [fn(&RustFile) -> Vec<Breach>; 6] =
        [heads::check, sizes::check, names::check_items, paths::check, literals::check, tells::check];
    checks.iter().flat_map(|check| check(file)).collect()
}

fn metadata(root: &Path) -> anyhow::Result<serde_json::Value> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("starting cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).context("reading the output of cargo metadata")
}
