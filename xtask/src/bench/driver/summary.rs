//! From rounds to a table and to what is asked for.

use super::contestant::{Contestant, Sample};
use super::scenario::Scenario;
use std::fmt::Write;

/// Samples of each contestant, one a round.
pub struct Rounds {
    samples: Vec<(Contestant, Vec<Sample>)>,
}

/// A figure, what was asked for, and whether it was met.
pub struct Bar {
    pub what: String,
    pub found: f64,
    pub asked: Asked,
}

#[derive(Debug, Clone, Copy)]
pub enum Asked {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    pub fn is_met(&self) -> bool {
        match self.asked {
            Asked::AtMost(most) => self.found <= most,
            Asked::AtLeast(least) => self.found >= least,
        }
    }

    fn line(&self) -> String {
        let asked = match self.asked {
            Asked::AtMost(most) => format!("at most {most}"),
            Asked::AtLeast(least) => format!("at least {least}"),
        };
        let met = if self.is_met() { "met" } else { "missed" };
        format!("| {} | {:.3} | {asked} | {met} |", self.what, self.found)
    }
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

    /// Ratios of ours to another's, round by round.
    fn ratios(&self, other: Contestant, figure: fn(&Sample) -> f64) -> Vec<f64> {
        let pairs = self.of(Contestant::Bakeoff).iter().zip(self.of(other));
        pairs.map(|(ours, theirs)| figure(ours) / figure(theirs)).collect()
    }

    /// Medians, and the ratios to ours with their spread, in Markdown.
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

/// Prints all figures that were asked for; an error if one is missed.
pub fn verdict(bars: &[Bar]) -> anyhow::Result<()> {
    println!("\n| figure | found | asked for | |\n| --- | --- | --- | --- |");
    for bar in bars {
        println!("{}", bar.line());
    }
    let missed = bars.iter().filter(|bar| !bar.is_met()).count();
    anyhow::ensure!(missed == 0, "{missed} of {} figures are missed", bars.len());
    Ok(())
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

fn spread(values: Vec<f64>) -> String {
    let (least, most) =
        values.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
    format!("{:.2} ({least:.2} to {most:.2})", median(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_few() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn a_missing_figure_is_a_missed_one() {
        let bar = |found, asked| Bar { what: String::new(), found, asked };
        assert!(bar(0.5, Asked::AtMost(0.6)).is_met());
        assert!(!bar(0.7, Asked::AtMost(0.6)).is_met());
        assert!(!bar(0.9, Asked::AtLeast(1.0)).is_met());
        assert!(!bar(f64::NAN, Asked::AtMost(0.6)).is_met());
        assert!(verdict(&[bar(f64::NAN, Asked::AtLeast(1.0))]).is_err());
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
