//! What the others get beside a machine whose load comes or goes, in sentences: for the answer, and for the section
//! with the figures.

use crate::consolidation::who;
use crate::format;
use crate::missing;
use analysis::consolidation::Consolidation;
use analysis::consolidation::neighbour::beside::Beside;
use analysis::consolidation::neighbour::{Effect, Neighbour, Of};
use analysis::contrast::Position;
use analysis::estimate::Estimate;
use record::settings::OddLoad;

/// What they keep while it works, and whether it comes back; `None` without such a machine, or if it works all the time.
pub fn headline(one: &Consolidation) -> Option<String> {
    let neighbour = one.neighbour.as_ref()?;
    let said = match (neighbour.work, neighbour.beside.is_empty()) {
        (Some(_), _) => of_effects(neighbour),
        (None, false) => neighbour.beside.iter().map(|beside| of_idle(neighbour, beside)).collect::<Vec<_>>().join(" "),
        // For one that works all the time, the cost is stated where it stands idle; here the scores are the answer.
        (None, true) if neighbour.load == OddLoad::Same => return None,
        (None, true) => unmoved(neighbour),
    };
    Some(format!("{}: {said}", who(one)))
}

/// False for a single machine beside one that comes and goes: that section says everything.
pub fn has_scores(one: &Consolidation) -> bool {
    one.machines > 1 || headline(one).is_none()
}

/// When it worked, and which trials were left out.
pub fn sentences(one: &Consolidation) -> Vec<String> {
    let Some(neighbour) = &one.neighbour else { return Vec::new() };
    let left_out = neighbour.left_out.iter().map(|why| format!("left out is {}.", missing::why(why)));
    when(neighbour).into_iter().chain(left_out).map(|sentence| format!("{}: {sentence}", who(one))).collect()
}

/// How a sentence about the others begins.
fn others(neighbour: &Neighbour) -> (&'static str, &'static str) {
    if neighbour.others == 1 { ("the other machine", "does") } else { ("the others", "do") }
}

fn effect(effects: &[Effect], of: Of) -> Option<&Effect> {
    effects.iter().find(|effect| effect.of == of)
}

fn of_effects(neighbour: &Neighbour) -> String {
    let Some(mean) = effect(&neighbour.effects, Of::Mean) else { return unmoved(neighbour) };
    let Some(kept) = mean.kept() else {
        let why = mean.why_none.as_ref().map_or_else(|| "no trial has seconds of both".to_owned(), missing::why);
        return format!("what machine {} costs the others is not known: {why}.", neighbour.machine);
    };
    let without = match (&mean.during_over_both, &mean.during_over_before) {
        (Some(_), _) => "before and after it",
        (None, Some(_)) => "before it",
        (None, None) => "after it",
    };
    let opening = format!("while machine {} works,", neighbour.machine);
    let kept = told(neighbour, &opening, kept, without, no_effect(neighbour.kept));
    let recovered = match (neighbour.recovered, neighbour.others) {
        (Position::Below, 1) => " It has not recovered.",
        (Position::Below, _) => " They have not recovered.",
        (Position::Across, 1) => " It has recovered.",
        (Position::Across, _) => " They have recovered.",
        (Position::Above | Position::Unknown, _) => "",
    };
    let after = mean.after_over_before.as_ref();
    let after = after.map(|after| told(neighbour, "Afterwards", after, "before it", recovered));
    std::iter::once(kept).chain(after).collect::<Vec<_>>().join(" ")
}

fn no_effect(kept: Position) -> &'static str {
    if kept == Position::Across { " No effect is shown." } else { "" }
}

/// "while machine 3 works, the others do 29 % less work than before and after it (95 % confidence interval −34 to −24 %)."
fn told(neighbour: &Neighbour, opening: &str, ratio: &Estimate, without: &str, end: &str) -> String {
    let (name, does) = others(neighbour);
    let (work, interval) = (format::work_against(ratio.point), format::effect_interval(ratio));
    format!("{opening} {name} {does} {work} {without}{interval}.{end}")
}

fn of_idle(neighbour: &Neighbour, beside: &Beside) -> String {
    let (machine, place) = (neighbour.machine, &beside.reference.coordinates);
    let Some(mean) = effect(&beside.effects, Of::Mean) else { return unmoved(neighbour) };
    let Some(kept) = mean.kept() else {
        let why = mean.why_none.as_ref().map_or_else(|| "no block has both".to_owned(), missing::why);
        return format!("what machine {machine} costs the others at {place} is not known: {why}.");
    };
    let opening = format!("at {place}, where machine {machine} works,");
    told(neighbour, &opening, kept, "where it is idle", no_effect(beside.kept))
}

/// For a machine whose load never changes, where no other cell shows its effect either.
fn unmoved(neighbour: &Neighbour) -> String {
    let (name, _) = others(neighbour);
    let machine = neighbour.machine;
    match (neighbour.load, neighbour.left_out.first()) {
        (_, Some(why)) => format!("what machine {machine} costs {name} is not known: {}.", missing::why(why)),
        (OddLoad::Idle, None) => format!(
            "machine {machine} stands idle, and no cell of the same machines has it at work all the time, so what that costs {name} is \
             not told."
        ),
        (_, None) => {
            format!("machine {machine} neither came nor went while {name} worked, by what its own driver recorded.")
        }
    }
}

/// When it worked.
fn when(neighbour: &Neighbour) -> Option<String> {
    let work = neighbour.work?;
    let in_s = |moment: f64| format!("{} s", format::decimal(moment, 1));
    let from = work.from_s.map_or_else(|| "the beginning".to_owned(), in_s);
    let to = work.to_s.map_or_else(|| "the end".to_owned(), in_s);
    let uncertain = neighbour.trials.iter().map(|trial| trial.uncertain_ms).fold(0.0, f64::max);
    Some(format!(
        "machine {} worked from {from} to {to} of the others' measured windows, as its own driver recorded it; clocks may be {} ms off.",
        neighbour.machine,
        format::decimal(uncertain, 2)
    ))
}
