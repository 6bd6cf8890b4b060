//! What must be absent: functions and types that some crates must not use, and why.

use super::code::{flatten, lines_with};
use super::finding::Breach;
use super::source_file::RustFile;

struct Absence {
    /// Packages that must not use it.
    in_packages: In,
    code: PathToken,
    patterns: &'static [&'static str],
    why: &'static str,
}

enum In {
    All,
    AllBut(&'static [&'static str]),
    Only(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PathToken {
    Product,
    Tests,
    Both,
}

const ABSENCES: &[Absence] = &[
    Absence {
        in_packages: In::AllBut(&["cli", "xtask"]),
        code: PathToken::Product,
        patterns: &["println !", "print !", "eprintln !", "eprint !", "dbg !"],
        why: "only cli prints; hand back a value or an event",
    },
    Absence {
        in_packages: In::AllBut(&["cli", "xtask"]),
        code: PathToken::Product,
        patterns: &["process :: exit", "process :: abort", "exit_group"],
        why: "only cli ends the process; hand back an error",
    },
    Absence {
        in_packages: In::AllBut(&["cli", "xtask"]),
        code: PathToken::Product,
        patterns: &[
            "env :: var",
            "env :: var_os",
            "env :: vars",
            "env :: vars_os",
            "env :: args",
            "env :: args_os",
            "env :: temp_dir",
            "env :: home_dir",
            "env :: current_dir",
            "env :: set_var",
        ],
        why: "only cli reads the environment; take the value as an argument",
    },
    Absence {
        in_packages: In::Only(&["analysis", "report", "settings", "study"]),
        code: PathToken::Product,
        patterns: &["std :: fs", "fs :: read", "fs :: write", "File :: open", "File :: create"],
        why: "this crate is a pure function of its input and touches no disk",
    },
    Absence {
        in_packages: In::Only(&["analysis", "report", "settings", "study", "record", "histograms"]),
        code: PathToken::Product,
        patterns: &["Instant", "SystemTime"],
        why: "this crate reads no clock; a moment is an input",
    },
    Absence {
        in_packages: In::Only(&["workloads"]),
        code: PathToken::Product,
        patterns: &["Instant"],
        why: "a workload measures nothing; the driver does",
    },
    Absence {
        in_packages: In::Only(&["workloads"]),
        code: PathToken::Product,
        patterns: &["TcpStream", "UnixStream", "rusqlite", "postgres_protocol"],
        why: "a workload never opens a connection and knows no product; it speaks through a session",
    },
    Absence {
        in_packages: In::Only(&["workloads", "analysis", "report", "settings", "study", "record", "histograms"]),
        code: PathToken::Product,
        patterns: &["thread :: sleep", "thread :: spawn"],
        why: "this crate neither waits nor runs beside itself",
    },
    Absence {
        in_packages: In::Only(&["driver", "engines"]),
        code: PathToken::Product,
        patterns: &["Mutex", "RwLock"],
        why: "the hot path has no lock; each shard owns what it works on",
    },
    Absence {
        in_packages: In::All,
        code: PathToken::Tests,
        patterns: &["thread :: sleep"],
        why: "a test that sleeps is slow or wrong; wait for a condition, with a limit",
    },
    Absence {
        in_packages: In::All,
        code: PathToken::Both,
        patterns: &["unimplemented !", "todo !"],
        why: "nothing half-made is kept",
    },
];

pub fn check(file: &RustFile) -> Vec<Breach> {
    let tokens = flatten(&file.tokens);
    let mut findings = Vec::new();
    for absence in ABSENCES.iter().filter(|absence| absence.in_packages.covers(file.package())) {
        for pattern in absence.patterns {
            let lines = lines_with(&tokens, pattern).into_iter();
            let name = pattern.replace(' ', "");
            findings.extend(lines.filter(|line| absence.code.covers(file.is_test_line(*line))).map(|line| {
                Breach::new(&file.path, line, "absence", &name, format!("`{name}` is used, but {}", absence.why))
            }));
        }
    }
    findings
}

impl In {
    fn covers(&self, package: &str) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(packages) => !packages.contains(&package),
            Self::Only(packages) => packages.contains(&package),
        }
    }
}

impl PathToken {
    fn covers(self, is_test: bool) -> bool {
        match self {
            Self::Product => !is_test,
            Self::Tests => is_test,
            Self::Both => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(path: &str, text: &str) -> Vec<String> {
        let file = RustFile::parse(path, text).unwrap();
        check(&file).into_iter().map(|finding| finding.subject).collect()
    }

    const PRINTS: &str = "fn a() {\n    println!(\"x\");\n    std::process::exit(1)\n}\n";

    #[test]
    fn only_cli_and_chores_print_and_exit() {
        assert_eq!(subjects("crates/driver/src/a.rs", PRINTS), ["println!", "process::exit"]);
        assert!(subjects("crates/cli/src/a.rs", PRINTS).is_empty());
        assert!(subjects("xtask/src/a.rs", PRINTS).is_empty());
        assert!(subjects("crates/driver/tests/a.rs", PRINTS).is_empty());
    }

    #[test]
    fn texts_and_comments_are_no_uses() {
        assert!(subjects("crates/driver/src/a.rs", "// println!\nconst A: &str = \"println!()\";\n").is_empty());
    }

    #[test]
    fn uses_inside_macros_count() {
        assert_eq!(subjects("crates/trial/src/a.rs", "fn a() {\n    vec![std::env::var(\"A\")];\n}\n"), ["env::var"]);
    }

    #[test]
    fn the_variable_of_the_compiler_is_not_the_environment() {
        assert!(subjects("crates/trial/src/a.rs", "const A: &str = env!(\"CARGO_PKG_VERSION\");\n").is_empty());
    }

    #[test]
    fn analysis_reads_no_clock_but_the_driver_does() {
        let text = "use std::time::Instant;\n";
        assert_eq!(subjects("crates/analysis/src/a.rs", text), ["Instant"]);
        assert!(subjects("crates/driver/src/a.rs", text).is_empty());
    }

    #[test]
    fn tests_do_not_sleep_but_the_product_may() {
        let text = "fn a() {\n    std::thread::sleep(b);\n}\n";
        assert_eq!(subjects("crates/images/tests/a.rs", text), ["thread::sleep"]);
        assert!(subjects("crates/images/src/a.rs", text).is_empty());
    }
}
