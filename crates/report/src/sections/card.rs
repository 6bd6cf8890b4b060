//! The top of the report: where and when it was measured, the answers, whether they may be used, and what to know before.

use crate::document::Block;
use crate::format::{self, filled, joined};
use crate::{answer, many_runs, precision};
use analysis::many_runs::HostBrief;
use analysis::summary::Analysis;
use record::facts::Fact;
use record::run::Run;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let ([first, more], stamp) = answer::in_report(analysis);
    let card = Block::Card { answers: first, stamp };
    let more = (!more.is_empty()).then_some(Block::Card { answers: more, stamp: None });
    [Block::Where(place(run)), card].into_iter().chain(Block::fold("More answers", more)).collect()
}

/// "bakeoff · quickstart · 2026-11-22 05:09 UTC · AMD EPYC, 2 CPUs, 23.53 GiB, Linux 6.18 (itself a guest of KVM)".
fn place(run: &Run) -> String {
    let host = |fact: &str| match run.host.get(fact) {
        Some(Fact::Known(text)) => Some(text.as_str()),
        Some(Fact::Unavailable(_)) | None => None,
    };
    let trials = run.trials.iter().map(|trial| trial.record.started.as_str());
    let started = trials.chain(run.durability.iter().map(|audit| audit.started.as_str()));
    let started = started.filter(|at| !at.is_empty()).min().map(|at| many_runs::moment(Some(at)) + " UTC");
    let kernel = host("kernel.release").map(|release| {
        let guest = host("virtualization.guest") == Some("yes");
        let vendor = host("virtualization.vendor").map(|vendor| format!(" of {vendor}")).unwrap_or_default();
        format!("Linux {release}{}", if guest { format!(" (itself a guest{vendor})") } else { String::new() })
    });
    let machine = joined([many_runs::host(&HostBrief::of(&run.host))].into_iter().chain(kernel), ", ");
    let is_elsewhere = run.plan.cells.iter().any(|cell| cell.settings.is_of_existing_server());
    let hosts = format::distinct(run.plan.trials.iter().filter_map(|trial| trial.host.as_deref())).len();
    let machine = match hosts {
        0 if is_elsewhere => format!("load from {machine}"),
        0 => machine,
        hosts => format!("{hosts} hosts"),
    };
    filled(["bakeoff".to_owned(), run.plan.study.clone(), started.unwrap_or_default(), machine], " · ")
}

/// Facts about the design of the run that a reader needs before judging its answer: contenders compared with themselves, and blocks added
/// until intervals were narrow. Most runs have neither.
pub fn design(analysis: &Analysis) -> Vec<String> {
    let precision = analysis.precision.as_ref().map(precision::sentence);
    against_itself(analysis).into_iter().chain(precision).collect()
}

fn against_itself(analysis: &Analysis) -> Option<String> {
    let all = analysis.comparisons.len();
    let alarms = analysis.comparisons.iter().filter(|comparison| comparison.verdict.is_difference()).count();
    let comparisons = if all == 1 { "comparison" } else { "comparisons" };
    let seen = match alarms {
        0 => format!("None was seen in {all} {comparisons}."),
        _ => format!("Yet {alarms} of {all} {comparisons} saw one: a false alarm."),
    };
    analysis.aa.then(|| {
        format!(
            "This is an A/A study: each contender is compared with itself, so there is no difference to be seen. {seen} About \
             1 run in 20 raises a false alarm, however many comparisons it makes. If repeated A/A runs raise more, something here \
             varies in a way that the intervals do not cover, and differences of that size between real contenders mean \
             nothing."
        )
    })
}
