//! Whether acknowledged transactions survive when servers, guests and the host's power are lost, and what a commit costs.

use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Digits, Style, within};
use crate::sentence::AnswerParts;
use crate::table::{Table, TableCell, TableOf, Tone};
use crate::words::words;
use analysis::answers::audited_alike;
use analysis::durability::{Audited, Doubt, DurabilityVerdict, OfFault};
use analysis::summary::Analysis;
use record::durability::{Cost, Fault};

const NOT_MEASURED: &str = "not measured";
const NOTE: &str = "A commit waits for as many flushes, one after the other, as it takes milliseconds longer for each millisecond that a \
    flush takes longer; 0 means that it waits for none. Commits a second were measured while each flush took as long as \
    audit.durability.flush_delay says. The host's own disk is not audited, and its behaviour at a loss of power is not known here: an \
    audit looks at everything above the disk.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let all = &analysis.durability;
    let tables = [overview(all), faults(all), early(all)].into_iter().flatten().map(Block::Table);
    headed("Durability", tables, NOTE)
}

/// The findings of this audit, and the same of other contenders.
pub fn answer(analysis: &Analysis, index: usize) -> AnswerParts {
    let contenders = format::listed(audited_alike(analysis, index).map(|one| &one.contender));
    let one = &analysis.durability[index];
    let says = format!("{contenders} {}.", says(one));
    AnswerParts { place: one.coordinates.clone(), says, ..AnswerParts::default() }
}

words! {
    /// In the past tense, which is the same for one contender and several. Without them, and without a full stop.
    fn says(one: &Audited) {
        &one.verdict;
        let settings = one.declared.join(" and ");
        let declared = |is_declared: bool| within(", as ", if is_declared { &settings } else { "" }, " declares");
    }
    DurabilityVerdict {
        Kept { cuts, bound } =>
            "kept every acknowledged transaction in {cuts} cuts. With 95 % confidence, a cut like these loses something with a chance \
             below {}",
            format::percent(rounded_up(*bound));
        Loses { by, is_declared } => "lost {} when {}{} ({})",
            at_most(by.most), fault(by.fault), declared(*is_declared), seen(by.losing, by);
        Breaks { by, is_declared } => "broke when {}{} ({}){}: {}",
            fault(by.fault), declared(*is_declared), seen(by.breaking, by), otherwise(by),
            by.why.as_deref().map(format::first_line).unwrap_or_default().trim_end_matches('.');
        AcknowledgesEarly { transactions, is_declared } =>
            "acknowledged {} transactions before they were safe{}, though no cut happened to lose one",
            format::count(*transactions), declared(*is_declared);
        Undecided { doubt } => "got no verdict, because {}", why_undecided(*doubt);
        NotAudited { why } => "could not be audited: {}", why.trim_end_matches('.');
    }
}

fn otherwise(by: &OfFault) -> String {
    if by.most > 0 { format!(", and otherwise lost {}", at_most(by.most)) } else { String::new() }
}

/// A bound stays one when it is rounded up, to a whole per cent if it is at least that.
fn rounded_up(bound: f64) -> f64 {
    let steps = if bound < 0.01 { 1e4 } else { 1e2 };
    (bound * steps - 1e-9).ceil() / steps
}

fn fault(fault: Fault) -> &'static str {
    match fault {
        Fault::ServerKilled => "the server was killed",
        Fault::GuestLost => "the guest was lost",
        Fault::HostLost => "the host lost power",
    }
}

fn at_most(count: u64) -> String {
    match count {
        1 => "1 acknowledged transaction".to_owned(),
        many => format!("up to {} acknowledged transactions", format::count(many)),
    }
}

fn seen(times: usize, by: &OfFault) -> String {
    format!("{times} of {} times", by.times)
}

fn why_undecided(doubt: Doubt) -> String {
    match doubt {
        Doubt::LiarPasses => "the same audit found nothing on a disk that lies".to_owned(),
        Doubt::FewAcknowledged(count) => format!("only {count} transactions were acknowledged"),
        Doubt::FewCuts(count) => format!("{count} cuts are too few"),
        Doubt::Unconfirmed(count) => format!("{count} cuts lost something once, and not when they were made again"),
    }
}

fn tone(verdict: &DurabilityVerdict) -> Tone {
    match verdict {
        DurabilityVerdict::Kept { .. } => Tone::Good,
        DurabilityVerdict::Undecided { .. } | DurabilityVerdict::NotAudited { .. } => Tone::Muted,
        other if other.is_a_lie() => Tone::Bad,
        _ => Tone::Marked,
    }
}

/// A fast liar and a slow honest contender side by side.
pub fn overview(all: &[Audited]) -> Option<Table> {
    let tried = |cost: &Cost| cost.rates.iter().map(|rate| rate.clients).collect::<Vec<u32>>();
    let rates = all.iter().filter_map(|one| one.cost.as_ref()).map(tried).max_by_key(Vec::len).unwrap_or_default();
    let number = |one: &Audited, of: &dyn Fn(&Cost) -> Option<f64>, digits| {
        TableCell::number_or(one.cost.as_ref().and_then(of), Style::new("", digits), NOT_MEASURED)
    };
    // The first says what the numbers count.
    let title = |index: usize, clients: u32| match index {
        0 => format::counted(clients.into(), "client"),
        _ => clients.to_string(),
    };
    let rate = |cost: &Cost, clients: u32| Some(cost.rates.iter().find(|rate| rate.clients == clients)?.per_second);
    let caption =
        "What a commit costs: flushes and KiB at the disk, flushes that it waited for, and commits/s by clients";
    TableOf::new(all)
        .text("contender", |one| contender(&one.contender, &one.coordinates))
        .text("verdict", |one| TableCell::verdict(one.verdict.word(), tone(&one.verdict)))
        .number("flushes", |one| number(one, &|cost| Some(cost.flushes), Digits::Decimals(2)))
        .number("KiB", |one| number(one, &|cost| Some(cost.bytes / 1024.0), Digits::Decimals(1)))
        .number("waited for", |one| number(one, &|cost| cost.slope, Digits::Decimals(2)))
        .numbers(
            rates.into_iter().enumerate(),
            |(index, clients)| title(*index, *clients),
            |(_, clients), one| number(one, &|cost| rate(cost, *clients), Digits::Quantity),
        )
        .table("durability", caption)
}

fn faults(all: &[Audited]) -> Option<Table> {
    let faults: Vec<_> = all.iter().flat_map(|one| one.faults.iter().map(move |by| (one, by))).collect();
    let caption = "What was lost, and what was missing afterwards; a loss is counted if a second rebuild shows it, too";
    TableOf::new(&faults)
        .text("contender", |(one, _)| contender(&one.contender, &one.coordinates))
        .text("fault", |(_, by)| TableCell::text(fault(by.fault)))
        .number("times", |(_, by)| TableCell::count(by.times as u64))
        .number("something acknowledged was lost", |(_, by)| marked(by.losing as u64))
        .number("most lost", |(_, by)| marked(by.most))
        .number("data not whole", |(_, by)| marked(by.breaking as u64))
        .table("durability-faults", caption)
}

fn marked(count: u64) -> TableCell {
    TableCell::count(count).tone(if count > 0 { Tone::Marked } else { Tone::Plain })
}

/// What was acknowledged before it was safe, whether or not a cut lost it.
fn early(all: &[Audited]) -> Option<Table> {
    let audited = all.iter().filter(|one| !matches!(one.verdict, DurabilityVerdict::NotAudited { .. }));
    let scanned: Vec<_> = audited.map(|one| (one, one.scan.unwrap_or_default())).collect();
    TableOf::new(&scanned)
        .text("contender", |(one, _)| contender(&one.contender, &one.coordinates))
        .number("acknowledged", |(one, _)| TableCell::count(one.acknowledged))
        .number("holds", |(one, _)| TableCell::count(one.holds as u64))
        .number("begun and acknowledged in a hold", |(one, _)| marked(one.acknowledged_in_holds))
        .number("flushed", |(_, scan)| TableCell::count(scan.flushed))
        .number("only written", |(_, scan)| marked(scan.unflushed))
        .number("not written", |(_, scan)| marked(scan.unwritten))
        .table("durability-early", "Where each transaction was when it was acknowledged, by the log of the disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audited(verdict: DurabilityVerdict, declared: &[&str]) -> Audited {
        Audited {
            cell: 0,
            contender: "vm".to_owned(),
            baseline: false,
            coordinates: String::new(),
            verdict,
            declared: declared.iter().map(|&setting| setting.to_owned()).collect(),
            acknowledged: 700,
            holds: 10,
            acknowledged_in_holds: 0,
            scan: None,
            faults: Vec::new(),
            cost: None,
        }
    }

    #[test]
    fn a_bound_is_never_told_too_small() {
        let told = [3.0 / 34.0, 3.0 / 60.0, 3.0 / 300.0, 3.0 / 700.0].map(|bound| format::percent(rounded_up(bound)));
        assert_eq!(told, ["9 %", "5 %", "1 %", "0.43 %"]);
    }

    #[test]
    fn each_verdict_is_a_sentence() {
        let by = OfFault { fault: Fault::HostLost, times: 60, losing: 3, most: 1, breaking: 0, why: None };
        let loses = |is_declared| DurabilityVerdict::Loses { by: by.clone(), is_declared };
        let why = Some("it does not start: invalid page\nin block 0".to_owned());
        let breaks = DurabilityVerdict::Breaks {
            by: OfFault { breaking: 2, most: 1_200, why, ..by.clone() },
            is_declared: false,
        };
        for (verdict, declared, expected) in [
            (
                DurabilityVerdict::Kept { cuts: 60, bound: 0.05 },
                &[][..],
                "kept every acknowledged transaction in 60 cuts. With 95 % confidence, a cut like these loses something with a \
                 chance below 5 %",
            ),
            (loses(false), &[], "lost 1 acknowledged transaction when the host lost power (3 of 60 times)"),
            (
                loses(true),
                &["fsync=off"],
                "lost 1 acknowledged transaction when the host lost power, as fsync=off declares (3 of 60 times)",
            ),
            (
                breaks,
                &[],
                "broke when the host lost power (2 of 60 times), and otherwise lost up to 1,200 acknowledged transactions: it does \
                 not start: invalid page",
            ),
            (
                DurabilityVerdict::AcknowledgesEarly { transactions: 4_000, is_declared: false },
                &[],
                "acknowledged 4,000 transactions before they were safe, though no cut happened to lose one",
            ),
            (
                DurabilityVerdict::Undecided { doubt: Doubt::FewCuts(3) },
                &[],
                "got no verdict, because 3 cuts are too few",
            ),
            (
                DurabilityVerdict::NotAudited { why: "there is no /dev/fuse".to_owned() },
                &[],
                "could not be audited: there is no /dev/fuse",
            ),
        ] {
            assert_eq!(says(&audited(verdict, declared)), expected);
        }
    }

    #[test]
    fn liars_come_first_and_what_is_said_of_several_is_said_once() {
        let mut analysis = analysis::summary::analyse(&record::synthetic::run(3));
        let named = |contender: &str, verdict| Audited { contender: contender.to_owned(), ..audited(verdict, &[]) };
        let kept = || DurabilityVerdict::Kept { cuts: 60, bound: 0.05 };
        let early = DurabilityVerdict::AcknowledgesEarly { transactions: 7, is_declared: false };
        analysis.durability = vec![named("one", kept()), named("liar", early), named("two", kept())];
        let said = crate::answer::sentences(&analysis).split_off(1);
        assert_eq!(said.len(), 2);
        assert!(said[0].starts_with("liar acknowledged 7"), "{said:?}");
        assert!(said[1].starts_with("one and two kept every"), "{said:?}");
    }
}
