//! The last sample, for other threads to read while samples are taken.
//!
//! The sampling thread stores it, which costs a copy of one sample a second, whether anybody reads it or not. While
//! nothing is sampled there is none, since the last sample of an earlier trial would say nothing about this one.

use record::telemetry::{Column, Sample, Series};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A sample with the columns that its values belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestSample {
    pub columns: Arc<[Column]>,
    pub sample: Sample,
}

/// The place of the last sample; one series after another may use it.
#[derive(Debug, Default)]
pub struct Latest {
    latest_sample: Mutex<Option<Arc<LatestSample>>>,
}

impl Latest {
    /// The last sample; `None` before the first one and while nothing is sampled.
    pub fn latest_sample(&self) -> Option<Arc<LatestSample>> {
        self.held().clone()
    }

    /// Shows the samples of one series here, until the returned value is dropped.
    pub(crate) fn showing(self: Arc<Self>, opened: &Series) -> Showing {
        Showing { columns: opened.columns.as_slice().into(), latest: self }
    }

    /// Drops the previous sample outside of the lock.
    fn replace(&self, latest_sample: Option<Arc<LatestSample>>) {
        let before = std::mem::replace(&mut *self.held(), latest_sample);
        drop(before);
    }

    fn held(&self) -> MutexGuard<'_, Option<Arc<LatestSample>>> {
        self.latest_sample.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One series that is being shown. Dropping it, even by a panic, removes its sample.
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
