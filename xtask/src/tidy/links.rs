//! Checks that links from one page of the project to another lead somewhere.

use super::finding::Breach;
use super::sources::SourceFile;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

pub fn check(sources: &[SourceFile]) -> Vec<Breach> {
    let files: BTreeSet<PathBuf> = sources.iter().map(|source| PathBuf::from(&source.path)).collect();
    // LICENSE is not searched for words, but links to it are valid.
    let is_text = |target: &Path| target == Path::new("LICENSE") || files.iter().any(|file| file.starts_with(target));
    // Pictures are not among the sources.
    let is_picture = |target: &Path| target.extension().is_some_and(|end| end == "png") && target.is_file();
    let exists = |target: &Path| is_text(target) || is_picture(target);
    let mut findings = Vec::new();
    for page in sources.iter().filter(|source| source.is_page()) {
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        for (index, line) in page.text.lines().enumerate() {
            let dead = targets(line).filter(|target| !exists(&plain(&folder.join(target))));
            findings.extend(dead.map(|target| {
                let message = format!("the link to {target} leads nowhere");
                Breach::new(&page.path, index + 1, "link", target, message)
            }));
        }
    }
    findings
}

/// Link targets on a line that are files of the project: `](target)` without a scheme, cut before `#`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_are_found_and_others_are_not() {
        let page = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let text = "[a](README.md) and [b](docs/formats.md#files)\n[c](docs) [d](https://example.com/) [e](gone.md)\n";
        let sources = [page("README.md", text), page("docs/formats.md", "[up](../README.md) [self](#files)\n")];
        let found: Vec<_> = check(&sources).into_iter().map(|finding| (finding.line, finding.subject)).collect();
        assert_eq!(found, [(2, "gone.md".to_owned())]);
    }
}
