//! From rounds to a table and to figures with limits.

use super::contestant::{Contestant, Sample};
use super::scenario::Scenario;
use crate::bench::bar::{Asked, Bar, median, spread};
use std::fmt::Write;

/// The most that a change without effect may seem to cost or to lose.
pub const MOST_CPU: f64 = 1.05;
const LEAST_RATE: f64 = 0.95;

/// Samples of each contestant, one per round.
pub struct Rounds {
    samples: Vec<(Contestant, Vec<Sample>)>,
}

impl Rounds {
    pub fn new(contestants: &[Contestant]) -> Self {
        Self { samples: contestants.iter().map(|contestant| (*contestant, Vec::new())).collect() }
    }

    pub fn add(&mut self, contestant: Contestant, sample: Sample) {
        if let Some((_, samples)) = self.samples.iter_mut().find(|(of, _)| *of == contestant) {
            samples.push(sample);
        }
    }

    fn of(&self, contestant: Contestant) -> &[Sample] {
        self.samples.iter().find(|(of, _)| *of == contestant).map_or(&[], |(_, samples)| samples)
    }

    /// Ratios of our figure to another contestant's, round by round.
    fn ratios(&self, other: Contestant, figure: fn(&Sample) -> f64) -> Vec<f64> {
        let pairs = self.of(Contestant::Bakeoff).iter().zip(self.of(other));
        pairs.map(|(ours, theirs)| figure(ours) / figure(theirs)).collect()
    }

    /// Medians and the ratios of ours to each, with their spread, in Markdown.
    pub fn table(&self) -> String {
        let mut table = "| | CPU per statement, µs | statements/s | our CPU as a share | our throughput as a share |\n\
                         | --- | --- | --- | --- | --- |\n"
            .to_owned();
        for (contestant, samples) in &self.samples {
            let figure = |figure: fn(&Sample) -> f64| median(samples.iter().map(figure).collect());
            let share = |figure| spread(self.ratios(*contestant, figure));
            let _ = writeln!(
                table,
                "| {} | {:.1} | {:.0} | {} | {} |",
                contestant.name(),
                figure(Sample::cpu_us),
                figure(Sample::rate),
                share(Sample::cpu_us),
                share(Sample::rate),
            );
        }
        table
    }

    pub fn bars(&self, scenario: &Scenario) -> Vec<Bar> {
        let mut others = self.samples.iter().map(|(contestant, _)| *contestant);
        if others.any(|contestant| contestant == Contestant::Before) {
            self.bars_before(scenario)
        } else {
            self.bars_of_peers(scenario)
        }
    }

    fn bars_before(&self, scenario: &Scenario) -> Vec<Bar> {
        let bar = |what: &str, figure, asked| Bar {
            what: format!("{}: {what}, of {}", scenario.name(), Contestant::Before.name()),
            found: median(self.ratios(Contestant::Before, figure)),
            asked,
        };
        vec![
            bar("CPU per statement", Sample::cpu_us, Asked::AtMost(MOST_CPU)),
            bar("throughput", Sample::rate, Asked::AtLeast(LEAST_RATE)),
        ]
    }

    fn bars_of_peers(&self, scenario: &Scenario) -> Vec<Bar> {
        let cpu = |other: Contestant, most| Bar {
            what: format!("{}: CPU per statement, of {}", scenario.name(), other.name()),
            found: median(self.ratios(other, Sample::cpu_us)),
            asked: Asked::AtMost(most),
        };
        let mut bars: Vec<Bar> = scenario.of_pgbench.map(|most| cpu(Contestant::Pgbench, most)).into_iter().collect();
        bars.push(cpu(Contestant::Sysbench, scenario.of_sysbench));
        let rate = |other| median(self.ratios(other, Sample::rate));
        let others = self.samples.iter().map(|(contestant, _)| *contestant);
        let others = others.filter(|contestant| *contestant != Contestant::Bakeoff);
        bars.push(Bar {
            what: format!("{}: throughput, of the better of the others", scenario.name()),
            found: others.map(rate).fold(f64::INFINITY, f64::min),
            asked: Asked::AtLeast(1.0),
        });
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_the_bakeoff_before_nobody_else_is_asked() {
        let mut rounds = Rounds::new(&[Contestant::Bakeoff, Contestant::Before]);
        let sample = |cpu_s| Sample { statements: 1e6, seconds: 1.0, cpu_s };
        rounds.add(Contestant::Bakeoff, sample(1.2));
        rounds.add(Contestant::Before, sample(1.0));
        let bars = rounds.bars(&crate::bench::driver::scenario::SCENARIOS[0]);
        assert_eq!(bars.iter().map(Bar::is_met).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn ratios_pair_rounds() {
        let mut rounds = Rounds::new(&[Contestant::Bakeoff, Contestant::Sysbench]);
        for (ours, theirs) in [(1.0, 2.0), (3.0, 4.0)] {
            rounds.add(Contestant::Bakeoff, Sample { statements: 1e6, seconds: 1.0, cpu_s: ours });
            rounds.add(Contestant::Sysbench, Sample { statements: 1e6, seconds: 1.0, cpu_s: theirs });
        }
        assert_eq!(rounds.ratios(Contestant::Sysbench, Sample::cpu_us), [0.5, 0.75]);
        assert!(rounds.table().contains("| sysbench | 3.0 | 1000000 | 0.62 (0.50 to 0.75) | 1.00 (1.00 to 1.00) |"));
    }
}
