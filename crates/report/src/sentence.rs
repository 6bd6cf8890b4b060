//! An answer in words, with its figure.

/// The parts of an answer, in the order in which they are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The point of the study it is about; empty if the study has only one.
    pub place: String,
    /// The change of throughput: `−15 %`, or the range in which it lies.
    pub change: Option<String>,
    pub says: String,
    /// The confidence interval, in a sentence.
    pub interval: String,
    /// A qualification that must never be separated from the figure.
    pub but: String,
}

impl Answer {
    /// An answer in words only.
    pub fn words(says: impl Into<String>) -> Self {
        Self { says: says.into(), ..Self::default() }
    }

    pub fn sentence(&self) -> String {
        let place = if self.place.is_empty() { String::new() } else { format!("At {}:", self.place) };
        let parts = [&place, &self.says, &self.interval, &self.but];
        parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
    }
}
