//! Limits on size: a file can be read in one sitting, and a function fits on one screen.

use super::finding::Breach;
use super::source_file::RustFile;
use syn::visit::{self, Visit};

const LONGEST_FILE_LINES: usize = 500;
const LONGEST_FUNCTION_LINES: usize = 70;

pub fn check(file: &RustFile) -> Vec<Breach> {
    let mut visitor = Functions { path: &file.path, findings: Vec::new() };
    visitor.visit_file(&file.tree);
    let mut findings = visitor.findings;
    let length = file.lines.len();
    if length > LONGEST_FILE_LINES {
        let message =
            format!("{length} lines are too many to read in one sitting (at most {LONGEST_FILE_LINES}); split it");
        findings.push(Breach::new(&file.path, 0, "file-length", "", message));
    }
    findings
}

struct Functions<'a> {
    path: &'a str,
    findings: Vec<Breach>,
}

impl Functions<'_> {
    /// From the line of `fn` to that of the closing brace; comments and attributes above do not count.
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let start = signature.fn_token.span.start().line;
        let length = block.brace_token.span.close().end().line + 1 - start;
        if length > LONGEST_FUNCTION_LINES {
            let name = signature.ident.to_string();
            let message = format!(
                "`{name}` has {length} lines and does not fit a screen (at most {LONGEST_FUNCTION_LINES}); split it by what it does"
            );
            self.findings.push(Breach::new(self.path, start, "function-length", &name, message));
        }
    }
}

impl<'a> Visit<'a> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<(usize, String)> {
        let file = RustFile::parse("crates/a/src/b.rs", text).unwrap();
        check(&file).into_iter().map(|finding| (finding.line, finding.subject)).collect()
    }

    /// A function with exactly this many lines, whose text would fool a scanner that counts braces.
    fn function(lines: usize) -> String {
        let body = "    let _ = (\"}\", '{', r#\"}}\"#); // }\n".repeat(lines - 2);
        format!("/// Doc.\n#[inline]\nfn long() {{\n{body}}}\n")
    }

    #[test]
    fn a_function_may_have_seventy_lines_but_not_more() {
        assert!(findings(&function(70)).is_empty());
        assert_eq!(findings(&function(71)), [(3, "long".to_owned())]);
    }

    #[test]
    fn methods_and_functions_inside_functions_are_measured() {
        assert_eq!(findings(&format!("struct A;\nimpl A {{\n{}}}\n", function(71))).len(), 1);
        assert_eq!(findings(&format!("trait A {{\n{}}}\n", function(71))).len(), 1);
        assert_eq!(findings(&format!("fn outer() {{\n{}}}\n", function(71))).len(), 2);
    }

    #[test]
    fn a_file_may_have_five_hundred_lines_but_not_more() {
        assert!(findings(&"// x\n".repeat(500)).is_empty());
        assert_eq!(findings(&"// x\n".repeat(501)), [(0, String::new())]);
    }
}
