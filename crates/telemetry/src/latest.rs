//! The last sample, to be read by other threads while samples are taken.
//!
//! It is put in place by the thread that samples, for the price of a copy of one sample a second, whether anybody looks or
//! not. While nobody samples there is none: what an earlier trial left says nothing about this one.

use record::telemetry::{Column, Sample, Series};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A sample with the columns that its values stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestSample {
    pub columns: Arc<[Column]>,
    pub sample: Sample,
}

/// The place where the last sample is found, of one series after another.
#[derive(Debug, Default)]
pub struct Latest {
    latest_sample: Mutex<Option<Arc<LatestSample>>>,
}

impl Latest {
    /// The last sample, while samples are taken and since the first was.
    pub fn latest_sample(&self) -> Option<Arc<LatestSample>> {
        self.held().clone()
    }

    /// Shows the samples of one series here, until what it returns is dropped.
    pub(crate) fn showing(self: Arc<Self>, opened: &Series) -> Showing {
        Showing { columns: opened.columns.as_slice().into(), latest: self }
    }

    /// What was there before is dropped outside of the lock.
    fn replace(&self, latest_sample: Option<Arc<LatestSample>>) {
        let before = std::mem::replace(&mut *self.held(), latest_sample);
        drop(before);
    }

    fn held(&self) -> MutexGuard<'_, Option<Arc<LatestSample>>> {
        self.latest_sample.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One series that is shown. When it is dropped, also by a panic, nothing is shown any more.
pub(crate) struct Showing {
    columns: Arc<[Column]>,
    latest: Arc<Latest>,
}

impl Showing {
    pub fn show(&self, sample: &Sample) {
        let latest_sample = LatestSample { columns: Arc::clone(&self.columns), sample: sample.clone() };
        self.latest.replace(Some(Arc::new(latest_sample)));
    }
}

impl Drop for Showing {
    fn drop(&mut self) {
        self.latest.replace(None);
    }
}
