//! The figures of five published studies, and that the analysis draws the same conclusions from them.
//!
//! Each study ran each of its trials once, so none has an interval, and the analysis must say so. Where a study gives
//! only ratios, its smallest configuration counts 100,000.

mod many_machines;
mod records;
mod scale_up;
mod storage_load;

use analysis::contrast::Contrast;

#[track_caller]
fn close(found: f64, published: f64, within: f64) {
    assert!((found - published).abs() <= within, "found {found}, published {published}");
}

/// A ratio as published, of single trials.
#[track_caller]
fn ratio(found: Option<&Contrast>, published: f64, within: f64) {
    let found = found.expect("both sides were measured");
    close(found.estimate.point, published, within);
    assert_eq!(found.estimate.bounds.known(), None, "one trial says nothing about its uncertainty");
}
