//! Figures as SVG that takes its colours, fonts and size from the page.
//!
//! Every panel is about as wide as a phone, so that its text stays readable there; a page shows as many side by side
//! as fit. Series are distinguished by colour (safe for the colour-blind), by dashes, and by a label at their end.

pub mod alone;
pub mod chart;
pub mod consolidation;
pub mod curve;
pub mod neighbour;
pub mod ratio;
pub mod scale;
pub mod scaling;
pub mod svg;
pub mod timeline;
pub mod trend;

use crate::format::clipped;
use analysis::estimate::Estimate;
use analysis::summary::Analysis;
use serde::Serialize;

/// How figures look, in the colours of the page's style sheet.
pub const STYLE: &str = include_str!("figures.css");

/// The page's style, from which figures take colours and fonts.
pub const PAGE: &str = include_str!("../style.css");

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Works like a table's id.
    pub id: String,
    pub title: String,
    /// What the figure shows, for readers and for those who cannot see it.
    pub description: String,
    pub panels: Vec<Panel>,
}

/// One drawing as SVG that takes its colours and fonts from the page, together with its data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    pub title: String,
    pub x_unit: String,
    pub y_unit: String,
    pub series: Vec<DrawnSeries>,
    #[serde(skip)]
    pub svg: String,
    /// Width and height.
    #[serde(skip)]
    pub size: (f64, f64),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DrawnSeries {
    pub name: String,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// `None` for a value over all of them.
    pub x: Option<f64>,
    pub y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Point {
    pub fn new(x: f64, y: f64) -> Self {
        Self { x: Some(x), y, low: None, high: None }
    }

    pub fn of(x: Option<f64>, estimate: &Estimate) -> Self {
        let (low, high) = estimate.bounds.known().unzip();
        Self { x, y: estimate.point, low, high }
    }
}

impl Figure {
    /// `None` if there is nothing to draw.
    pub fn of(id: String, title: &str, description: impl Into<String>, panels: Vec<Panel>) -> Option<Self> {
        (!panels.is_empty()).then(|| Self { id, title: title.to_owned(), description: description.into(), panels })
    }

    /// True if a panel is so wide that the page gives it a wider column.
    pub fn is_wide(&self) -> bool {
        self.panels.iter().any(|panel| panel.size.0 >= chart::Paper::LARGE.width)
    }
}

/// The look of a contender in all figures, from its position among the cells of its group.
fn look_in_group(analysis: &Analysis, coordinates: &str, cell: u32) -> String {
    let group = analysis.cells.iter().filter(|one| one.coordinates == coordinates);
    look(group.enumerate().find(|(_, one)| one.cell == cell).map_or(0, |(index, _)| index))
}

/// Series with looks of their own in the style sheet; further series reuse them from the start.
const LOOKS: usize = 6;

/// The class that gives a contender the same look in every figure.
fn look(index: usize) -> String {
    format!("s{}", index % LOOKS)
}

/// How many characters of a contender's name fit beside its line.
const LONGEST_LABEL: usize = 9;

/// A name short enough to label a line directly.
fn label(name: &str) -> String {
    clipped(name, LONGEST_LABEL)
}

/// Moves overlapping labels apart and keeps their order: takes and returns heights.
fn spread(heights: &[f64], apart: f64, lowest: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&one, &other| heights[one].total_cmp(&heights[other]));
    let mut moved = heights.to_vec();
    for pair in 1..order.len() {
        let (above, below) = (order[pair - 1], order[pair]);
        moved[below] = moved[below].max(moved[above] + apart);
    }
    // If labels were pushed out at the bottom, all move up.
    let excess = order.last().map_or(0.0, |&last| (moved[last] - lowest).max(0.0));
    moved.iter().map(|height| height - excess).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_overlap_and_keep_their_order() {
        assert_eq!(spread(&[50.0, 52.0, 10.0], 12.0, 100.0), [50.0, 62.0, 10.0]);
        assert_eq!(spread(&[95.0, 99.0], 12.0, 100.0), [88.0, 100.0]);
        assert_eq!(spread(&[], 12.0, 100.0), Vec::<f64>::new());
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(label("kvm"), "kvm");
        assert_eq!(label("virtio-scsi-none"), "virtio-s…");
    }
}
