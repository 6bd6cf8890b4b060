//! Figures of a race, and their limits.

/// A figure and the limit it must meet.
pub struct Bar {
    pub what: String,
    pub found: f64,
    pub asked: BarSize,
}

#[derive(Debug, Clone, Copy)]
pub enum BarSize {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    pub fn is_met(&self) -> bool {
        match self.asked {
            BarSize::AtMost(most) => self.found <= most,
            BarSize::AtLeast(least) => self.found >= least,
        }
    }

    fn line(&self) -> String {
        let asked = match self.asked {
            BarSize::AtMost(most) => format!("at most {most}"),
            BarSize::AtLeast(least) => format!("at least {least}"),
        };
        let met = if self.is_met() { "met" } else { "missed" };
        format!("| {} | {:.3} | {asked} | {met} |", self.what, self.found)
    }
}

/// Prints all figures with limits; an error if one misses its limit.
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

/// The median, with the smallest and the largest value.
pub fn spread(values: Vec<f64>) -> String {
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
        assert!(bar(0.5, BarSize::AtMost(0.6)).is_met());
        assert!(!bar(0.7, BarSize::AtMost(0.6)).is_met());
        assert!(!bar(0.9, BarSize::AtLeast(1.0)).is_met());
        assert!(!bar(f64::NAN, BarSize::AtMost(0.6)).is_met());
        assert!(verdict(&[bar(f64::NAN, BarSize::AtLeast(1.0))]).is_err());
    }
}
