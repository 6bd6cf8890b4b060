//! Files that use each other in a circle: a reader of one has to know all of them.
//!
//! A module's root and the files below it belong together: that a root uses its own modules is no arrow.

use super::finding::Breach;
use super::source_file::RustFile;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// A type and its parts may know each other.
const MOST_FILES: usize = 3;

pub fn check(files: &[RustFile]) -> Vec<Breach> {
    let known: BTreeMap<Vec<&str>, &str> = files
        .iter()
        .filter(|file| !file.is_test_line(1))
        .map(|file| (module(&file.path), file.path.as_str()))
        .collect();
    let mut uses = DiGraphMap::<&str, ()>::new();
    for (own, file) in files.iter().filter_map(|file| Some((known.get_key_value(&module(&file.path))?.0, file))) {
        let mut paths = Paths { file, own, found: Vec::new() };
        paths.visit_file(&file.tree);
        let others = paths.found.iter().filter_map(|path| nearest(&known, path)).filter(|other| *other != file.path);
        for other in others {
            uses.add_edge(&file.path, other, ());
        }
    }
    let circles = tarjan_scc(&uses).into_iter().filter(|circle| circle.len() > MOST_FILES);
    circles.map(of_circle).collect()
}

fn of_circle(mut circle: Vec<&str>) -> Breach {
    circle.sort_unstable();
    let text =
        format!("{} files use each other in a circle ({}); at most {MOST_FILES} may", circle.len(), circle.join(", "));
    Breach::new(circle[0], 0, "circle", circle[0], text)
}

/// The file of the longest part of a path that is a file. A crate's root names its modules, which is no use of them.
fn nearest<'a>(known: &BTreeMap<Vec<&str>, &'a str>, path: &[String]) -> Option<&'a str> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    (2..=parts.len()).rev().find_map(|length| known.get(&parts[..length]).copied())
}

/// "crates/x/src/a/b.rs" is module x, a, b.
fn module(path: &str) -> Vec<&str> {
    let path = path.strip_prefix("crates/").unwrap_or(path).trim_end_matches(".rs");
    let parts = path.split('/').filter(|part| !matches!(*part, "src" | "lib" | "main" | "mod"));
    parts.collect()
}

/// The paths in a file that begin at its crate or above its module.
struct Paths<'a> {
    file: &'a RustFile,
    own: &'a [&'a str],
    found: Vec<Vec<String>>,
}

impl Paths<'_> {
    fn note(&mut self, line: usize, path: &[String]) {
        if self.file.is_test_line(line) {
            return;
        }
        let up = path.iter().take_while(|part| *part == "super").count();
        let base = match path.first().map(String::as_str) {
            Some("crate") => &self.own[..1],
            Some("super") => &self.own[..self.own.len().saturating_sub(up).max(1)],
            _ => return,
        };
        let below = path[up.max(1)..].iter().cloned();
        self.found.push(base.iter().map(|part| (*part).to_owned()).chain(below).collect());
    }

    fn note_tree(&mut self, tree: &syn::UseTree, above: &[String]) {
        let with = |name: &syn::Ident| above.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.note_tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.note_tree(item, above)),
            syn::UseTree::Name(name) => self.note(name.ident.span().start().line, &with(&name.ident)),
            syn::UseTree::Rename(name) => self.note(name.ident.span().start().line, &with(&name.ident)),
            syn::UseTree::Glob(glob) => self.note(glob.star_token.span.start().line, above),
        }
    }
}

impl<'a> Visit<'a> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.note_tree(&item.tree, &[]);
    }

    /// A place that may see an item is not used by it.
    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        self.note(line, &parts);
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let parsed: Vec<RustFile> = files.iter().map(|(path, text)| RustFile::parse(path, text).unwrap()).collect();
        check(&parsed).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_of_four_files_is_found_however_they_name_each_other() {
        let mut files = [
            ("crates/x/src/lib.rs", "mod a; mod b; mod c;"),
            ("crates/x/src/a.rs", "use crate::b::{Thing, self};"),
            ("crates/x/src/b.rs", "fn f() { crate::c::d::g() }"),
            ("crates/x/src/c/mod.rs", "mod d;"),
            ("crates/x/src/c/d.rs", "use super::super::e::Other;"),
            ("crates/x/src/e.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files).len(), 1, "{:?}", found(&files));
        assert!(found(&files)[0].contains("4 files use each other in a circle"), "{:?}", found(&files));
        files[5].1 = "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn three_files_may_know_each_other_and_crates_have_modules_of_the_same_names() {
        let three = [
            ("crates/x/src/a.rs", "use crate::b::B;"),
            ("crates/x/src/b.rs", "use crate::c::C; use crate::d::e::E;"),
            ("crates/x/src/c.rs", "use crate::a::A;"),
            ("crates/x/src/d/mod.rs", "use crate::a::A;"),
            ("crates/x/src/d/e.rs", "pub(super) struct E;"),
            ("crates/y/src/a.rs", "use crate::d::D;"),
            ("crates/y/src/d.rs", "use crate::c::C;"),
        ];
        assert_eq!(found(&three), Vec::<String>::new());
    }
}
