//! The answers to the study's question in words, in the order of [`analysis::answers`].

use crate::figures::scaling::plural;
use crate::format::{self, Style, filled, joined};
use crate::measures::of_cell;
use crate::sections::{ablation, consolidation, durability, neighbour};
use crate::sentence::{AnswerParts, Stamped};
use crate::table::said;
use crate::words::words;
use crate::{missing, stamp};
use analysis::answers::{self, Answered, Question};
use analysis::cells::CellResult;
use analysis::compare::{Comparison, RatioVerdict, WrongData};
use analysis::contrast::Contrast;
use analysis::estimate::Estimate;
use analysis::findings::{Finding, What};
use analysis::measures::counted::CPU_ON_HOST;
use analysis::scaling::Scaling;
use analysis::student::FEWEST_BLOCKS;
use analysis::summary::Analysis;

pub fn sentences(analysis: &Analysis) -> Vec<String> {
    all(analysis).iter().map(AnswerParts::sentence).collect()
}

/// A report that has more answers opens with so many.
const MOST: usize = 6;

/// The answers that open a report, all others, and the stamp if it is the same for all.
pub fn in_report(analysis: &Analysis) -> ([Vec<AnswerParts>; 2], Option<Stamped>) {
    let mut answers = all(analysis);
    let says = |one: &AnswerParts| one.stamped.as_ref().map(|stamped| stamped.says.clone());
    let is_common = answers.windows(2).all(|pair| says(&pair[0]) == says(&pair[1]));
    let common = answers.first().filter(|_| is_common).and_then(|first| first.stamped.clone());
    let mut said: Vec<Stamped> = Vec::new();
    for answer in &mut answers {
        let Some(stamped) = answer.stamped.take().filter(|_| common.is_none()) else { continue };
        // A reader looks for the nearest with the same stamp.
        let above = said.iter().rfind(|above| above.stamp == stamped.stamp);
        let is_again = above.is_some_and(|above| above.says == stamped.says);
        answer.stamped = Some(if is_again { stamped.again() } else { stamped.clone() });
        said.push(stamped);
    }
    // A fold takes as much room as an answer.
    let more = if answers.len() > MOST + 1 { answers.split_off(MOST) } else { Vec::new() };
    ([answers, more], common)
}

/// All answers, each with its stamp.
pub fn all(analysis: &Analysis) -> Vec<AnswerParts> {
    let answered = answers::all(analysis);
    let unchanged = analysis.ablation.as_ref().filter(|one| one.effects.is_empty() && !answered.is_empty());
    let unchanged = unchanged.map(|one| AnswerParts::words(format!("No change to {} could be made here.", one.of)));
    let words = answered.iter().map(|one| {
        let (question, stamped) = (Some(one.question), Some(stamp::of(analysis, one)));
        let answer = of(analysis, one.question);
        AnswerParts { question, but: filled([answer.but, scope(one)], " "), stamped, ..answer }
    });
    let all: Vec<AnswerParts> = unchanged.into_iter().chain(words).collect();
    if all.is_empty() { vec![AnswerParts::words("Nothing was planned.")] } else { all }
}

/// "Other processes and the hypervisor below this host had 24 % of its CPU time meanwhile."
fn scope(one: &Answered) -> String {
    let had =
        |share| format!("Other processes and the hypervisor below this host had {share} of its CPU time meanwhile.");
    let others = one.others.map(|share| had(format::share(share, 0)));
    let without = one.is_without_checkpoints.then(|| "No checkpoint began in any measured window.".to_owned());
    let accepted = (!one.accepted.is_empty()).then(|| format!("Accepted: {}.", format::listed(&one.accepted)));
    joined([others, without, accepted].into_iter().flatten(), " ")
}

fn of(analysis: &Analysis, question: Question) -> AnswerParts {
    match question {
        Question::Growth(index) => growth(&analysis.scaling[index]),
        Question::Minimum(index) => {
            let one = &analysis.consolidation[index];
            // For a machine that is set apart, the answer is its effect on the others.
            let says = neighbour::headline(one).unwrap_or_else(|| consolidation::answer(one));
            AnswerParts {
                interval: "In brackets are 95 % confidence intervals.".to_owned(),
                ..AnswerParts::words(says)
            }
        }
        Question::Change(index) => ablation::answer(analysis, index),
        Question::Cost(index) => of_comparison(analysis, &analysis.comparisons[index]),
        Question::Level(index) => alone(&analysis.cells[index]),
        Question::EqualShare(index) => AnswerParts::words(consolidation::shares(&analysis.consolidation[index])),
        Question::Durable(index) => durability::answer(analysis, index),
    }
}

/// "vm with 8 vCPUs did 5.12 times as much work as with 1: 64 % of linear growth."
fn growth(curve: &Scaling) -> AnswerParts {
    let ends = curve.points.first().zip(curve.points.last());
    let Some((smallest, largest, growth)) = ends.and_then(|(one, other)| Some((one, other, other.growth.as_ref()?)))
    else {
        return AnswerParts::default();
    };
    let linear = largest.efficiency.as_ref();
    let linear = linear.map(|part| format!(": {} of linear growth", format::share(part.estimate.point, 0)));
    let (who, sizes, point) = (&curve.contender, plural(&curve.axis), growth.estimate.point);
    let (most, least) = (&largest.size, &smallest.size);
    let did = format!("{who} with {most} {sizes} did {} with {least}", format::work_against(point));
    let bounds = &growth.estimate.bounds;
    let undecided = bounds.known().filter(|_| bounds.contain(1.0) == Some(true));
    let (change, says) = match undecided {
        Some((low, high)) => (
            format::effect_bounds(point, low, high),
            format!("Undecided whether {who} does more with {most} {sizes} than with {least}. In this run {did}."),
        ),
        None => (format::effect(point), format!("{did}{}.", linear.unwrap_or_default())),
    };
    let interval = of_change(growth, &format::counted(growth.blocks.len() as u64, "block"));
    AnswerParts { place: curve.held.clone(), change: Some(change), says, interval, ..AnswerParts::default() }
}

/// The answer for a contender that is compared with nothing.
fn alone(cell: &CellResult) -> AnswerParts {
    let CellResult { contender, coordinates, outcomes, metric, .. } = cell;
    let mut interval = String::new();
    let says = match cell.throughput() {
        _ if outcomes.wrong_data > 0 => {
            format!("{contender} left wrong data behind, so how fast it was says nothing.")
        }
        None => format!("Nothing counts: {contender} has no valid trial."),
        Some(throughput) => {
            interval = match throughput.bounds.known() {
                Some((low, high)) => {
                    format!("The 95 % confidence interval is {} to {}", format::quantity(low), format::quantity(high))
                }
                None => format!("There is no confidence interval: it needs {FEWEST_BLOCKS} blocks"),
            };
            interval.push_str(". Nothing was compared with it.");
            format!("{contender} did {} {}.", format::quantity(throughput.point), metric.unit)
        }
    };
    AnswerParts { place: coordinates.clone(), says, interval, ..AnswerParts::default() }
}

fn of_comparison(analysis: &Analysis, comparison: &Comparison) -> AnswerParts {
    let Comparison { contender, baseline, coordinates, .. } = comparison;
    let (place, refusal) = (coordinates.clone(), refusal(comparison));
    let Some(ratio) = comparison.throughput() else {
        let nothing = || format!("{contender} could not be compared with {baseline}: no block was completed by both.");
        return AnswerParts { place, says: refusal.unwrap_or_else(nothing), ..AnswerParts::default() };
    };
    let (change, says) = match refusal {
        None => (Some(change(comparison, ratio)), verdict(analysis, comparison, ratio)),
        Some(refusal) => {
            let (blocks, did) = (blocks(comparison, ratio), did(analysis, comparison, ratio));
            (None, format!("{refusal} In {blocks} with correct data, {did}"))
        }
    };
    let but = filled([emulation(analysis, comparison).as_str(), false_alarm(analysis, comparison)], " ");
    AnswerParts { place, change, says, interval: interval(comparison, ratio), but, ..AnswerParts::default() }
}

/// Where no difference is shown, a single number would look like one, so the interval stands in its place.
fn change(comparison: &Comparison, ratio: &Contrast) -> String {
    let point = ratio.estimate.point;
    match ratio.estimate.bounds.known().filter(|_| comparison.verdict == RatioVerdict::Undecided) {
        Some((low, high)) => format::effect_bounds(point, low, high),
        None => format::effect(point),
    }
}

/// What to say about a difference in an A/A study.
fn false_alarm(analysis: &Analysis, comparison: &Comparison) -> &'static str {
    if analysis.aa && comparison.verdict.is_difference() { "But both are the same: a false alarm." } else { "" }
}

/// Why there is no verdict, if the data is wrong on either side.
fn refusal(comparison: &Comparison) -> Option<String> {
    let wrong = |found: &WrongData| {
        let plural = if found.trials.len() == 1 { "" } else { "s" };
        format!("{} left wrong data behind in trial{plural} {}", found.contender, format::listed(&found.trials))
    };
    let Comparison { contender, baseline, wrong_data, .. } = comparison;
    let why = joined(wrong_data.iter().map(wrong), ", and ");
    (!why.is_empty()).then(|| format!("No verdict on {contender} against {baseline}: {why}."))
}

/// The note about emulation, which goes wherever the ratio goes. Nobody mistakes it for the price of a VM if both are emulated,
/// or if the study accepts that.
fn emulation(analysis: &Analysis, comparison: &Comparison) -> String {
    let who = format::listed(&comparison.emulated);
    let is_accepted = |finding: &Finding| matches!(finding.what, What::VmEmulated { .. }) && finding.accepted.is_some();
    match comparison.emulated.len() {
        0 => String::new(),
        2 => format!("The CPUs of {who} were emulated in software."),
        _ if analysis.findings.iter().any(is_accepted) => format!("The CPU of {who} was emulated in software."),
        _ => format!("The figure is not the price of a VM: the CPU of {who} was emulated in software."),
    }
}

/// "kvm did 15 % less work than native: 4,480 instead of 5,279 new orders per minute (NOPM)."
fn did(analysis: &Analysis, comparison: &Comparison, ratio: &Contrast) -> String {
    let Comparison { contender, baseline, .. } = comparison;
    let than = format!("{contender} did {} {baseline}", format::work_against(ratio.estimate.point));
    format!("{than}{}.", levels(analysis, comparison))
}

/// The levels of both, where their quotient is the ratio.
fn levels(analysis: &Analysis, comparison: &Comparison) -> String {
    let level = |id: u32| of_cell(analysis, id)?.throughput().map(|level| level.point);
    let both = level(comparison.baseline_cell).zip(level(comparison.contender_cell));
    let Some((base, own)) = both.filter(|_| comparison.left_out.is_empty()) else { return String::new() };
    let metric = &comparison.metric;
    // Several machines have "…, minimum of 3" and "…, of the slowest of 3 machines".
    let first = |text: &str| text.split(", ").next().map(str::to_owned);
    let unit = if metric.unit.is_empty() {
        metric.name.clone()
    } else if first(&metric.unit) == first(&metric.name) {
        metric.unit.clone()
    } else {
        format!("{} ({})", metric.unit, metric.name)
    };
    format!(": {} instead of {} {unit}", format::quantity(own), format::quantity(base))
}

words! {
    fn verdict(analysis: &Analysis, comparison: &Comparison, ratio: &Contrast) {
        &comparison.verdict;
        let Comparison { contender, baseline, .. } = comparison;
        let did = did(analysis, comparison, ratio);
    }
    RatioVerdict {
        Slower => "{did}";
        Faster => "{did}";
        NothingToCompare => "{did}";
        WrongData => "{did}";
        Equivalent =>
            "{contender} and {baseline} are equivalent: their throughput differs by less than the study's margin of {}.",
            analysis.margin.map(format::percent).unwrap_or_default();
        Undecided => "No difference between {contender} and {baseline} is shown. In this run {did}";
        TooFewTrials => "Too few {} for a verdict. In {}, {did}",
            if comparison.over_hosts { "hosts" } else { "blocks" }, blocks(comparison, ratio);
    }
}

/// "The loss is likely between 14 and 16 % (95 % confidence interval, 5 blocks)."
fn interval(comparison: &Comparison, ratio: &Contrast) -> String {
    if ratio.estimate.bounds.known().is_none() && comparison.verdict == RatioVerdict::TooFewTrials {
        let needed = if comparison.over_hosts { "pairs of hosts" } else { "blocks" };
        return format!("There is no confidence interval: it needs {FEWEST_BLOCKS} {needed}.");
    }
    let (change, among) = (of_change(ratio, &blocks(comparison, ratio)), among_others(comparison, ratio));
    format!("{change}{among}{}", for_the_same_load(comparison).unwrap_or_default())
}

/// " For the same load it takes +18 % (+10 to +27 %) CPU time of the host."
fn for_the_same_load(comparison: &Comparison) -> Option<String> {
    let change = comparison.contrast(CPU_ON_HOST).filter(|change| change.estimate.bounds.known().is_some())?;
    Some(format!(" For the same load it takes {} CPU time of the host.", said(&change.estimate, Style::EFFECT)))
}

fn of_change(ratio: &Contrast, blocks: &str) -> String {
    let Estimate { point, bounds, .. } = &ratio.estimate;
    let ends = bounds.known().map(|(low, high)| format::effect_bounds(*point, low, high));
    match ends {
        Some(ends) => format!("The 95 % confidence interval of the change is {ends} ({blocks})."),
        None => format!("There is no confidence interval: {}.", missing::of_interval(bounds).unwrap_or_default()),
    }
}

/// Why an interval that leaves out 1 is not called a difference.
fn among_others(comparison: &Comparison, ratio: &Contrast) -> &'static str {
    let apart = comparison.verdict == RatioVerdict::Undecided
        && ratio.estimate.bounds.contain(1.0) == Some(false)
        && comparison.p_equal.is_some();
    let said = " By itself, the interval would show a difference. Among so many comparisons, such an interval may come by chance (Holm's method).";
    if apart { said } else { "" }
}

fn blocks(comparison: &Comparison, ratio: &Contrast) -> String {
    let (what, of) = if comparison.over_hosts { ("pair", " of hosts") } else { ("block", "") };
    format::counted(ratio.blocks.len() as u64, what) + of
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::findings::Stamp;
    use analysis::summary::analyse;
    use record::run::Run;
    use record::synthetic;

    /// The answer for a run whose windows counted a thousand on the baseline and these on the contender.
    fn answer(contender: &[u64]) -> String {
        sentences(&analyse(&run_of(contender))).concat()
    }

    fn run_of(contender: &[u64]) -> Run {
        let mut run = synthetic::run(u32::try_from(contender.len()).unwrap());
        for trial in &mut run.trials {
            let block = trial.record.block as usize - 1;
            let driver = trial.record.driver.as_mut().unwrap();
            driver.kinds[0].rolled_back = 0;
            driver.kinds[0].committed = if trial.record.cell == 0 { 1000 } else { contender[block] };
        }
        run
    }

    #[test]
    fn a_difference_is_not_shown_or_shown_to_be_small() {
        assert_eq!(
            answer(&[990, 1010, 1000, 1005]),
            "No difference between kvm and native is shown. In this run kvm did 0.1 % more work than native: 2,503 instead of \
             2,500 new orders per minute (NOPM). The 95 % confidence interval of the change is −1.2 to +1.5 % (4 blocks)."
        );
        let mut run = run_of(&[990, 1010, 1000, 1005]);
        run.plan.margin = Some(0.05);
        assert_eq!(
            sentences(&analyse(&run)).concat(),
            "kvm and native are equivalent: their throughput differs by less than the study's margin of 5 %. The 95 % confidence \
             interval of the change is −1.2 to +1.5 % (4 blocks)."
        );
    }

    #[test]
    fn what_is_alone_is_told_with_its_interval() {
        let alone = |blocks: &[u64]| {
            let mut run = run_of(blocks);
            run.plan.cells.retain(|cell| !cell.baseline);
            run.plan.trials.retain(|trial| trial.cell != 0);
            run.trials.retain(|trial| trial.record.cell != 0);
            let analysis = analyse(&run);
            (sentences(&analysis).concat(), answers::worst(&answers::all(&analysis)) == Stamp::NotUsable)
        };
        let (text, is_useless) = alone(&[990, 1010, 1000]);
        assert_eq!(
            text,
            "kvm did 2,500 new orders per minute. The 95 % confidence interval is 2,439 to 2,563. Nothing was compared \
             with it."
        );
        assert!(!is_useless);
        let (text, is_useless) = alone(&[990, 1010]);
        assert!(text.contains("There is no confidence interval") && is_useless, "{text}");
    }

    #[test]
    fn the_other_verdicts_are_said_in_words() {
        assert_eq!(
            answer(&[850, 860, 840]),
            "kvm did 15.0 % less work than native: 2,125 instead of 2,500 new orders per minute (NOPM). The 95 % confidence interval \
             of the change is −17.5 to −12.5 % (3 blocks)."
        );
        assert!(
            answer(&[1200, 1210, 1190]).starts_with("kvm did 20.0 % more work than native: 3,000 instead of 2,500")
        );
        assert!(answer(&[2500, 2510, 2490]).starts_with("kvm did 2.50 times as much work as native: 6,250 instead of"));
        assert_eq!(
            answer(&[850, 860]),
            "Too few blocks for a verdict. In 2 blocks, kvm did 14.5 % less work than native: 2,137 instead of 2,500 new orders per \
             minute (NOPM). There is no confidence interval: it needs 3 blocks."
        );
    }
}
