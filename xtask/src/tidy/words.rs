//! Words and marks that no file of the project may contain.
//!
//! This is the only file that contains these words, so it is the only one that is not searched.

use super::finding::Breach;
use super::sources::SourceFile;

/// Words that say nothing in names.
pub const SAYS_NOTHING: &[&str] = &["util", "utils", "common", "manager", "helper", "helpers", "misc"];

/// Marks of unfinished work.
const UNFINISHED: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// Metrics of published benchmarks. They may be reported only for audited results, which ours are not.
const METRICS: &[&str] =
    &["tpmC", "tpsE", "tpsV", "tpsHCI", "QphH", "QphDS", "VMStpm", "VMStps", "VMSQph", "BBQpm", "TPCx-BB"];

/// Domains of package registries and mirrors. The user's configuration decides which mirror is used, not we.
const REGISTRIES: &[&str] = &[
    "debian.org",
    "ubuntu.com",
    "crates.io",
    "pypi.org",
    "pythonhosted.org",
    "npmjs.org",
    "golang.org",
    "docker.io",
    "docker.com",
    "ghcr.io",
    "quay.io",
    "rust-lang.org",
];

const THIS_FILE: &str = "xtask/src/tidy/words.rs";

pub fn check(source: &SourceFile) -> Vec<Breach> {
    if source.path == THIS_FILE {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        check_line(source, index + 1, line, &mut findings);
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        let line = source.text.lines().count();
        findings.push(Breach::new(&source.path, line, "whitespace", "", "the last line has no end"));
    }
    findings
}

fn check_line(source: &SourceFile, line: usize, text: &str, findings: &mut Vec<Breach>) {
    let mut add = |rule: &'static str, subject: &str, message: String| {
        findings.push(Breach::new(&source.path, line, rule, subject, message));
    };
    if text.ends_with([' ', '\t', '\r']) {
        add("whitespace", "", "blanks at the end of the line".to_owned());
    }
    for word in UNFINISHED.iter().filter(|word| has_word(text, word)) {
        add("unfinished", word, format!("{word} is left; do it, or write down where it is planned"));
    }
    for metric in METRICS.iter().filter(|metric| text.contains(**metric)) {
        add(
            "metric",
            metric,
            format!("{metric} is a metric of a published benchmark; ours are not comparable with it"),
        );
    }
    for domain in REGISTRIES.iter().filter(|domain| names_host(text, domain)) {
        add(
            "registry",
            domain,
            format!("a host of {domain} is named; which registry is used is the user's configuration"),
        );
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// True if the domain is part of a host's name or an address; its bare name in prose is no host.
fn names_host(text: &str, domain: &str) -> bool {
    text.match_indices(domain).any(|(at, _)| {
        let before = &text[..at];
        let is_subdomain = before.ends_with('.') && before[..before.len() - 1].ends_with(char::is_alphanumeric);
        before.ends_with("://") || is_subdomain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(text: &str) -> Vec<String> {
        let source = SourceFile { path: "README.md".to_owned(), text: text.to_owned() };
        check(&source).into_iter().map(|finding| format!("{} {}", finding.rule, finding.subject)).collect()
    }

    #[test]
    fn marks_of_unfinished_work_are_whole_words() {
        assert_eq!(subjects("// TODO: more\n"), ["unfinished TODO"]);
        assert!(subjects("TODOS and MASTODON\n").is_empty());
    }

    #[test]
    fn metrics_are_found_within_words() {
        assert_eq!(subjects("10 ktpmC\n"), ["metric tpmC"]);
        assert!(subjects("NOPM\n").is_empty());
    }

    #[test]
    fn hosts_are_found_and_prose_is_not() {
        assert_eq!(subjects("deb http://deb.debian.org/debian\n"), ["registry debian.org"]);
        assert_eq!(subjects("https://crates.io/x\n"), ["registry crates.io"]);
        assert!(subjects("Dependencies come from crates.io.\n").is_empty());
    }

    #[test]
    fn blanks_and_missing_ends_of_lines_are_found() {
        assert_eq!(subjects("a \nb"), ["whitespace ", "whitespace "]);
        assert!(subjects("").is_empty());
    }
}
