//! SQL lives in `.sql` files beside the workload, where it can be read, compared between dialects and run by hand.

use super::code::{CodeToken, flatten};
use super::finding::Breach;
use super::source_file::RustFile;

/// Pairs of words that, in this order, show that a text is a statement rather than prose with one such word.
const STATEMENTS: &[(&str, &str)] = &[
    ("select", "from"),
    ("insert", "into"),
    ("update", "set"),
    ("delete", "from"),
    ("create", "table"),
    ("create", "index"),
    ("alter", "table"),
    ("drop", "table"),
    ("copy", "from"),
    ("with", "select"),
];

pub fn check(file: &RustFile) -> Vec<Breach> {
    if file.package() != "workloads" {
        return Vec::new();
    }
    let tokens = flatten(&file.tokens);
    let literals = tokens.iter().filter_map(|token| match token {
        CodeToken::Literal(text, _) if text.contains('"') => Some((token.line(), text)),
        _ => None,
    });
    let statements = literals.filter(|(line, text)| is_statement(text) && !file.is_test_line(*line));
    let message = "a statement of SQL in a text; put it into a `.sql` file beside the workload";
    statements.map(|(line, _)| Breach::new(&file.path, line, "sql", "", message)).collect()
}

/// True if a text begins and continues like a statement.
fn is_statement(literal: &str) -> bool {
    let lower = literal.to_lowercase();
    let mut words = lower.split(|character: char| !character.is_alphanumeric() && character != '_');
    let first = words.by_ref().find(|word| !word.is_empty() && *word != "r" && *word != "b");
    let Some(first) = first else { return false };
    let rest: Vec<&str> = words.collect();
    STATEMENTS.iter().any(|(begin, later)| *begin == first && rest.contains(later))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let file = RustFile::parse(path, text).unwrap();
        check(&file).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn statements_in_texts_are_found_in_workloads_only() {
        let text = "/// select a from b\nconst A: &str =\n    \"select w_tax from warehouse\";\nconst B: &str = r#\"\nUPDATE a SET b = 1\"#;\n";
        assert_eq!(lines("crates/workloads/src/a.rs", text), [3, 4]);
        assert!(lines("crates/engines/src/a.rs", text).is_empty());
    }

    #[test]
    fn prose_with_a_word_of_sql_is_no_statement() {
        let text = "const A: &str = \"update of the stock\";\nconst B: &str = \"rows inserted into order_line\";\n";
        assert!(lines("crates/workloads/src/a.rs", text).is_empty());
    }
}
