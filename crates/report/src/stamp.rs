//! Whether an answer may be used, in a sentence: the main reason against it, and how far that could move it.

use crate::findings;
use crate::format;
use crate::sentence::Stamped;
use analysis::answers::reach::Reach;
use analysis::answers::{Answered, Question, narrowed, without_host};
use analysis::durability::DurabilityVerdict::{AcknowledgesEarly, Breaks, Kept, Loses};
use analysis::findings::Stamp;
use analysis::summary::Analysis;
use record::durability::Fault;

pub fn of(analysis: &Analysis, answered: &Answered) -> Stamped {
    let (stamp, doubts) = (answered.stamp, &answered.doubts);
    let reasons = doubts.iter().filter(|doubt| doubt.stamp == stamp).count();
    // If neither one of them nor all together are the reason, there is no interval. That may be due to missing trials.
    let is_reason = reasons > 0 || together(answered) != Reach::NONE;
    let first = doubts.first().filter(|doubt| stamp > Stamp::Usable && (is_reason || doubt.code == "trials-missing"));
    let remedy = match answered.question {
        Question::Durable(_) if stamp > Stamp::Usable => Some("Remove the cause, then run the audit again."),
        _ if first.is_none() && stamp == Stamp::NotUsable => Some("Add blocks, and look at trials that do not count."),
        _ => first.map(|doubt| analysis.findings[doubt.finding].what.kind().remedy),
    };
    let why = first.map(|doubt| {
        let found = narrowed(analysis, answered.question, &analysis.findings[doubt.finding]);
        let found = findings::warning(&found).text;
        match doubt.reach {
            _ if !is_reason => format!("{found}."),
            _ if reasons == 0 => {
                format!("{found}. All doubts together move this answer by {}.", moved(together(answered)))
            }
            Some(reach) => format!("{found}. The doubt moves this answer by {}.{}", moved(reach), more(reasons)),
            None => format!("{found}.{}", more(reasons)),
        }
    });
    let says = match (stamp, why) {
        (Stamp::Usable, _) if doubts.is_empty() => without_doubt(analysis, answered.question),
        (Stamp::Usable, _) => {
            let moved = moved(together(answered));
            format!("Usable: the doubts below move this answer by {moved}, within its interval or margin.")
        }
        (_, None) if matches!(answered.question, Question::Durable(_)) => {
            "Not usable: the audit has no verdict.".to_owned()
        }
        (_, None) => "Not usable: there is no figure with a confidence interval.".to_owned(),
        (Stamp::WithCare, Some(why)) => format!("Use with care. {why}"),
        (Stamp::NotUsable, Some(why)) => format!("Not usable. {why}"),
    };
    Stamped { stamp, says, remedy, finding: first.map(|doubt| doubt.finding), doubts: doubts.clone() }
}

fn without_doubt(analysis: &Analysis, question: Question) -> String {
    if let Question::Durable(index) = question {
        let why = match &analysis.durability[index].verdict {
            Kept { .. } => "the same audit found the losses of a disk that lies",
            AcknowledgesEarly { .. } => "acknowledgements came before their flush",
            Loses { by, .. } | Breaks { by, .. } if by.fault > Fault::ServerKilled => "a repeated cut did the same",
            _ => "the server was killed, and its data were read afterwards",
        };
        return format!("Usable: {why}.");
    }
    let unread = match without_host(analysis, question) {
        0 => String::new(),
        trials => format!(", and the load of the host was not read in {}", format::counted(trials as u64, "trial")),
    };
    format!("Usable: no check found a reason for doubt{unread}.")
}

fn together(answered: &Answered) -> Reach {
    answered.doubts.iter().filter_map(|doubt| doubt.reach).fold(Reach::NONE, Reach::and)
}

/// "at most −4.0 %", "at most −4.0 to +1.2 %".
fn moved(reach: Reach) -> String {
    let text = match (reach.low < 1.0, reach.high > 1.0) {
        (true, true) => format::effect_bounds(1.0, reach.low, reach.high),
        (true, false) => format::effect(reach.low),
        (false, _) => format::effect(reach.high),
    };
    format!("at most {text}")
}

fn more(reasons: usize) -> String {
    if reasons > 1 { format!(" {} below.", format::counted(reasons as u64 - 1, "more reason")) } else { String::new() }
}
