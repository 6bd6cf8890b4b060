//! Metrics of a run while it goes on, as OpenMetrics text over HTTP: `bakeoff run --metrics`.
//!
//! The metrics are the run's events and, while a trial drives, the last sample of the host's telemetry. A guest's
//! samples stay in the guest until its trial ends, because fetching them would cause traffic in the measured window. So
//! they are not included. Nothing is written while nobody asks, and the record depends on none of this.

pub mod address;
mod columns;
mod course;
#[cfg(test)]
mod dashboard;
mod exposition;
mod request;
mod server;

pub use course::Intent;

use course::TrialCourse;
use exposition::{CONTENT_TYPE, Family};
use record::event::Event;
use server::MetricsServer;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use telemetry::{Latest, LatestSample};

/// The side whose samples are available live.
const SIDE: &str = "host";

/// Metrics that are served until this is dropped.
pub struct Metrics {
    course: Arc<Mutex<TrialCourse>>,
    address: SocketAddr,
    _server: MetricsServer,
}

impl Metrics {
    /// Begins to serve. `latest` holds the host's last sample.
    pub fn serve(listener: TcpListener, intent: Intent, latest: Arc<Latest>) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let course = Arc::new(Mutex::new(TrialCourse::new(intent, Instant::now())));
        let told = Arc::clone(&course);
        let server = MetricsServer::start(listener, CONTENT_TYPE, move || {
            let families = held(&told).families(Instant::now());
            text(families, latest.latest_sample().as_deref())
        })?;
        Ok(Self { course, address, _server: server })
    }

    /// The URL for a person or a scraper.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, request::PATH)
    }

    /// Called once the run has a folder.
    pub fn keep_in(&self, folder: &Path) {
        held(&self.course).keep_in(folder.display().to_string());
    }

    pub fn take(&self, event: &Event) {
        held(&self.course).take(event, Instant::now());
    }
}

fn text(mut families: Vec<Family>, latest_sample: Option<&LatestSample>) -> String {
    families.extend(latest_sample.into_iter().flat_map(|latest_sample| columns::families(latest_sample, SIDE)));
    exposition::text(families)
}

fn held(course: &Mutex<TrialCourse>) -> MutexGuard<'_, TrialCourse> {
    course.lock().unwrap_or_else(PoisonError::into_inner)
}
