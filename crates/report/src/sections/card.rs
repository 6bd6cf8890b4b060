//! The top of the report: where and when it was measured, the answer, and whether it may be used.

use crate::answer;
use crate::document::{Block, Stamped};
use crate::findings::{self, explained};
use crate::format;
use analysis::findings::{Finding, Stamp};
use analysis::summary::Analysis;
use analysis::usability::Usability;
use record::facts::Fact;
use record::run::Run;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    // An audit's verdict says itself what may be believed.
    let stamp = (!run.has_only_audits()).then(|| stamped(analysis));
    let card = Block::Card { answers: answer::first(analysis), stamp };
    vec![Block::Where(place(run)), card]
}

/// "bakeoff · quickstart · 2026-11-22 05:09 UTC · AMD EPYC, 2 CPUs, 23.5 GiB, Linux 6.18 (itself a guest of KVM)".
fn place(run: &Run) -> String {
    let host = |fact: &str| match run.host.get(fact) {
        Some(Fact::Known(text)) => Some(text.as_str()),
        Some(Fact::Unavailable(_)) | None => None,
    };
    let trials = run.trials.iter().map(|trial| trial.record.started.as_str());
    let started = trials.chain(run.durability.iter().map(|audit| audit.started.as_str()));
    let started = started.filter(|at| !at.is_empty()).min();
    let started = started.map(|at| at.replacen('T', " ", 1)).map(|at| match at.rsplit_once(':') {
        Some((minute, _)) => format!("{minute} UTC"),
        None => at,
    });
    let memory = host("memory.total_bytes").and_then(|bytes| bytes.parse::<u64>().ok()).map(format::bytes);
    let threads = host("cpu.threads").map(|count| format!("{count} CPU{}", if count == "1" { "" } else { "s" }));
    let kernel = host("kernel.release").map(|release| {
        let guest = host("virtualization.guest") == Some("yes");
        let vendor = host("virtualization.vendor").map(|vendor| format!(" of {vendor}")).unwrap_or_default();
        format!("Linux {release}{}", if guest { format!(" (itself a guest{vendor})") } else { String::new() })
    });
    let machine = [host("cpu.model").map(str::to_owned), threads, memory, kernel];
    let machine = machine.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let is_elsewhere = run.plan.cells.iter().any(|cell| cell.settings.is_of_existing_server());
    let hosts = format::distinct(run.plan.trials.iter().filter_map(|trial| trial.host.as_deref())).len();
    let machine = match hosts {
        0 if is_elsewhere && !machine.is_empty() => format!("load from {machine}"),
        0 => machine,
        hosts => format!("{hosts} hosts"),
    };
    let parts = [Some("bakeoff".to_owned()), Some(run.plan.study.clone()), started, Some(machine)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The main reason for the stamp.
pub fn reason(analysis: &Analysis) -> Option<&Finding> {
    let code = analysis.usability.because.first()?;
    analysis.findings.iter().find(|finding| finding.accepted.is_none() && finding.what.code() == code)
}

/// The stamp with that reason, and what to do about it.
pub fn stamped(analysis: &Analysis) -> Stamped {
    let Usability { stamp, because } = &analysis.usability;
    let first = reason(analysis);
    let why = first.map(|finding| {
        let more = match because.len() {
            0 | 1 => String::new(),
            2 => " One more reason is below.".to_owned(),
            many => format!(" {} more reasons are below.", many - 1),
        };
        format!(" {}.{more}", findings::warning(finding).text)
    });
    let why = why.unwrap_or_default();
    let says = match stamp {
        Stamp::Usable => "Usable: no check found a reason for doubt.".to_owned(),
        Stamp::WithCare => format!("Use with care.{why}"),
        Stamp::NotUsable if why.is_empty() => "Not usable: there is no figure with a confidence interval.".to_owned(),
        Stamp::NotUsable => format!("Not usable.{why}"),
    };
    let remedy = first.and_then(|finding| explained::of(finding.what.code())).map(|(explained, _)| explained.remedy);
    Stamped { stamp: *stamp, says, remedy }
}
