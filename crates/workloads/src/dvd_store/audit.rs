//! Whether the database moved by what was acknowledged, and whether the orders of the measured window follow the rules for
//! their inputs. Chance is allowed for, see [`crate::share`].

use super::DvdStore;
use super::checks::finding;
use super::rows::Matches;
use super::settings::Settings;
use super::tally::{Counter, Work};
use crate::ledger::{Ledger, compare};
use crate::share::{AllowedShare, mean};
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Steps of orders that failed are not acknowledged, but the database may have them.
pub fn reconcile(ledger: &Ledger<'_>, has_community: bool) -> Vec<CheckResult> {
    let doubtful = ledger.acknowledged(Work::Order.name(), 1);
    let doubtful = doubtful.end() - doubtful.start();
    let of_step = |work: Work| {
        let certain = *ledger.acknowledged(work.name(), 1).start();
        certain..=certain + doubtful
    };
    let compared = |name: &str, rule: &str, sum: &str, allowed: RangeInclusive<i64>| {
        finding(name, rule, Moment::AfterTrial, compare(ledger.moved(sum), &allowed))
    };
    let mut findings = vec![
        compared(
            "acknowledged-orders",
            "There are as many new orders as purchases were committed.",
            "orders",
            ledger.acknowledged(Work::Order.name(), 1),
        ),
        compared(
            "acknowledged-customers",
            "There are as many new customers as signed up.",
            "customers",
            of_step(Work::NewCustomer),
        ),
        finding(
            "stock-follows",
            "The stock of each product moved by what was sold of it and what was ordered again.",
            Moment::AfterTrial,
            ledger.stays("stock", "what is left, sold and ordered again"),
        ),
    ];
    if has_community {
        // Who is a member already does not become one.
        let members = 0..=*of_step(Work::NewMember).end();
        findings.extend([
            compared(
                "acknowledged-reviews",
                "There are as many new reviews as were written.",
                "reviews",
                of_step(Work::NewReview),
            ),
            compared(
                "acknowledged-ratings",
                "There are as many new ratings as were given.",
                "ratings",
                of_step(Work::RateReview),
            ),
            compared("acknowledged-members", "There are no more new members than asked for it.", "members", members),
        ]);
    }
    findings
}

pub fn audit(workload: &DvdStore, kinds: &[KindTotals], tally: &BTreeMap<String, u64>) -> Vec<CheckResult> {
    let settings = &workload.settings;
    let window = Window { kinds, tally };
    let (orders, matches) = (window.done(&[Work::Order]), workload.matches());
    let searches = window.done(&[Work::BrowseCategory, Work::BrowseActor, Work::BrowseTitle]);
    let by = |work: Work| AllowedShare::exactly(1.0 / 3.0).judge(window.done(&[work]), searches);
    let found =
        |counter, work, share| AllowedShare::exactly(share).judge(window.counted(counter), window.done(&[work]));
    let Matches { by_actor, by_title } = *matches;
    let mut findings = vec![
        finish(
            "new-customers",
            &format!("{} % of the orders are by customers that sign up first.", settings.pct_newcustomers),
            percent(settings.pct_newcustomers).judge(window.done(&[Work::NewCustomer]), orders),
        ),
        mean_of("searches", "searches for products", settings.n_searches, searches, orders),
        finish("by-category", "A third of the searches are by category.", by(Work::BrowseCategory)),
        finish("by-actor", "A third of the searches are by actor.", by(Work::BrowseActor)),
        finish("by-title", "A third of the searches are by title.", by(Work::BrowseTitle)),
        finish(
            "matches-by-actor",
            "Searches by actor find a product as often as the names drawn are those of a product.",
            found(Counter::MatchesByActor, Work::BrowseActor, by_actor),
        ),
        finish(
            "matches-by-title",
            "Searches by title find a product as often as the words drawn are in a product's title.",
            found(Counter::MatchesByTitle, Work::BrowseTitle, by_title),
        ),
        mean_of("items", "items", settings.n_line_items, window.counted(Counter::Items), orders),
        finish(
            "rolled-back",
            "Orders are rolled back as often as there is too little in stock: most often at first, less often once stocks that \
             were low are filled up.",
            rolled_back(workload).judge(window.rolled_back(Work::Order), orders),
        ),
    ];
    findings.extend(of_community(settings, &window, orders));
    findings
}

fn of_community(settings: &Settings, window: &Window<'_>, orders: u64) -> Vec<CheckResult> {
    let Some(community) = settings.community() else { return Vec::new() };
    let share = |name: &str, what: &str, of: u32, work: Work| {
        finish(name, &format!("{of} % of the orders have {what}."), percent(of).judge(window.done(&[work]), orders))
    };
    let by_word = window.done(&[Work::ReviewsByActor, Work::ReviewsByTitle]);
    vec![
        mean_of("review-searches", "searches for reviews", community.n_reviews, by_word, orders),
        mean_of("review-reads", "reads of reviews", community.n_reviews, window.done(&[Work::ProductReviews]), orders),
        share("new-members", "a customer that asks for a membership", community.pct_newmember, Work::NewMember),
        share("new-reviews", "a new review", community.pct_newreviews, Work::NewReview),
        share("new-ratings", "a new rating", community.pct_newhelpfulness, Work::RateReview),
    ]
}

/// What was executed in the measured window.
struct Window<'a> {
    kinds: &'a [KindTotals],
    tally: &'a BTreeMap<String, u64>,
}

impl Window<'_> {
    fn done(&self, works: &[Work]) -> u64 {
        let of = |work: &Work| self.kinds.iter().find(|totals| totals.kind == work.name());
        works.iter().filter_map(of).map(|totals| totals.committed + totals.rolled_back).sum()
    }

    fn rolled_back(&self, work: Work) -> u64 {
        self.kinds.iter().find(|totals| totals.kind == work.name()).map_or(0, |totals| totals.rolled_back)
    }

    fn counted(&self, counter: Counter) -> u64 {
        self.tally.get(counter.name()).copied().unwrap_or(0)
    }
}

fn percent(of: u32) -> AllowedShare {
    AllowedShare::exactly(f64::from(of) / 100.0)
}

/// A count that is uniform over 1 to 2·mean − 1.
fn mean_of(name: &str, what: &str, target: u32, count: u64, orders: u64) -> CheckResult {
    let most = f64::from(2 * target - 1);
    let deviation = ((most * most - 1.0) / 12.0).sqrt();
    let rule = format!("Orders have {target} {what} on average.");
    finish(name, &rule, mean(count, orders, (target.into(), target.into()), deviation))
}

fn rolled_back(workload: &DvdStore) -> AllowedShare {
    let carts = 1..2 * workload.settings.n_line_items;
    let number = f64::from(carts.end - carts.start);
    let of_carts =
        |chance: f64| carts.clone().map(|items| 1.0 - (1.0 - chance).powi(items.cast_signed())).sum::<f64>() / number;
    let (at_start, later) = workload.shortage();
    AllowedShare { target: of_carts(at_start), low: of_carts(later), high: of_carts(at_start) }
}

fn finish(name: &str, rule: &str, verdict: Verdict) -> CheckResult {
    finding(name, rule, Moment::AfterTrial, verdict)
}
