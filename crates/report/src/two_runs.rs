//! Two runs of a study side by side: as text for a terminal or a CI log, and as a document.

use crate::document::{Block, Document};
use crate::findings;
use crate::format::{self, Style, counted, filled, joined};
use crate::measures::{self, named, style};
use crate::missing;
use crate::sentence::AnswerParts;
use crate::table::{Table, TableCell, TableOf, Tone, Value, id};
use crate::terminal::{page, wrapped};
use analysis::compare::RatioVerdict;
use analysis::estimate::Estimate;
use analysis::findings::Stamp;
use analysis::measures::throughput::THROUGHPUT;
use analysis::missing::Missing;
use analysis::two_runs::{CellPair, ComparedFigure, Gate, MOST_BLOCKS, NotCompared, Regression, RunSide, TwoRuns};

/// The blocks of a comparison, as in a report.
pub fn document(two: &TwoRuns) -> Document {
    let card = Block::Card { answers: vec![AnswerParts::words(conclusion(two))], stamp: None };
    let blocks = std::iter::once(card).chain(blocks(two)).collect();
    Document::new(format!("{}: two runs compared", two.new.study), blocks)
}

/// Plain text without colours; it ends with a line break. Every warning comes before any number.
pub fn text(two: &TwoRuns) -> String {
    page(&blocks(two)) + "\n" + &wrapped(&conclusion(two), "")
}

fn blocks(two: &TwoRuns) -> Vec<Block> {
    let sides = vec![format!("Old: {}", side(&two.old)), format!("New: {}", side(&two.new))];
    let mut blocks = vec![Block::List(sides)];
    if !two.findings.is_empty() {
        // Each in words: none of them stands for another.
        let found = two.findings.iter().map(findings::warning).collect();
        blocks.push(Block::Trust { found, passed: Vec::new() });
    }
    for cell in &two.cells {
        blocks.push(Block::Heading { level: 2, text: heading(cell) });
        blocks.extend(wrong_data(cell).into_iter().map(Block::Paragraph));
        blocks.extend(table_of("judged", cell, is_shown).map(Block::Table));
        blocks.extend(Block::list(cell.missing.iter().map(not_compared)));
        let others = table_of("other-measures", cell, |figure| !is_shown(figure));
        blocks.extend(Block::fold("All other measures", others.map(Block::Table)));
    }
    blocks.extend(only_in_one(two).into_iter().map(Block::Paragraph));
    blocks.push(Block::Note(note(two)));
    blocks
}

fn heading(cell: &CellPair) -> String {
    filled([&cell.contender, &cell.coordinates], ", ")
}

fn wrong_data(cell: &CellPair) -> Vec<String> {
    let both = [("old", cell.old_wrong_data, cell.old_stamp), ("new", cell.new_wrong_data, cell.new_stamp)];
    let wrong = both.iter().filter(|(_, is_wrong, _)| *is_wrong);
    let wrong = wrong.map(|(which, ..)| format!("WRONG DATA in the {which} run: no verdict"));
    let (old, new) = (cell.old_trials, cell.new_trials);
    let nothing = || format!("nothing to compare: {old} trials of the old run and {new} of the new one count");
    let unusable = both.iter().filter(|(.., stamp)| *stamp == Some(Stamp::NotUsable));
    let unusable = unusable.map(|(which, ..)| format!("NOT USABLE: the answer of the {which} run. Read its report."));
    wrong.chain(cell.figures.is_empty().then(nothing)).chain(unusable).collect()
}

fn not_compared(one: &NotCompared) -> String {
    let of_run = |(which, why): (&str, &Option<Missing>)| Some(format!("{which} run: {}", missing::why(why.as_ref()?)));
    let why = joined([("old", &one.old), ("new", &one.new)].into_iter().filter_map(of_run), "; ");
    format!("not compared: {}, because {why}", measures::words(&one.measure).0)
}

fn only_in_one(two: &TwoRuns) -> Vec<String> {
    let both = [("old", &two.only_old), ("new", &two.only_new)].into_iter().filter(|(_, cells)| !cells.is_empty());
    both.map(|(which, cells)| format!("only in the {which} run: {}", cells.join("; "))).collect()
}

fn note(two: &TwoRuns) -> String {
    let relative = two.cells.iter().flat_map(|cell| &cell.figures).any(|figure| figure.relative_to.is_some());
    let drift = " Contenders are judged by their ratios to the baseline of their run, so a slower host cancels out. --absolute judges \
                 them by what they did.";
    format!(
        "With each change is its 95 % confidence interval, by Welch's t on logarithms: trials of two runs are not paired.{}",
        if relative { drift } else { "" }
    )
}

fn side(side: &RunSide) -> String {
    let RunSide { folder, study, seed, blocks } = side;
    let blocks = counted((*blocks).into(), "block");
    format!("{folder} (study {study}, {blocks}, seed {seed})")
}

/// Figures that runs are judged by, and the figures behind those.
fn is_shown(figure: &ComparedFigure) -> bool {
    figure.judged || figure.is_headline
}

fn table_of(what: &str, cell: &CellPair, wanted: impl Fn(&ComparedFigure) -> bool) -> Option<Table> {
    let figures: Vec<&ComparedFigure> = cell.figures.iter().filter(|figure| wanted(figure)).collect();
    let caption =
        format!("{} of the old run, {} of the new", counted(cell.old_trials.into(), "trial"), cell.new_trials);
    let level = |figure: &ComparedFigure, level: &Estimate| {
        let style = if figure.relative_to.is_some() { Style::EFFECT } else { style(&figure.measure.unit) };
        // The interval of the change matters here.
        TableCell::estimate(Some(level), style, "").detail("")
    };
    TableOf::new(&figures)
        .text("", |figure| name(cell, figure))
        .number("old", |figure| level(figure, &figure.old))
        .number("new", |figure| level(figure, &figure.new))
        .number("change", |figure| measures::contrast(&figure.measure, Some(&figure.change)))
        .number("verdict", |figure| TableCell::verdict(verdict(figure), Tone::Plain))
        .table(id(what, &heading(cell)), caption)
}

fn name(cell: &CellPair, figure: &ComparedFigure) -> TableCell {
    let measure = &figure.measure;
    let label = if measure.id == THROUGHPUT { cell.metric.name.clone() } else { measures::label(measure) };
    let text = match &figure.relative_to {
        Some(baseline) => format!("{} relative to {baseline}", label.split(',').next().unwrap_or(&label)),
        None => label,
    };
    TableCell { value: Value::Text { text }, ..named(measure) }
}

fn verdict(figure: &ComparedFigure) -> String {
    let change = match figure.verdict {
        RatioVerdict::Slower => "slower",
        RatioVerdict::Faster => "faster",
        RatioVerdict::Equivalent => "equivalent",
        RatioVerdict::Undecided => "no difference shown",
        RatioVerdict::TooFewTrials | RatioVerdict::NothingToCompare => "too few trials",
        RatioVerdict::WrongData => "wrong data",
    };
    match figure.regression {
        Regression::Found => format!("{change}: REGRESSION"),
        Regression::NotShown if figure.verdict == RatioVerdict::Undecided => "undecided".to_owned(),
        Regression::NotShown => format!("{change}, undecided"),
        Regression::NotAsked | Regression::RuledOut | Regression::Unknown => change.to_owned(),
    }
}

fn conclusion(two: &TwoRuns) -> String {
    let figures = || two.cells.iter().flat_map(|cell| &cell.figures).filter(|figure| figure.judged);
    let count = |wanted: Regression| figures().filter(|figure| figure.regression == wanted).count();
    let missing = two.cells.iter().map(|cell| cell.missing.len()).sum::<usize>();
    let (found, open) = (count(Regression::Found), count(Regression::NotShown) + missing);
    let all = figures().count() + missing;
    match (two.gate(), two.threshold.map(format::percent)) {
        (Gate::WrongData, _) => "The new run left wrong data behind: how fast it was says nothing.".to_owned(),
        (Gate::Untold, None) => "0 figures could be compared, for the reasons above.".to_owned(),
        (_, None) => "No threshold was given, so no regression was looked for.".to_owned(),
        (Gate::Regressed, Some(percent)) => {
            format!("REGRESSION: {found} of {all} figures became slower by more than {percent}.")
        }
        (Gate::Untold, Some(percent)) => format!(
            "INCONCLUSIVE: no regression above {percent} was found, but not everything could be compared (see above)."
        ),
        (Gate::Open, Some(percent)) => format!("No figure became slower by more than {percent}."),
        (Gate::NotRuledOut, Some(percent)) => format!(
            "INCONCLUSIVE: no regression above {percent} was found, but for {open} of {all} figures it is not ruled out. {}",
            advice(figures().filter_map(|figure| figure.blocks_needed).max(), missing),
        ),
    }
}

/// What it would take to decide all figures.
fn advice(blocks: Option<u32>, missing: usize) -> String {
    let blocks = match blocks {
        None => String::new(),
        Some(blocks @ ..MOST_BLOCKS) => format!("About {blocks} blocks in each run would decide those that were compared."),
        Some(_) => "At least one lies so near the threshold that more blocks will not decide it; allow more, or measure on a quieter \
                    host.".to_owned(),
    };
    let missing = if missing > 0 { "Longer windows would give the percentiles that are missing." } else { "" };
    filled([blocks.as_str(), missing], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::two_runs::compare;
    use record::synthetic;

    #[test]
    fn everything_is_told_and_warnings_come_first() {
        let old = synthetic::run(5);
        let mut new = synthetic::run(4);
        new.plan.seed = 3;
        new.plan.cells.truncate(1);
        for trial in &mut new.trials {
            trial.record.driver.as_mut().unwrap().kinds[0].committed /= 2;
        }
        let two = compare(&old, &new, Some(0.03)).unwrap();
        insta::assert_snapshot!(text(&two), @r#"
        Old: runs/2026-11-21T12-00-00-quickstart (study quickstart, 5 blocks, seed
          20261121)
        New: runs/2026-11-21T12-00-00-quickstart (study quickstart, 4 blocks, seed 3)
        ✗ two-runs: The seeds differ: it was 20261121 and is 3, so clients sent other
          inputs. Use the same seed in both studies.
        ✗ two-runs: The work of a transaction of native differs: bytes of log written
          per transaction were 12,017 and are 15,436. Look for changes of schema, query
          plans and cache.

        native

        5 trials of the old run, 4 of the new
                             old    new                      change              verdict
        ─────────────────  ─────  ─────  ──────────────────────────  ───────────────────
        NOPM               5,249  2,665  −49.2 % (−50.8 to −47.6 %)   slower: REGRESSION
        new-order p50, ms   2.53   2.53     −0.3 % (−1.7 to +1.2 %)  no difference shown
        new-order p95, ms   5.37   5.37     +0.2 % (−3.6 to +4.1 %)            undecided
        new-order p99, ms   7.54   7.47     −0.9 % (−5.4 to +3.7 %)            undecided

        only in the old run: kvm
        With each change is its 95 % confidence interval, by Welch's t on logarithms:
        trials of two runs are not paired.

        REGRESSION: 1 of 4 figures became slower by more than 3 %.
        "#);
    }

    #[test]
    fn what_cannot_be_compared_says_so() {
        let mut old = synthetic::run(3);
        old.trials.clear();
        let told = text(&compare(&old, &synthetic::run(3), Some(0.03)).unwrap());
        assert!(told.contains("nothing to compare: 0 trials of the old run and 3 of the new one count"), "{told}");
        assert!(told.contains("INCONCLUSIVE: no regression above 3 % was found, but not everything"), "{told}");
        let told = text(&compare(&old, &synthetic::run(3), None).unwrap());
        assert!(told.ends_with("0 figures could be compared, for the reasons above.\n"), "{told}");
        let same = synthetic::run(5);
        let told = text(&compare(&same, &same, None).unwrap());
        assert!(told.ends_with("No threshold was given, so no regression was looked for.\n"), "{told}");
    }
}
