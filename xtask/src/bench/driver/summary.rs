//! From rounds to a table and to figures with limits.

use super::contestant::{DriverContestant, TurnResult};
use super::scenario::Scenario;
use crate::bench::bar::{Bar, BarSize, median, spread};
use std::fmt::Write;

/// The most that a change without effect may seem to cost or to lose.
pub const MOST_CPU: f64 = 1.05;
const LEAST_RATE: f64 = 0.95;

/// Samples of each contestant, one per round.
pub struct Rounds {
    samples: Vec<(DriverContestant, Vec<TurnResult>)>,
}

impl Rounds {
    pub fn new(contestants: &[DriverContestant]) -> Self {
        Self { samples: contestants.iter().map(|contestant| (*contestant, Vec::new())).collect() }
    }

    pub fn add(&mut self, contestant: DriverContestant, sample: TurnResult) {
        if let Some((_, samples)) = self.samples.iter_mut().find(|(of, _)| *of == contestant) {
            samples.push(sample);
        }
    }

    fn of(&self, contestant: DriverContestant) -> &[TurnResult] {
        self.samples.iter().find(|(of, _)| *of == contestant).map_or(&[], |(_, samples)| samples)
    }

    /// Ratios of our figure to another contestant's, round by round.
    fn ratios(&self, other: DriverContestant, figure: fn(&TurnResult) -> f64) -> Vec<f64> {
        let pairs = self.of(DriverContestant::Bakeoff).iter().zip(self.of(other));
        pairs.map(|(ours, theirs)| figure(ours) / figure(theirs)).collect()
    }

    /// Medians and the ratios of ours to each, with their spread, in Markdown.
    pub fn table(&self) -> String {
        let mut table = "| | CPU per statement, µs | statements/s | our CPU as a share | our throughput as a share |\n\
                         | --- | --- | --- | --- | --- |\n"
            .to_owned();
        for (contestant, samples) in &self.samples {
            let figure = |figure: fn(&TurnResult) -> f64| median(samples.iter().map(figure).collect());
            let share = |figure| spread(self.ratios(*contestant, figure));
            let _ = writeln!(
                table,
                "| {} | {:.1} | {:.0} | {} | {} |",
                contestant.name(),
                figure(TurnResult::cpu_us),
                figure(TurnResult::rate),
                share(TurnResult::cpu_us),
                share(TurnResult::rate),
            );
        }
        table
    }

    pub fn bars(&self, scenario: &Scenario) -> Vec<Bar> {
        let mut others = self.samples.iter().map(|(contestant, _)| *contestant);
        if others.any(|contestant| contestant == DriverContestant::Before) {
            self.bars_before(scenario)
        } else {
            self.bars_of_peers(scenario)
        }
    }

    fn bars_before(&self, scenario: &Scenario) -> Vec<Bar> {
        let bar = |what: &str, figure, asked| Bar {
            what: format!("{}: {what}, of {}", scenario.name(), DriverContestant::Before.name()),
            found: median(self.ratios(DriverContestant::Before, figure)),
            asked,
        };
        vec![
            bar("CPU per statement", TurnResult::cpu_us, BarSize::AtMost(MOST_CPU)),
            bar("throughput", TurnResult::rate, BarSize::AtLeast(LEAST_RATE)),
        ]
    }

    fn bars_of_peers(&self, scenario: &Scenario) -> Vec<Bar> {
        let cpu = |other: DriverContestant, most| Bar {
            what: format!("{}: CPU per statement, of {}", scenario.name(), other.name()),
            found: median(self.ratios(other, TurnResult::cpu_us)),
            asked: BarSize::AtMost(most),
        };
        let mut bars: Vec<Bar> =
            scenario.of_pgbench.map(|most| cpu(DriverContestant::Pgbench, most)).into_iter().collect();
        bars.push(cpu(DriverContestant::Sysbench, scenario.of_sysbench));
        let rate = |other| median(self.ratios(other, TurnResult::rate));
        let others = self.samples.iter().map(|(contestant, _)| *contestant);
        let others = others.filter(|contestant| *contestant != DriverContestant::Bakeoff);
        bars.push(Bar {
            what: format!("{}: throughput, of the better of the others", scenario.name()),
            found: others.map(rate).fold(f64::INFINITY, f64::min),
            asked: BarSize::AtLeast(1.0),
        });
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_the_bakeoff_before_nobody_else_is_asked() {
        let mut rounds = Rounds::new(&[DriverContestant::Bakeoff, DriverContestant::Before]);
        let sample = |cpu_s| TurnResult { statements: 1e6, seconds: 1.0, cpu_s };
        rounds.add(DriverContestant::Bakeoff, sample(1.2));
        rounds.add(DriverContestant::Before, sample(1.0));
        let bars = rounds.bars(&crate::bench::driver::scenario::SCENARIOS[0]);
        assert_eq!(bars.iter().map(Bar::is_met).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn ratios_pair_rounds() {
        let mut rounds = Rounds::new(&[DriverContestant::Bakeoff, DriverContestant::Sysbench]);
        for (ours, theirs) in [(1.0, 2.0), (3.0, 4.0)] {
            rounds.add(DriverContestant::Bakeoff, TurnResult { statements: 1e6, seconds: 1.0, cpu_s: ours });
            rounds.add(DriverContestant::Sysbench, TurnResult { statements: 1e6, seconds: 1.0, cpu_s: theirs });
        }
        assert_eq!(rounds.ratios(DriverContestant::Sysbench, TurnResult::cpu_us), [0.5, 0.75]);
        assert!(rounds.table().contains("| sysbench | 3.0 | 1000000 | 0.62 (0.50 to 0.75) | 1.00 (1.00 to 1.00) |"));
    }
}
