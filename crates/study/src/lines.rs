//! Places in a study file.

/// Starts of lines, to find the line of a byte.
pub struct LineStarts(Vec<usize>);

impl LineStarts {
    pub fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    pub fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte) + 1
    }

    /// Counted in characters from 1.
    pub fn column(&self, text: &str, byte: usize) -> usize {
        let before = self.0.iter().rev().find(|start| **start <= byte).copied().unwrap_or(0);
        text.get(before..byte).map_or(1, |before| before.chars().count() + 1)
    }
}
