//! A Rust file parsed once for all rules: its lines, tokens and syntax tree, and which of its lines are tests.

use super::finding::Breach;
use super::sources::SourceFile;
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use syn::visit::{self, Visit};

pub struct RustFile {
    pub path: String,
    pub lines: Vec<String>,
    pub tokens: TokenStream,
    pub tree: syn::File,
    /// True if the whole file is compiled only for tests, or is an example.
    is_test: bool,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl RustFile {
    pub fn parse(path: &str, text: &str) -> Result<Self, Breach> {
        let unreadable = |line: usize, why: String| Breach::new(path, line, "syntax", "", why);
        let tokens = TokenStream::from_str(text)
            .map_err(|error| unreadable(error.span().start().line, format!("not Rust: {error}")))?;
        let tree: syn::File = syn::parse2(tokens.clone())
            .map_err(|error| unreadable(error.span().start().line, format!("not Rust: {error}")))?;
        let mut finder = TestFinder::default();
        finder.visit_file(&tree);
        // Examples are programs of their own for trying things out; like tests, they print and take arguments.
        let is_test = path.split('/').any(|part| matches!(part, "tests" | "examples"));
        let lines = text.lines().map(ToOwned::to_owned).collect();
        Ok(Self { path: path.to_owned(), lines, tokens, tree, is_test, test_lines: finder.lines })
    }

    /// The crate's folder name ("engines", "xtask").
    pub fn package(&self) -> &str {
        let below = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        below.split('/').next().unwrap_or(below)
    }

    pub fn is_test_line(&self, line: usize) -> bool {
        self.is_test || self.test_lines.iter().any(|range| range.contains(&line))
    }
}

/// Parses every Rust source; a source that does not parse becomes a finding.
pub fn parse_all(sources: &[SourceFile], findings: &mut Vec<Breach>) -> Vec<RustFile> {
    let mut files = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        match RustFile::parse(&source.path, &source.text) {
            Ok(file) => files.push(file),
            Err(finding) => findings.push(finding),
        }
    }
    let tests: BTreeSet<String> = files.iter().flat_map(test_module_stems).collect();
    for file in &mut files {
        let stem = file.path.trim_end_matches(".rs");
        file.is_test |= tests.iter().any(|test| stem == test || stem.starts_with(&format!("{test}/")));
    }
    files
}

/// Paths, without extension, of the files of modules declared here only for tests (`#[cfg(test)] mod tests;`).
fn test_module_stems(file: &RustFile) -> Vec<String> {
    let path = Path::new(&file.path);
    let own_folder = path.parent().unwrap_or(Path::new(""));
    let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") | None => own_folder.to_path_buf(),
        Some(stem) => own_folder.join(stem),
    };
    let modules = file.tree.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => Some(&module.ident),
        _ => None,
    });
    modules.map(|name| folder.join(name.to_string()).display().to_string()).collect()
}

#[derive(Default)]
struct TestFinder {
    lines: Vec<RangeInclusive<usize>>,
}

impl TestFinder {
    fn note(&mut self, attributes: &[syn::Attribute], braces: Option<&syn::token::Brace>) {
        let (Some(first), Some(braces)) = (attributes.first(), braces) else { return };
        if is_for_tests(attributes) {
            self.lines.push(first.pound_token.span.start().line..=braces.span.close().end().line);
        }
    }
}

impl<'a> Visit<'a> for TestFinder {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        self.note(&module.attrs, module.content.as_ref().map(|(braces, _)| braces));
        visit::visit_item_mod(self, module);
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.note(&function.attrs, Some(&function.block.brace_token));
        visit::visit_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, implementation: &'a syn::ItemImpl) {
        self.note(&implementation.attrs, Some(&implementation.brace_token));
        visit::visit_item_impl(self, implementation);
    }
}

/// True if the attributes contain `#[test]`, or `#[cfg(...)]` with the word `test` not negated.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let words: Vec<String> = list.tokens.clone().into_iter().map(|token| token.to_string()).collect();
            words == ["test"] || (words[0] == "all" && words.get(1).is_some_and(|inner| inner.contains("test")))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_test_modules_are_test_lines() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let file = RustFile::parse("crates/x/src/y.rs", text).unwrap();
        let tests: Vec<bool> = (1..=6).map(|line| file.is_test_line(line)).collect();
        assert_eq!(tests, [false, true, true, true, true, false]);
    }

    #[test]
    fn files_below_tests_and_files_of_test_modules_are_tests() {
        let source = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let sources = [
            source("crates/x/src/lib.rs", "#[cfg(test)]\nmod pretend;\nmod real;\n"),
            source("crates/x/src/pretend.rs", "fn a() {}"),
            source("crates/x/src/real.rs", "#[cfg(not(test))]\nmod a {}"),
            source("crates/x/tests/all.rs", "fn a() {}"),
            source("crates/x/examples/try.rs", "fn a() {}"),
        ];
        let files = parse_all(&sources, &mut Vec::new());
        let tests: Vec<bool> = files.iter().map(|file| file.is_test_line(1)).collect();
        assert_eq!(tests, [false, true, false, true, true]);
    }

    #[test]
    fn what_does_not_parse_is_a_finding_with_its_line() {
        let finding = RustFile::parse("a.rs", "fn a() {}\nfn (\n").err().unwrap();
        assert_eq!(finding.line, 2);
    }
}
