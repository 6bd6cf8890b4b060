//! What the sessions of the servers waited for.

use super::{headed, place};
use crate::document::Block;
use crate::format::{self, Digits, Style};
use crate::missing;
use crate::table::{Table, TableCell, TableOf, id};
use analysis::summary::Analysis;
use analysis::waits::{AverageSessions, Sampled, WaitsOfContenders};

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for waits in &analysis.waits {
        found.extend(place(&waits.coordinates));
        found.extend(table(waits).map(Block::Table));
        found.push(Block::List(waits.contenders.iter().map(told).collect()));
    }
    let note = "Point values over all samples of the valid trials. “CPU” counts sessions that were at work and waited for \
            nothing. Idle sessions are not counted. With several databases, the figures are of the first.";
    headed("What sessions waited for", found, note)
}

fn table(waits: &WaitsOfContenders) -> Option<Table> {
    let rest = (!waits.rest.is_empty()).then(|| ("all further events".to_owned(), &waits.rest));
    let rows: Vec<_> = waits.events.iter().map(|one| (name(one), &one.sessions)).chain(rest).collect();
    let number = |sessions: Option<f64>| {
        TableCell::number_or(sessions, Style::new("", Digits::Decimals(2)), "it was not sampled")
    };
    TableOf::new(&rows)
        .text("event", |(name, _)| TableCell::text(name))
        .numbers(
            waits.contenders.iter().enumerate(),
            |(_, one)| one.contender.clone(),
            |(place, _), (_, sessions)| number(sessions.get(*place).copied().flatten()),
        )
        .table(id("waits", &waits.coordinates), "Average active sessions")
}

fn name(event: &AverageSessions) -> String {
    if event.event.is_empty() { event.class.clone() } else { format!("{}: {}", event.class, event.event) }
}

fn told(sampled: &Sampled) -> String {
    let mut said = vec![match sampled.milliseconds_each {
        Some(each) => format!(
            "{} samples of {}, each {} ms of the server, {} missed",
            format::count(sampled.samples),
            format::listed(&sampled.sources),
            format::decimal(each, 2),
            format::count(sampled.missed)
        ),
        None => "not sampled".to_owned(),
    }];
    said.extend(sampled.missing.iter().map(missing::why));
    format!("{}: {}.", sampled.contender, said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown;
    use analysis::summary::analyse;
    use record::looks::Reading;
    use record::synthetic;

    fn section(run: &record::run::Run) -> String {
        let document = crate::document::Document::new("Title", blocks(&analyse(run)));
        markdown::write(&document)
    }

    #[test]
    fn contenders_stand_side_by_side_with_what_was_sampled() {
        let mut run = synthetic::waits::sampled(synthetic::run(3));
        insta::assert_snapshot!(section(&run), @r"
        # Title

        ## What sessions waited for

        Average active sessions

        | event | native | kvm |
        | :--- | ---: | ---: |
        | IO: WALSync | 12.00 | 6.00 |
        | Lock: transactionid | 0.00 | 3.50 |
        | CPU | 1.40 | 1.40 |

        - native: 300 samples of pg\_stat\_activity, each 0.60 ms of the server, 3 missed.
        - kvm: 300 samples of pg\_stat\_activity, each 0.60 ms of the server, 3 missed.

        *Point values over all samples of the valid trials. “CPU” counts sessions that were at work and waited for nothing. Idle sessions are not counted. With several databases, the figures are of the first.*
        ");
        for trial in &mut run.trials {
            trial.looks.as_mut().unwrap().end.waits = Some(Reading::Unavailable("there is no server".to_owned()));
        }
        assert!(section(&run).contains("native: not sampled; there is no server."), "{}", section(&run));
        assert!(blocks(&analyse(&synthetic::run(3))).is_empty());
    }
}
