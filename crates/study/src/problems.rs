//! The problems of a study: what is wrong, where, and what was expected there.

use record::text::visible;
use std::fmt;

/// One thing wrong with a study file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Counted from 1; `None` if the problem is that something is missing.
    pub line: Option<usize>,
    /// Counted from 1; known only if no path names the place.
    pub column: Option<usize>,
    /// Dotted path from the top of the study; empty for a mistake in the TOML itself.
    pub path: String,
    /// "unknown key", "missing", or what was found.
    pub found: String,
    pub expected: String,
    pub nearest: Option<String>,
    /// The contenders that have this problem; empty if all have it.
    pub contenders: Vec<String>,
}

impl Flaw {
    pub(crate) fn new(line: Option<usize>, path: &str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            line,
            column: None,
            path: path.to_owned(),
            found: found.into(),
            expected: expected.into(),
            nearest: None,
            contenders: Vec::new(),
        }
    }

    pub(crate) fn with_nearest(mut self, word: Option<&str>) -> Self {
        self.nearest = word.map(str::to_owned);
        self
    }

    /// A problem of the table at `prefix`, with its path from the top of the study.
    pub(crate) fn from_table(prefix: &str, line: Option<usize>, problem: settings::Problem) -> Self {
        let path = below(prefix, &problem.path);
        Self { nearest: problem.nearest, ..Self::new(line, &path, problem.found, problem.expected) }
    }

    /// `studies/x.toml:12: workload.warehouse: unknown key; expected …; did you mean "warehouses"?`
    pub fn render(&self, file: &str) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}: {self}"),
            (Some(line), None) => format!("{file}:{line}: {self}"),
            (None, _) => format!("{file}: {self}"),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = settings::Problem {
            path: self.path.clone(),
            found: self.found.clone(),
            expected: self.expected.clone(),
            nearest: self.nearest.clone(),
        };
        told.fmt(formatter)?;
        match self.contenders.as_slice() {
            [] => Ok(()),
            [only] => write!(formatter, " (contender {only})"),
            several => write!(formatter, " (contenders {})", several.join(", ")),
        }
    }
}

/// All problems of a study file, one per line. Line breaks in the file's keys or values are made visible.
pub fn render(problems: &[Flaw], file: &str) -> String {
    problems.iter().map(|problem| visible(&problem.render(file)).into_owned()).collect::<Vec<_>>().join("\n")
}

/// In the order of the file, each once. Problems without a line come last.
pub(crate) fn in_order(mut problems: Vec<Flaw>) -> Vec<Flaw> {
    problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
    let mut told: Vec<Flaw> = Vec::new();
    for problem in problems {
        if !told.contains(&problem) {
            told.push(problem);
        }
    }
    told
}

/// The path of `name` in the table at `path`.
pub(crate) fn below(path: &str, name: &str) -> String {
    match (path, name) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// Words for an expectation: `"a", "b" or "c"`.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = words.into_iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
