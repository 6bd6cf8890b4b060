//! Two times for each round, and the ratio that follows from them.

use anyhow::ensure;
use std::time::Duration;

/// One round of a race.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    pub ours: Duration,
    pub theirs: Duration,
}

impl Round {
    fn ratio(self) -> f64 {
        self.ours.as_secs_f64() / self.theirs.as_secs_f64()
    }
}

/// Runs the rounds. Ours and theirs take turns at going first, so that neither always finds the machine as the
/// other left it.
pub fn rounds(
    count: u32,
    mut ours: impl FnMut() -> anyhow::Result<Duration>,
    mut theirs: impl FnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Vec<Round>> {
    ensure!(count > 0, "a race has at least one round");
    let mut rounds = Vec::new();
    for number in 0..count {
        let round = if number % 2 == 0 {
            let ours = ours()?;
            Round { ours, theirs: theirs()? }
        } else {
            let theirs = theirs()?;
            Round { ours: ours()?, theirs }
        };
        println!("round {}: {:.3} s against {:.3} s", number + 1, round.ours.as_secs_f64(), round.theirs.as_secs_f64());
        rounds.push(round);
    }
    Ok(rounds)
}

/// Prints the ratio of the rounds, and fails if it exceeds `bar`.
pub fn judge(what: &str, rounds: &[Round], bar: f64) -> anyhow::Result<()> {
    let ratio = geometric_mean(rounds.iter().map(|round| round.ratio()));
    let each: Vec<String> = rounds.iter().map(|round| format!("{:.3}", round.ratio())).collect();
    println!("{what}: {ratio:.3} times as long (rounds: {}; at most {bar} is asked for)", each.join(", "));
    ensure!(ratio <= bar, "{what}: {ratio:.3} is more than {bar}");
    Ok(())
}

/// The right mean for ratios: the mean of `a/b` is the inverse of the mean of `b/a`.
pub fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_and_half_are_even() {
        assert!((geometric_mean([2.0, 0.5].into_iter()) - 1.0).abs() < 1e-12);
        assert!((geometric_mean([3.0].into_iter()) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_race_is_lost_above_the_bar() {
        let round = Round { ours: Duration::from_millis(1200), theirs: Duration::from_secs(1) };
        assert!(judge("test", &[round], 1.25).is_ok());
        assert!(judge("test", &[round], 1.1).is_err());
    }

    #[test]
    fn who_is_first_takes_turns() {
        let order = std::cell::RefCell::new(String::new());
        let step = |who: char| {
            order.borrow_mut().push(who);
            Ok(Duration::from_secs(1))
        };
        rounds(3, || step('o'), || step('t')).unwrap();
        assert_eq!(order.into_inner(), "ottoot");
    }
}
