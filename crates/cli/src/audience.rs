//! Everybody who follows a run while it goes on: the person at the terminal and, if asked for, programs that scrape its metrics.

use crate::display::say;
use crate::exit::EndedWith;
use crate::live::Live;
use crate::metrics::{Intent, Metrics, address};
use anyhow::{Context, Result};
use record::event::Event;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use telemetry::Latest;

pub struct Audience {
    live: Live,
    metrics: Option<Metrics>,
}

impl Audience {
    /// `metrics` is the address to serve them at, and where to find the host's last sample.
    pub fn gather(live: Live, intent: Intent, metrics: Option<(SocketAddr, Arc<Latest>)>) -> Result<Self> {
        let metrics = metrics.map(|(address, latest)| serve(address, intent, latest)).transpose()?;
        Ok(Self { live, metrics })
    }

    /// Called once the run has a folder.
    pub fn keep_in(&self, folder: &Path) {
        self.live.keep_in(folder);
        if let Some(metrics) = &self.metrics {
            metrics.keep_in(folder);
        }
    }

    pub fn hear(&mut self, event: &Event) {
        // The metrics come first, so that they already have what the screen shows.
        if let Some(metrics) = &self.metrics {
            metrics.take(event);
        }
        self.live.show(event);
    }

    pub fn finish(&self) {
        self.live.finish();
    }
}

fn serve(asked: SocketAddr, intent: Intent, latest: Arc<Latest>) -> Result<Metrics> {
    let listener = address::listen(asked).map_err(|error| EndedWith::bad_input(format!("--metrics: {error}")))?;
    let metrics = Metrics::serve(listener, intent, latest).context("serving metrics")?;
    say(&format!("metrics at {}", metrics.url()));
    if !address::is_loopback(asked) {
        say("warning: whoever reaches that address can read them; there is neither a password nor encryption");
    }
    Ok(metrics)
}
