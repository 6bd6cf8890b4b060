//! What a server's sessions waited for between the two looks: the sum of samples of all sessions at work. They are
//! part of `counters.json`.

use crate::bounds;
use serde::{Deserialize, Serialize};

/// More than any server has names for; sampling adds up the rest under [`OTHERS`].
pub const EVENTS: usize = 512;
/// The longest class or event, and the longest reason, in bytes.
pub const NAME_BYTES: usize = 128;
pub const REASON_BYTES: usize = 1024;

/// The class for events that found no room.
pub const OTHERS: &str = "others";
/// The class of sessions that were at work and waited for nothing.
pub const CPU: &str = "CPU";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Waits {
    /// Where the server reads it from, and what that leaves out.
    pub source: String,
    /// Samples that the server answered.
    pub samples: u64,
    /// Samples that were due but not answered in time.
    pub missed: u64,
    /// The sum of the answers' times, which is about what sampling cost the server.
    pub took_ns: u64,
    /// Why sampling ended before the second look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    pub seen: Vec<SeenWaiting>,
}

/// How many sessions waited for an event, in all samples together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenWaiting {
    pub class: String,
    /// Empty if the class says everything.
    pub event: String,
    pub sessions: u64,
}

impl Waits {
    /// Counts sessions that wait for an event. To bound the record, names are cut, and events beyond the limit are added up.
    pub fn add(&mut self, class: &str, event: &str, sessions: u64) {
        let (class, event) = (cut(class, NAME_BYTES), cut(event, NAME_BYTES));
        let find = |class: &str, event: &str, seen: &[SeenWaiting]| {
            seen.iter().position(|one| one.class == class && one.event == event)
        };
        let place = find(class, event, &self.seen);
        let is_full = self.seen.len() + 1 >= EVENTS;
        let (class, event) = if place.is_none() && is_full { (OTHERS, "") } else { (class, event) };
        match place.or_else(|| find(class, event, &self.seen)) {
            Some(place) => self.seen[place].sessions = self.seen[place].sessions.saturating_add(sessions),
            None => {
                self.seen.push(SeenWaiting { class: class.to_owned(), event: event.to_owned(), sessions });
            }
        }
    }

    /// Adds another database's samples.
    pub fn absorb(&mut self, other: &Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.missed = self.missed.saturating_add(other.missed);
        self.took_ns = self.took_ns.saturating_add(other.took_ns);
        for one in &other.seen {
            self.add(&one.class, &one.event, one.sessions);
        }
    }

    /// A field that exceeds what sampling writes, and why.
    pub fn out_of_bounds(&self) -> Option<String> {
        if self.seen.len() > EVENTS {
            return Some(bounds::too_many("waits.known.seen", self.seen.len(), EVENTS));
        }
        let of_event = |(number, one): (usize, &SeenWaiting)| {
            let names = [("class", &one.class), ("event", &one.event)];
            names
                .into_iter()
                .find_map(|(field, name)| too_long(&format!("waits.known.seen[{number}].{field}"), name, NAME_BYTES))
        };
        let in_events = self.seen.iter().enumerate().find_map(of_event);
        in_events
            .or_else(|| too_long("waits.known.source", &self.source, REASON_BYTES))
            .or_else(|| too_long("waits.known.stopped", self.stopped.as_deref()?, REASON_BYTES))
    }
}

/// The part of a text that a record keeps.
pub fn cut(text: &str, most_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(most_bytes)]
}

pub(crate) fn too_long(field: &str, text: &str, most_bytes: usize) -> Option<String> {
    (text.len() > most_bytes).then(|| format!("{field} has {} bytes; it must have at most {most_bytes}", text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_added_up_by_event() {
        let mut waits = Waits { samples: 2, ..Waits::default() };
        waits.add("Lock", "tuple", 3);
        waits.add(CPU, "", 1);
        let mut both = waits.clone();
        both.absorb(&waits);
        assert_eq!((both.samples, both.seen.len()), (4, 2));
        assert_eq!(both.seen[0], SeenWaiting { class: "Lock".to_owned(), event: "tuple".to_owned(), sessions: 6 });
    }

    #[test]
    fn what_is_sampled_stays_within_bounds_and_loses_no_session() {
        let mut waits = Waits::default();
        for number in 0..2 * EVENTS {
            waits.add("Extension", &format!("{number} {}", "ž".repeat(NAME_BYTES)), 1);
        }
        assert_eq!((waits.seen.len(), waits.out_of_bounds()), (EVENTS, None));
        assert_eq!(waits.seen.iter().map(|one| one.sessions).sum::<u64>(), 2 * EVENTS as u64);
        assert_eq!(waits.seen.last().unwrap().class, OTHERS);
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let seen = |class: &str| SeenWaiting { class: class.to_owned(), event: String::new(), sessions: 1 };
        let many = Waits { seen: vec![seen("IO"); EVENTS + 1], ..Waits::default() };
        assert!(many.out_of_bounds().unwrap().contains("seen has 513 entries; it must have at most 512"));
        let long = Waits { seen: vec![seen("IO"), seen(&"a".repeat(129))], ..Waits::default() };
        assert_eq!(long.out_of_bounds().unwrap(), "waits.known.seen[1].class has 129 bytes; it must have at most 128");
    }
}
