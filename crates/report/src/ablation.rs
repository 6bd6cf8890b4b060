//! What single changes do, in a sentence.

use crate::format;
use crate::sentence::Answer;
use analysis::ablation::{Ablation, Effect};
use analysis::compare::Comparison;
use analysis::summary::Analysis;
use record::ablation::Direction;

/// The answer at the point of one effect, over all effects there.
pub fn answer(analysis: &Analysis, effect: usize) -> Answer {
    let Some(ablation) = &analysis.ablation else { return Answer::default() };
    let place = &ablation.effects[effect].coordinates;
    let own: Vec<(&Effect, &Comparison)> =
        compared(analysis, ablation).filter(|(effect, _)| effect.coordinates == *place).collect();
    let emulated = own.iter().any(|(_, comparison)| !comparison.emulated.is_empty());
    let but = if emulated { "The CPU was emulated in software: on KVM the changes may do something else." } else { "" };
    Answer { place: place.clone(), says: says(ablation, &own), but: but.to_owned(), ..Answer::default() }
}

/// Effects with their comparisons, the greatest first.
pub fn compared<'a>(
    analysis: &'a Analysis,
    ablation: &'a Ablation,
) -> impl Iterator<Item = (&'a Effect, &'a Comparison)> {
    ablation.effects.iter().filter_map(|effect| {
        let own = analysis.comparisons.iter().find(|one| one.contender_cell == effect.cell)?;
        Some((effect, own))
    })
}

/// "Of 6 changes to vm, 1 made a difference: disk limit −21 % (−23 to −19 %). For the others no difference is shown."
fn says(ablation: &Ablation, own: &[(&Effect, &Comparison)]) -> String {
    let found: Vec<String> = own
        .iter()
        .filter(|(_, comparison)| comparison.verdict.is_difference())
        .filter_map(|(effect, comparison)| {
            let ratio = comparison.throughput()?;
            Some(format!("{} {}", effect.change, format::effect_of(&ratio.estimate)))
        })
        .collect();
    let (what, only) = match ablation.direction {
        Direction::AddOne => {
            (format!("Of {} changes to {}", own.len(), ablation.of), format!("The change to {}", ablation.of))
        }
        Direction::LeaveOneOut => (
            format!("Of {} changes left out of {}, one at a time", own.len(), ablation.against),
            format!("The change left out of {}", ablation.against),
        ),
    };
    match (found.len(), own.len()) {
        (0, 1) => format!("{only} is not shown to make a difference to throughput."),
        (1, 1) => format!("{only} made a difference to throughput: {}.", found.join("; ")),
        (0, _) => format!("{what}, none is shown to make a difference to throughput."),
        (some, all) if some == all => format!("{what}, all made a difference to throughput: {}.", found.join("; ")),
        (some, all) => format!(
            "{what}, {some} made a difference to throughput: {}. For the other{} no difference is shown.",
            found.join("; "),
            if all - some == 1 { "" } else { "s" }
        ),
    }
}
