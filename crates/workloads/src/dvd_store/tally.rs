//! Kinds of work, and counters of what was really executed.

use crate::workload::Kind;

/// Index into the kinds, as the driver counts them. An order is the transaction; the others are its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Work {
    Order,
    Login,
    NewCustomer,
    BrowseCategory,
    BrowseActor,
    BrowseTitle,
    Purchase,
    NewMember,
    ReviewsByActor,
    ReviewsByTitle,
    ProductReviews,
    NewReview,
    RateReview,
}

/// Kinds that version 2 has.
const OF_TWO: usize = Work::Purchase as usize + 1;

const KINDS: [Kind; Work::RateReview as usize + 1] = [
    // Orders that are rolled back count, too, as in the original.
    Kind::transaction("order", true),
    Kind::step("login"),
    Kind::step("new-customer"),
    Kind::step("browse-category"),
    Kind::step("browse-actor"),
    Kind::step("browse-title"),
    Kind::step("purchase"),
    Kind::step("new-member"),
    Kind::step("reviews-by-actor"),
    Kind::step("reviews-by-title"),
    Kind::step("product-reviews"),
    Kind::step("new-review"),
    Kind::step("rate-review"),
];

impl Work {
    pub fn name(self) -> &'static str {
        KINDS[self as usize].name
    }
}

pub fn kinds(has_community: bool) -> &'static [Kind] {
    if has_community { &KINDS } else { &KINDS[..OF_TWO] }
}

settings::names! {
    /// What is counted; orders and their steps are counted by kind already.
    pub enum Counter {
        Items => "items",
        MatchesByCategory => "matches_by_category",
        MatchesByActor => "matches_by_actor",
        MatchesByTitle => "matches_by_title",
        HistoryRows => "history_rows",
        NamesTaken => "names_taken",
    }
}
