//! The top of the report: where and when it was measured, the answers, and whether they may be used.

use crate::answer;
use crate::document::Block;
use crate::format::{self, filled, joined};
use analysis::summary::Analysis;
use record::facts::Fact;
use record::run::Run;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let (answers, stamp) = answer::first(analysis);
    vec![Block::Where(place(run)), Block::Card { answers, stamp }]
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
    let machine = joined([host("cpu.model").map(str::to_owned), threads, memory, kernel].into_iter().flatten(), ", ");
    let is_elsewhere = run.plan.cells.iter().any(|cell| cell.settings.is_of_existing_server());
    let hosts = format::distinct(run.plan.trials.iter().filter_map(|trial| trial.host.as_deref())).len();
    let machine = match hosts {
        0 if is_elsewhere && !machine.is_empty() => format!("load from {machine}"),
        0 => machine,
        hosts => format!("{hosts} hosts"),
    };
    filled(["bakeoff".to_owned(), run.plan.study.clone(), started.unwrap_or_default(), machine], " · ")
}
