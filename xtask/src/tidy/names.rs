//! Names that say nothing about the content: a reader should be able to guess a file's content from its name.

use super::finding::Breach;
use super::source_file::RustFile;
use super::words::SAYS_NOTHING;
use proc_macro2::Ident;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// Checks folders and files.
pub fn check_path(path: &str) -> Vec<Breach> {
    let parts = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
    let vague = parts.filter_map(|part| vague_word(part).map(|word| (part, word)));
    vague.map(|(part, word)| Breach::new(path, 0, "name", part, message(part, word))).collect()
}

/// Checks modules and types.
pub fn check_items(file: &RustFile) -> Vec<Breach> {
    let mut visitor = Items { path: &file.path, findings: Vec::new() };
    visitor.visit_file(&file.tree);
    visitor.findings
}

/// Checks that no two types have one name: a name that is read or searched for means one thing.
pub fn check_unique(files: &[RustFile]) -> Vec<Breach> {
    let types =
        files.iter().flat_map(|file| file.tree.items.iter().filter_map(type_name).map(move |name| (file, name)));
    let mut first = BTreeMap::new();
    let found = types.filter_map(|(file, name)| {
        let (name, line) = (name.to_string(), name.span().start().line);
        if file.is_test_line(line) {
            return None;
        }
        let other = first.entry(name.clone()).or_insert(&file.path);
        let text = format!("`{name}` is also a type of {other}; name it after what only it is");
        (*other != &file.path).then(|| Breach::new(&file.path, line, "type", &name, text))
    });
    found.collect()
}

fn type_name(item: &syn::Item) -> Option<&Ident> {
    match item {
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        _ => None,
    }
}

fn message(name: &str, word: &str) -> String {
    format!("`{name}` is named with {word:?}, which says nothing; name it after the thing it holds or does")
}

fn vague_word(name: &str) -> Option<&'static str> {
    let words = words_of(name);
    SAYS_NOTHING.iter().copied().find(|vague| words.iter().any(|word| word == vague))
}

/// The words of a name in snake, kebab or camel case, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for character in name.chars() {
        if character == '_' || character == '-' || character.is_uppercase() {
            words.push(String::new());
        }
        if character.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(character.to_lowercase()));
        }
    }
    words
}

struct Items<'a> {
    path: &'a str,
    findings: Vec<Breach>,
}

impl Items<'_> {
    fn examine(&mut self, ident: &Ident) {
        let name = ident.to_string();
        if let Some(word) = vague_word(&name) {
            let line = ident.span().start().line;
            self.findings.push(Breach::new(self.path, line, "name", &name, message(&name, word)));
        }
    }
}

impl<'a> Visit<'a> for Items<'_> {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.examine(&item.ident);
        visit::visit_item_mod(self, item);
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.examine(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.examine(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.examine(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.examine(&item.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_every_case() {
        assert_eq!(vague_word("string_utils"), Some("utils"));
        assert_eq!(vague_word("SessionManager"), Some("manager"));
        assert_eq!(vague_word("test-helper"), Some("helper"));
        assert_eq!(vague_word("utility"), None);
        assert_eq!(vague_word("commonality"), None);
    }

    #[test]
    fn two_types_of_one_name_are_found_and_tests_may_repeat_a_name() {
        let file = |path: &str, text: &str| RustFile::parse(path, text).unwrap();
        let tests = "#[cfg(test)]\nmod tests {\n    struct Step;\n}\n";
        let mut files = vec![
            file("crates/a/src/b.rs", &format!("pub struct Step;\n{tests}")),
            file("crates/c/src/d.rs", "use a::Step;\nenum Stop {}\n"),
            file("crates/e/tests/f.rs", "struct Step;\n"),
        ];
        assert_eq!(check_unique(&files).len(), 0);
        files.push(file("crates/g/src/h.rs", "\ntype Step = u8;\n"));
        let places: Vec<(String, usize)> =
            check_unique(&files).into_iter().map(|found| (found.path, found.line)).collect();
        assert_eq!(places, [("crates/g/src/h.rs".to_owned(), 2)]);
    }

    #[test]
    fn folders_files_modules_and_types_are_looked_at() {
        assert_eq!(check_path("crates/common/src/lib.rs").len(), 1);
        assert!(check_path("crates/machines/src/link.rs").is_empty());
        let text = "mod misc {\n    pub struct DiskHelper;\n}\nfn common() {}\n";
        let file = RustFile::parse("crates/a/src/b.rs", text).unwrap();
        let subjects: Vec<String> = check_items(&file).into_iter().map(|finding| finding.subject).collect();
        assert_eq!(subjects, ["misc", "DiskHelper"]);
    }
}
