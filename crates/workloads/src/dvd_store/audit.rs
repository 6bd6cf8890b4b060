//! Whether the database moved by what was acknowledged, and whether the orders of the measured window follow the rules for
//! their inputs. Chance is allowed for, see [`crate::share`].

use super::DvdStore;
use super::rows::Matches;
use super::settings::DvdStoreSettings;
use super::tally::{DvdStoreCounter, DvdStoreWork};
use crate::execution::Execution;
use crate::judgement::{Judgement, judgement};
use crate::ledger::Ledger;
use crate::share::{AllowedShare, mean};

/// Steps of orders that failed are not acknowledged, but the database may have them.
pub fn judge_ledger(ledger: &Ledger<'_>, has_community: bool) -> Vec<Judgement> {
    let orders = ledger.acknowledged(DvdStoreWork::Order.name(), 1);
    let doubtful = orders.end() - orders.start();
    let of_step = |work: DvdStoreWork| {
        let certain = *ledger.acknowledged(work.name(), 1).start();
        certain..=certain + doubtful
    };
    let mut judged = vec![
        ledger.grew(
            "acknowledged-orders",
            "There are as many new orders as purchases were committed.",
            "orders",
            &orders,
        ),
        ledger.grew(
            "acknowledged-customers",
            "There are as many new customers as signed up.",
            "customers",
            &of_step(DvdStoreWork::NewCustomer),
        ),
        judgement(
            "stock-follows",
            "The stock of each product moved by what was sold of it and what was ordered again.",
            ledger.stays("stock", "what is left, sold and ordered again"),
        ),
    ];
    if has_community {
        // Who is a member already does not become one.
        let members = 0..=*of_step(DvdStoreWork::NewMember).end();
        let (reviews, ratings) = (of_step(DvdStoreWork::NewReview), of_step(DvdStoreWork::RateReview));
        judged.extend([
            ledger.grew("acknowledged-reviews", "There are as many new reviews as were written.", "reviews", &reviews),
            ledger.grew("acknowledged-ratings", "There are as many new ratings as were given.", "ratings", &ratings),
            ledger.grew(
                "acknowledged-members",
                "There are no more new members than asked for it.",
                "members",
                &members,
            ),
        ]);
    }
    judged
}

pub fn judge_window(workload: &DvdStore, execution: &Execution<'_>) -> Vec<Judgement> {
    let settings = &workload.settings;
    let (orders, matches) = (done(execution, &[DvdStoreWork::Order]), workload.matches());
    let searches =
        done(execution, &[DvdStoreWork::BrowseCategory, DvdStoreWork::BrowseActor, DvdStoreWork::BrowseTitle]);
    let by = |work: DvdStoreWork| AllowedShare::exactly(1.0 / 3.0).judge(done(execution, &[work]), searches);
    let found = |counter: DvdStoreCounter, work, share| {
        AllowedShare::exactly(share).judge(execution.counted(counter.name()), done(execution, &[work]))
    };
    let Matches { by_actor, by_title } = *matches;
    let mut judged = vec![
        judgement(
            "new-customers",
            format!("{} % of the orders are by customers that sign up first.", settings.pct_newcustomers),
            percent(settings.pct_newcustomers).judge(done(execution, &[DvdStoreWork::NewCustomer]), orders),
        ),
        mean_of("searches", "searches for products", settings.n_searches, searches, orders),
        judgement("by-category", "A third of the searches are by category.", by(DvdStoreWork::BrowseCategory)),
        judgement("by-actor", "A third of the searches are by actor.", by(DvdStoreWork::BrowseActor)),
        judgement("by-title", "A third of the searches are by title.", by(DvdStoreWork::BrowseTitle)),
        judgement(
            "matches-by-actor",
            "Searches by actor find a product as often as the names drawn are those of a product.",
            found(DvdStoreCounter::MatchesByActor, DvdStoreWork::BrowseActor, by_actor),
        ),
        judgement(
            "matches-by-title",
            "Searches by title find a product as often as the words drawn are in a product's title.",
            found(DvdStoreCounter::MatchesByTitle, DvdStoreWork::BrowseTitle, by_title),
        ),
        mean_of("items", "items", settings.n_line_items, execution.counted(DvdStoreCounter::Items.name()), orders),
        judgement(
            "rolled-back",
            "Orders are rolled back as often as there is too little in stock: most often at first, less often once stocks that \
             were low are filled up.",
            rolled_back(workload).judge(execution.rolled_back(DvdStoreWork::Order.name()), orders),
        ),
    ];
    judged.extend(of_community(settings, execution, orders));
    judged
}

fn of_community(settings: &DvdStoreSettings, execution: &Execution<'_>, orders: u64) -> Vec<Judgement> {
    let Some(community) = settings.community() else { return Vec::new() };
    let share = |name: &str, what: &str, of: u32, work: DvdStoreWork| {
        let rule = format!("{of} % of the orders have {what}.");
        judgement(name, rule, percent(of).judge(done(execution, &[work]), orders))
    };
    let by_word = done(execution, &[DvdStoreWork::ReviewsByActor, DvdStoreWork::ReviewsByTitle]);
    let reads = done(execution, &[DvdStoreWork::ProductReviews]);
    vec![
        mean_of("review-searches", "searches for reviews", community.n_reviews, by_word, orders),
        mean_of("review-reads", "reads of reviews", community.n_reviews, reads, orders),
        share("new-members", "a customer that asks for a membership", community.pct_newmember, DvdStoreWork::NewMember),
        share("new-reviews", "a new review", community.pct_newreviews, DvdStoreWork::NewReview),
        share("new-ratings", "a new rating", community.pct_newhelpfulness, DvdStoreWork::RateReview),
    ]
}

fn done(execution: &Execution<'_>, works: &[DvdStoreWork]) -> u64 {
    works.iter().map(|work| execution.done(work.name())).sum()
}

fn percent(of: u32) -> AllowedShare {
    AllowedShare::exactly(f64::from(of) / 100.0)
}

/// A count that is uniform over 1 to 2·mean − 1.
fn mean_of(name: &str, what: &str, target: u32, count: u64, orders: u64) -> Judgement {
    let most = f64::from(2 * target - 1);
    let deviation = ((most * most - 1.0) / 12.0).sqrt();
    let rule = format!("Orders have {target} {what} on average.");
    judgement(name, rule, mean(count, orders, (target.into(), target.into()), deviation))
}

fn rolled_back(workload: &DvdStore) -> AllowedShare {
    let carts = 1..2 * workload.settings.n_line_items;
    let number = f64::from(carts.end - carts.start);
    let of_carts =
        |chance: f64| carts.clone().map(|items| 1.0 - (1.0 - chance).powi(items.cast_signed())).sum::<f64>() / number;
    let (at_start, later) = workload.shortage();
    AllowedShare { target: of_carts(at_start), low: of_carts(later), high: of_carts(at_start) }
}
