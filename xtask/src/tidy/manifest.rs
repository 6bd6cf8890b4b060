//! Manifests: every dependency says what it saves us, and is used; every crate says what it is.

use super::code::{CodeToken, flatten};
use super::finding::Breach;
use super::source_file::RustFile;
use super::sources::SourceFile;
use std::collections::BTreeSet;

pub fn check(sources: &[SourceFile], rust: &[RustFile]) -> Vec<Breach> {
    let mut findings = Vec::new();
    for source in sources {
        if source.path == "Cargo.toml" {
            findings.extend(unexplained(source));
        } else if let Some(folder) = source.path.strip_suffix("/Cargo.toml") {
            findings.extend(undescribed(source));
            let own = rust.iter().filter(|file| file.path.starts_with(&format!("{folder}/")));
            findings.extend(unused(source, &words_used(own)));
        }
    }
    findings
}

/// A line `name = …` of a section, with its line number.
struct ManifestLine<'a> {
    line: usize,
    name: &'a str,
    value: &'a str,
    /// The comment lines right above.
    comment: String,
}

/// Entries of all sections whose title satisfies `wanted`. In our manifests each entry is on one line.
fn entries(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<ManifestLine<'_>> {
    let mut inside = false;
    let mut comment = String::new();
    let mut entries = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let line = text.trim();
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = wanted(title);
            comment.clear();
        } else if let Some(words) = line.strip_prefix('#') {
            comment.push_str(words);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside) {
            let name = name.trim().trim_end_matches(".workspace");
            entries.push(ManifestLine {
                line: index + 1,
                name,
                value: value.trim(),
                comment: std::mem::take(&mut comment),
            });
        } else {
            comment.clear();
        }
    }
    entries
}

/// External dependencies without a sentence above their line. Those of one family (`serde`, `serde_json`) share one.
fn unexplained(source: &SourceFile) -> Vec<Breach> {
    let mut findings = Vec::new();
    let mut explained_family = "";
    for entry in entries(&source.text, |title| title == "workspace.dependencies") {
        let family = entry.name.split(['-', '_']).next().unwrap_or(entry.name);
        let is_sentence = entry.comment.trim_end().ends_with('.');
        if is_sentence {
            explained_family = family;
        } else if !entry.value.contains("path =") && family != explained_family {
            let message = format!("`{}` has no sentence above it that says what it saves us", entry.name);
            findings.push(Breach::new(&source.path, entry.line, "dependency-reason", entry.name, message));
        }
    }
    findings
}

fn undescribed(source: &SourceFile) -> Vec<Breach> {
    let package = entries(&source.text, |title| title == "package");
    let description = package.iter().find(|entry| entry.name == "description");
    if description.is_some_and(|entry| entry.value.split(' ').count() > 2) {
        return Vec::new();
    }
    let line = description.map_or(1, |entry| entry.line);
    vec![Breach::new(&source.path, line, "description", "", "the crate does not say in one sentence what it is")]
}

fn unused(source: &SourceFile, words: &BTreeSet<String>) -> Vec<Breach> {
    let dependencies = entries(&source.text, |title| title.ends_with("dependencies"));
    let unused = dependencies.iter().filter(|entry| !words.contains(&entry.name.replace('-', "_")));
    unused
        .map(|entry| {
            let message = format!("no file of this crate uses `{}`; remove it", entry.name);
            Breach::new(&source.path, entry.line, "dependency-unused", entry.name, message)
        })
        .collect()
}

fn words_used<'a>(files: impl Iterator<Item = &'a RustFile>) -> BTreeSet<String> {
    let words = files.flat_map(|file| flatten(&file.tokens)).filter_map(|token| match token {
        CodeToken::Word(word, _) => Some(word),
        _ => None,
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_dependency_needs_a_sentence_of_its_own_or_of_its_family() {
        let text = "[workspace.dependencies]\nours = { path = \"ours\" }\n# Reads texts.\nserde = \"1\"\nserde_json = \"1\"\n\
                    clap = \"4\"\n# half a\n# sentence\ntoml = \"1\"\n[profile.dev]\ndebug = 1\n";
        let findings = check(&[source("Cargo.toml", text)], &[]);
        let places: Vec<_> = findings.iter().map(|finding| (finding.line, finding.subject.as_str())).collect();
        assert_eq!(places, [(6, "clap"), (9, "toml")]);
    }

    #[test]
    fn a_dependency_must_be_used() {
        let text = "[package]\ndescription = \"Does a thing well\"\n[dependencies]\nrand-core.workspace = true\ntoml = \"1\"\n\
                    [dev-dependencies]\ninsta.workspace = true\n";
        let files = [
            RustFile::parse("crates/a/src/lib.rs", "use rand_core::Rng; // toml\n").unwrap(),
            RustFile::parse("crates/b/src/lib.rs", "use toml::Value;\n").unwrap(),
        ];
        let findings = check(&[source("crates/a/Cargo.toml", text)], &files);
        let subjects: Vec<_> = findings.iter().map(|finding| finding.subject.as_str()).collect();
        assert_eq!(subjects, ["toml", "insta"]);
    }

    #[test]
    fn a_crate_says_what_it_is() {
        let findings = |text| check(&[source("crates/a/Cargo.toml", text)], &[]).len();
        assert_eq!(findings("[package]\nname = \"a\"\n"), 1);
        assert_eq!(findings("[package]\ndescription = \"Later\"\n"), 1);
        assert_eq!(findings("[package]\ndescription = \"Reads what disks say\"\n"), 0);
    }
}
