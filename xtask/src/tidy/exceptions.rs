//! Places that may break a rule, each with its reason. An exception that is no longer needed is itself a finding.

use super::finding::Breach;

pub struct Exception {
    pub path: &'static str,
    pub rule: &'static str,
    pub subject: &'static str,
    pub why: &'static str,
}

pub const LISTED: &[Exception] = &[
    Exception {
        path: "crates/workloads/src/checksum.rs",
        rule: "sql",
        subject: "",
        why: "reads every column of every table of any workload; the names come from the workload's own list of tables",
    },
    Exception {
        path: "crates/engines/src/account.rs",
        rule: "circle",
        subject: "crates/engines/src/account.rs",
        why: "a server's report has an endpoint, which is an enum over all engines, and is made by the list of them",
    },
    Exception {
        path: "crates/telemetry/src/probes/interrupts.rs",
        rule: "whitespace",
        subject: "",
        why: "texts as recorded from the kernel, which ends the line of CPUs with blanks",
    },
    Exception {
        path: "crates/telemetry/src/probes/softirqs.rs",
        rule: "whitespace",
        subject: "",
        why: "texts as recorded from the kernel, which ends the line of CPUs with blanks",
    },
];

const THIS_FILE: &str = "xtask/src/tidy/exceptions.rs";

/// Drops excepted findings and adds a finding for each exception without a use or a reason.
pub fn apply(listed: &[Exception], findings: Vec<Breach>) -> Vec<Breach> {
    let covers = |exception: &Exception, finding: &Breach| {
        (exception.path, exception.rule, exception.subject) == (&finding.path, finding.rule, &finding.subject)
    };
    let mut kept: Vec<Breach> = Vec::new();
    for exception in listed {
        let place = format!("{} [{}] {}", exception.path, exception.rule, exception.subject);
        if !findings.iter().any(|finding| covers(exception, finding)) {
            let message = format!("the exception for {place} is no longer needed; remove it");
            kept.push(Breach::new(THIS_FILE, 0, "exception", exception.subject, message));
        }
        if exception.why.trim().is_empty() {
            let message = format!("the exception for {place} has no reason");
            kept.push(Breach::new(THIS_FILE, 0, "exception", exception.subject, message));
        }
    }
    kept.extend(findings.into_iter().filter(|finding| !listed.iter().any(|exception| covers(exception, finding))));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Exception =
        Exception { path: "crates/a/src/b.rs", rule: "function-length", subject: "parse", why: "a table" };

    fn finding() -> Breach {
        Breach::new("crates/a/src/b.rs", 7, "function-length", "parse", "is long")
    }

    #[test]
    fn an_exception_covers_its_finding_only() {
        assert!(apply(&[LONG], vec![finding()]).is_empty());
        let other = Breach { subject: "print".to_owned(), ..finding() };
        assert_eq!(apply(&[LONG], vec![finding(), other.clone()]), [other]);
    }

    #[test]
    fn an_exception_without_use_or_reason_is_a_finding() {
        assert!(apply(&[LONG], Vec::new())[0].message.contains("no longer needed"));
        let unexplained = Exception { why: " ", ..LONG };
        assert!(apply(&[unexplained], vec![finding()])[0].message.contains("no reason"));
    }
}
