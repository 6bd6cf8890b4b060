//! Reports of a trial while it goes on.

use crate::validity::Invalid;
use driver::plan::{Driven, SecondSeen};
use engines::server::ServerReport;
use record::check::CheckResult;
use record::event::Event;
use record::looks::Looks;
use std::collections::BTreeMap;
use std::time::Duration;

pub enum Heard<'a> {
    Event(Event),
    Server(&'a ServerReport),
    /// Names of the tables that were dropped.
    Cleaned(&'a [String]),
    /// Rows of each table, and how long loading took.
    Loaded(&'a BTreeMap<String, u64>, Duration),
    Second(SecondSeen),
    Driven {
        driven: &'a Driven,
        /// The server's counters, if the window was long enough for two looks.
        looks: Option<&'a Looks>,
        warnings: &'a [String],
        invalid: Option<&'a Invalid>,
    },
    Checked(&'a [CheckResult]),
}
