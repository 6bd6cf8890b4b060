//! The inputs of an order, drawn completely before it runs: who comes, what is searched for, and what is in the cart.
//!
//! Only the attributes of a new customer are drawn while it runs, from a stream of the order's own.

use super::definition::{CATEGORIES_COUNT, HOT, LEVELS, NAMES, ONE_IN_HOT, QUANTITY_MAX, RATING_MAX, STARS, TITLES};
use super::settings::{Community, DvdStoreSettings, LONGEST};
use super::size::DvdStoreSize;
use crate::random::RandomStream;
use std::time::Duration;

/// New customers' names end with a number below this. There are so many that names seldom meet, however long a run is.
const NEW_NAMES: u64 = 1_000_000_000_000;
const HUNDRED: u64 = 100;

/// Up to [`LONGEST`] of something, without heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Few<T> {
    items: [T; LONGEST],
    count: usize,
}

impl<T: Copy> Few<T> {
    fn drawn(stream: &mut RandomStream, count: usize, mut draw: impl FnMut(&mut RandomStream) -> T) -> Self {
        let count = count.clamp(1, LONGEST);
        let first = draw(stream);
        let mut items = [first; LONGEST];
        items[1..count].fill_with(|| draw(stream));
        Self { items, count }
    }

    pub fn all(&self) -> &[T] {
        &self.items[..self.count]
    }
}

/// A customer comes, searches, and buys.
#[derive(Debug, Clone)]
pub struct DvdStoreInput {
    pub visitor: Visitor,
    pub searches: Few<Search>,
    /// By product, so that two purchases lock their stocks in the same order.
    pub cart: Few<CartItem>,
    /// What version 3 adds.
    pub community: Option<CommunityPart>,
    pub thinking: Duration,
}

#[derive(Debug, Clone)]
pub enum Visitor {
    /// The customer with this id logs in.
    Known(u32),
    /// A customer signs up, with attributes and a name from this stream.
    New(RandomStream),
}

/// A name for a new customer that is probably free.
pub fn new_name(stream: &mut RandomStream) -> u64 {
    stream.below(NEW_NAMES)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    pub batch: u32,
    pub by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Category(u32),
    /// Numbers of a first name and a surname.
    Actor(u32, u32),
    /// Numbers of two words.
    Title(u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartItem {
    pub product: u32,
    pub quantity: u32,
}

/// What a customer does beside searching and buying.
#[derive(Debug, Clone)]
pub struct CommunityPart {
    /// The level of the membership, if the customer asks for one.
    pub level: Option<u32>,
    pub by_word: Few<ByWord>,
    pub of_products: Few<OfProduct>,
    pub review: Option<Review>,
    pub rating: Option<Rating>,
    pub batch: u32,
}

/// Searches for reviews of products by one word of an actor's name or a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByWord {
    Surname(u32),
    Title(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfProduct {
    pub product: u32,
    pub which: ReviewChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewChoice {
    MostHelpful,
    WithStars(u32),
    Newest,
}

#[derive(Debug, Clone)]
pub struct Review {
    pub product: u32,
    pub stars: u32,
    pub words: RandomStream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rating {
    pub review: u32,
    pub helpfulness: u32,
}

/// One client of the load.
#[derive(Debug, Clone)]
pub struct DvdStoreClient {
    stream: RandomStream,
}

impl DvdStoreClient {
    pub fn new(seed: u64, index: u32) -> Self {
        Self { stream: RandomStream::new(seed, "visits", [index, 0]) }
    }

    pub fn draw(&mut self, settings: &DvdStoreSettings) -> DvdStoreInput {
        let (stream, size) = (&mut self.stream, settings.db_size);
        let visitor = if percent(stream, settings.pct_newcustomers) {
            Visitor::New(stream.fork())
        } else {
            Visitor::Known(up_to(stream, size.customers()))
        };
        let searches = few(stream, settings.n_searches, |stream| Search {
            batch: around(stream, settings.search_batch_size),
            by: search_by(stream),
        });
        let mut cart = few(stream, settings.n_line_items, |stream| CartItem {
            product: product(stream, size),
            quantity: up_to(stream, QUANTITY_MAX),
        });
        cart.items[..cart.count].sort_by_key(|item| item.product);
        let community = settings.community().map(|community| part(stream, settings, &community));
        let mean = Duration::from_millis(settings.think_time);
        let thinking = if mean.is_zero() { mean } else { mean.mul_f64(2.0 * stream.fraction()) };
        DvdStoreInput { visitor, searches, cart, community, thinking }
    }
}

fn part(stream: &mut RandomStream, settings: &DvdStoreSettings, community: &Community) -> CommunityPart {
    let size = settings.db_size;
    let level = percent(stream, community.pct_newmember).then(|| up_to(stream, LEVELS));
    let by_word = few(stream, community.n_reviews, |stream| match stream.below(2) {
        0 => ByWord::Surname(below(stream, NAMES)),
        _ => ByWord::Title(below(stream, TITLES)),
    });
    let of_products = few(stream, community.n_reviews, |stream| OfProduct {
        product: product(stream, size),
        which: match stream.below(3) {
            0 => ReviewChoice::MostHelpful,
            1 => ReviewChoice::WithStars(up_to(stream, STARS)),
            _ => ReviewChoice::Newest,
        },
    });
    let review = percent(stream, community.pct_newreviews).then(|| Review {
        product: up_to(stream, size.products()),
        stars: up_to(stream, STARS),
        words: stream.fork(),
    });
    let rating = percent(stream, community.pct_newhelpfulness)
        .then(|| Rating { review: up_to(stream, size.reviews()), helpfulness: up_to(stream, RATING_MAX) });
    CommunityPart { level, by_word, of_products, review, rating, batch: around(stream, settings.search_batch_size) }
}

fn search_by(stream: &mut RandomStream) -> By {
    match stream.below(3) {
        0 => By::Category(up_to(stream, CATEGORIES_COUNT)),
        1 => By::Actor(below(stream, NAMES), below(stream, NAMES)),
        _ => By::Title(below(stream, TITLES), below(stream, TITLES)),
    }
}

/// Every product is as likely as any other, but for the hot ones.
fn product(stream: &mut RandomStream, size: DvdStoreSize) -> u32 {
    let products = size.products();
    let hot = products / ONE_IN_HOT;
    let drawn = below(stream, products + hot * (HOT - 1));
    match drawn.checked_sub(products) {
        None => drawn + 1,
        Some(further) => (further % hot + 1) * ONE_IN_HOT,
    }
}

fn below(stream: &mut RandomStream, count: u32) -> u32 {
    // It is below a number of 32 bits.
    u32::try_from(stream.below(count.into())).unwrap_or(0)
}

fn up_to(stream: &mut RandomStream, count: u32) -> u32 {
    below(stream, count) + 1
}

/// 1 to 2·mean − 1.
fn around(stream: &mut RandomStream, mean: u32) -> u32 {
    up_to(stream, 2 * mean - 1)
}

fn few<T: Copy>(stream: &mut RandomStream, mean: u32, draw: impl FnMut(&mut RandomStream) -> T) -> Few<T> {
    let count = around(stream, mean) as usize;
    Few::drawn(stream, count, draw)
}

fn percent(stream: &mut RandomStream, share: u32) -> bool {
    stream.below(HUNDRED) < share.into()
}

#[cfg(test)]
mod tests {
    use super::super::settings::DvdStoreVersion;
    use super::*;

    fn drawn(count: u32, settings: &DvdStoreSettings) -> Vec<DvdStoreInput> {
        let mut client = DvdStoreClient::new(7, 3);
        (0..count).map(|_| client.draw(settings)).collect()
    }

    fn settings(size: &str, version: DvdStoreVersion) -> DvdStoreSettings {
        DvdStoreSettings::plain(DvdStoreSize::parse(size).unwrap(), version)
    }

    #[test]
    fn the_same_client_draws_the_same_orders() {
        let shown = |inputs: &[DvdStoreInput]| format!("{inputs:?}");
        let settings = settings("10MB", DvdStoreVersion::Three);
        assert_eq!(shown(&drawn(5, &settings)), shown(&drawn(5, &settings)));
        assert_eq!(drawn(1, &settings)[0].cart.all(), GOLDEN);
    }

    const GOLDEN: &[CartItem] = &[CartItem { product: 3_117, quantity: 1 }, CartItem { product: 9_778, quantity: 3 }];

    #[test]
    fn an_order_has_one_to_twice_the_mean_less_one_of_everything() {
        let settings = settings("10MB", DvdStoreVersion::Three);
        let inputs = drawn(20_000, &settings);
        let counts = |count: &dyn Fn(&DvdStoreInput) -> usize| {
            let all: Vec<usize> = inputs.iter().map(count).collect();
            let mean = all.iter().sum::<usize>() as f64 / all.len() as f64;
            (*all.iter().min().unwrap(), *all.iter().max().unwrap(), format!("{mean:.1}"))
        };
        assert_eq!(counts(&|input| input.searches.all().len()), (1, 5, "3.0".to_owned()));
        assert_eq!(counts(&|input| input.cart.all().len()), (1, 9, "5.0".to_owned()));
        assert_eq!(counts(&|input| input.community.as_ref().unwrap().by_word.all().len()), (1, 5, "3.0".to_owned()));
        assert_eq!(
            counts(&|input| input.community.as_ref().unwrap().of_products.all().len()),
            (1, 5, "3.0".to_owned())
        );
        let share = |of: &dyn Fn(&DvdStoreInput) -> bool| {
            (inputs.iter().filter(|input| of(input)).count() * 100 + 10_000) / inputs.len()
        };
        assert_eq!(share(&|input| matches!(input.visitor, Visitor::New(_))), 20);
        assert_eq!(share(&|input| input.community.as_ref().unwrap().rating.is_some()), 10);
        assert!(inputs.iter().all(|input| input.cart.all().is_sorted_by_key(|item| item.product)));
    }

    #[test]
    fn hot_products_are_bought_ten_times_as_often() {
        let settings = settings("30MB", DvdStoreVersion::Two);
        let mut stream = RandomStream::new(1, "test", [0, 0]);
        let mut counts = vec![0_u32; settings.db_size.products() as usize + 1];
        (0..600_000).for_each(|_| counts[product(&mut stream, settings.db_size) as usize] += 1);
        assert_eq!(counts[0], 0);
        let hot: u32 = [10_000, 20_000, 30_000].into_iter().map(|product: usize| counts[product]).sum();
        // Of 30,027 chances, 30 are for them: 599 are expected, with a standard deviation of 24.
        assert!((500..700).contains(&hot), "{hot}");
        assert!(counts[1..].iter().filter(|count| **count > 0).count() > 29_990);
    }

    #[test]
    fn customers_pause_up_to_twice_the_mean() {
        let with = DvdStoreSettings { think_time: 100, ..settings("1MB", DvdStoreVersion::Two) };
        let pauses: Vec<_> = drawn(5_000, &with).into_iter().map(|input| input.thinking).collect();
        let mean = pauses.iter().sum::<Duration>() / 5_000;
        assert!((95..105).contains(&mean.as_millis()), "{mean:?}");
        assert!(pauses.iter().all(|pause| pause.as_millis() < 200));
        assert!(drawn(9, &settings("1MB", DvdStoreVersion::Two)).iter().all(|input| input.thinking.is_zero()));
    }
}
