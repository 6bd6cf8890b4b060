//! The verdict of a durability audit, in a sentence.

use crate::format;
use crate::sentence::Answer;
use analysis::answers::audited_alike;
use analysis::durability::{Audited, Doubt, OfFault, Verdict};
use analysis::summary::Analysis;
use record::durability::Fault;

/// What this audit found, and the same of other contenders.
pub fn answer(analysis: &Analysis, index: usize) -> Answer {
    let contenders = format::listed(audited_alike(analysis, index).map(|one| &one.contender));
    let one = &analysis.durability[index];
    let says = format!("{contenders} {}.", says(one));
    Answer { place: one.coordinates.clone(), says, ..Answer::default() }
}

/// In the past tense, which is the same for one contender and several. Without them, and without a full stop.
fn says(one: &Audited) -> String {
    let declared = |is_declared: &bool| {
        if *is_declared { format!(", as {} declares", one.declared.join(" and ")) } else { String::new() }
    };
    match &one.verdict {
        Verdict::Kept { cuts, bound } => format!(
            "kept every acknowledged transaction in {cuts} cuts. With 95 % confidence, a cut like these loses something with a chance \
             below {}",
            format::percent(rounded_up(*bound))
        ),
        Verdict::Loses { by, is_declared } => format!(
            "lost {} when {}{} ({})",
            at_most(by.most),
            fault(by.fault),
            declared(is_declared),
            seen(by.losing, by)
        ),
        Verdict::Breaks { by, is_declared } => format!(
            "broke when {}{} ({}){}: {}",
            fault(by.fault),
            declared(is_declared),
            seen(by.breaking, by),
            if by.most > 0 { format!(", and otherwise lost {}", at_most(by.most)) } else { String::new() },
            by.why.as_deref().map(format::first_line).unwrap_or_default().trim_end_matches('.')
        ),
        Verdict::AcknowledgesEarly { transactions, is_declared } => format!(
            "acknowledged {} transactions before they were safe{}, though no cut happened to lose one",
            format::count(*transactions),
            declared(is_declared)
        ),
        Verdict::Undecided { doubt } => format!("got no verdict, because {}", why_undecided(*doubt)),
        Verdict::NotAudited { why } => format!("could not be audited: {}", why.trim_end_matches('.')),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn audited(verdict: Verdict, declared: &[&str]) -> Audited {
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
        let loses = |is_declared| Verdict::Loses { by: by.clone(), is_declared };
        let why = Some("it does not start: invalid page\nin block 0".to_owned());
        let breaks =
            Verdict::Breaks { by: OfFault { breaking: 2, most: 1_200, why, ..by.clone() }, is_declared: false };
        for (verdict, declared, expected) in [
            (
                Verdict::Kept { cuts: 60, bound: 0.05 },
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
                Verdict::AcknowledgesEarly { transactions: 4_000, is_declared: false },
                &[],
                "acknowledged 4,000 transactions before they were safe, though no cut happened to lose one",
            ),
            (Verdict::Undecided { doubt: Doubt::FewCuts(3) }, &[], "got no verdict, because 3 cuts are too few"),
            (
                Verdict::NotAudited { why: "there is no /dev/fuse".to_owned() },
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
        let kept = || Verdict::Kept { cuts: 60, bound: 0.05 };
        let early = Verdict::AcknowledgesEarly { transactions: 7, is_declared: false };
        analysis.durability = vec![named("one", kept()), named("liar", early), named("two", kept())];
        let said = crate::answer::sentences(&analysis).split_off(1);
        assert_eq!(said.len(), 2);
        assert!(said[0].starts_with("liar acknowledged 7"), "{said:?}");
        assert!(said[1].starts_with("one and two kept every"), "{said:?}");
    }
}
