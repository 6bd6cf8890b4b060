//! Kinds of work, and counters of what was really executed.

use crate::workload::TransactionKind;

settings::names! {
    /// Index into the kinds, as the driver counts them. An order is the transaction; the others are its steps.
    #[repr(u16)]
    pub enum DvdStoreWork {
        Order => "order",
        Login => "login",
        NewCustomer => "new-customer",
        BrowseCategory => "browse-category",
        BrowseActor => "browse-actor",
        BrowseTitle => "browse-title",
        Purchase => "purchase",
        NewMember => "new-member",
        ReviewsByActor => "reviews-by-actor",
        ReviewsByTitle => "reviews-by-title",
        ProductReviews => "product-reviews",
        NewReview => "new-review",
        RateReview => "rate-review",
    }
}

/// Kinds that version 2 has.
const OF_TWO: usize = DvdStoreWork::Purchase as usize + 1;

/// Orders that are rolled back count, too, as in the original.
const KINDS: [TransactionKind; DvdStoreWork::NAMES.len()] = TransactionKind::with_steps(DvdStoreWork::NAMES);

pub fn kinds(has_community: bool) -> &'static [TransactionKind] {
    if has_community { &KINDS } else { &KINDS[..OF_TWO] }
}

settings::names! {
    /// What is counted; orders and their steps are counted by kind already.
    pub enum DvdStoreCounter {
        Items => "items",
        MatchesByCategory => "matches_by_category",
        MatchesByActor => "matches_by_actor",
        MatchesByTitle => "matches_by_title",
        HistoryRows => "history_rows",
        NamesTaken => "names_taken",
    }
}
