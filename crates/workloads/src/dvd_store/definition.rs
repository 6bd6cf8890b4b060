//! The numbers and words of the definition.

use crate::random::{Letters, RandomStream};
use engines::session::{Date, Decimal};
use std::sync::LazyLock;

pub const CATEGORIES_COUNT: u32 = 16;
pub const CATEGORIES: [&str; CATEGORIES_COUNT as usize] = [
    "Action",
    "Animation",
    "Children",
    "Classics",
    "Comedy",
    "Documentary",
    "Drama",
    "Family",
    "Foreign",
    "Games",
    "Horror",
    "Music",
    "New",
    "Sci-Fi",
    "Sports",
    "Travel",
];
pub const COUNTRIES: [&str; 10] =
    ["Australia", "Canada", "Chile", "China", "France", "Germany", "Japan", "Russia", "South Africa", "UK"];
/// Fifty states and a district.
pub const STATES: &str = "AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM \
    NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY";
pub const STATES_COUNT: usize = 51;
pub const HOME_COUNTRY: &str = "US";
/// Follows ten digits.
pub const STREET: &str = " Film Row";
/// Follows a last name of ten letters.
pub const MAIL: &str = "@mail.dvd";
pub const PASSWORD: &str = "password";

pub const LINES_MAX: i64 = 9;
pub const QUANTITY_MAX: u32 = 3;
pub const AMOUNT_MAX_CENTS: i64 = 40_000;
const TAX_TEN_THOUSANDTHS: i64 = 825;

pub const STOCK_MAX: i64 = 500;
/// Every so many products, one is hot: it is bought and stocked ten times as much.
pub const ONE_IN_HOT: u32 = 10_000;
pub const HOT: u32 = 10;

pub const PRICE_MIN: i64 = 9;
pub const PRICE_MAX: i64 = 29;
pub const LEVELS: u32 = 3;
pub const STARS: u32 = 5;
pub const RATING_MAX: u32 = 10;
pub const RATINGS_MIN: i64 = 2;
pub const RATINGS_MAX: i64 = 39;
pub const CUSTOMERS_FOR_A_MEMBER: u32 = 10;

pub const TITLES: u32 = 1_000;
pub const NAMES: u32 = 200;

fn words(text: &'static str) -> Vec<&'static str> {
    text.split_ascii_whitespace().collect()
}

static TITLE_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| words(include_str!("words/titles.txt")));
static FIRST_NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| words(include_str!("words/first_names.txt")));
static SURNAMES: LazyLock<Vec<&str>> = LazyLock::new(|| words(include_str!("words/surnames.txt")));

pub fn title_word(number: u32) -> &'static str {
    TITLE_WORDS[number as usize]
}

pub fn first_name(number: u32) -> &'static str {
    FIRST_NAMES[number as usize]
}

pub fn surname(number: u32) -> &'static str {
    SURNAMES[number as usize]
}

/// Room for an actor or a title: two words and a blank.
pub const PAIR_MAX: usize = 50;
pub type WordPair = Letters<PAIR_MAX>;

fn pair(first: &str, second: &str) -> WordPair {
    let mut pair = WordPair::default();
    for part in [first, " ", second] {
        pair.push(part.as_bytes());
    }
    pair
}

pub fn actor(first: u32, last: u32) -> WordPair {
    pair(first_name(first), surname(last))
}

pub fn title(first: u32, second: u32) -> WordPair {
    pair(title_word(first), title_word(second))
}

/// The words of a product's title. No two of the first million products have the same.
pub fn words_of_title(product: u32) -> (u32, u32) {
    let place = product - 1;
    (place / TITLES % TITLES, place % TITLES)
}

/// What reviews consist of: words of three syllables that mean nothing.
pub const REVIEW_WORDS: u64 = 4_951;
const SYLLABLES: [&str; 18] =
    ["ba", "co", "do", "fe", "gi", "ha", "ju", "ka", "li", "mo", "ne", "pa", "qu", "ri", "sa", "te", "vu", "we"];
/// Three syllables and a blank.
pub const REVIEW_WORD_MAX: u64 = 7;

/// Appends words with blanks between them.
pub fn push_review_words<const LIMIT: usize>(text: &mut Letters<LIMIT>, stream: &mut RandomStream, count: u64) {
    const BASE: usize = SYLLABLES.len();
    for place in 0..count {
        if place > 0 {
            text.push(b" ");
        }
        let word = usize::try_from(stream.below(REVIEW_WORDS)).unwrap_or(0);
        for syllable in [word / (BASE * BASE), word / BASE % BASE, word % BASE] {
            text.push(SYLLABLES[syllable].as_bytes());
        }
    }
}

const EPOCH: Date = match Date::from_days(0) {
    Some(date) => date,
    None => panic!("1970 is a year"),
};

/// The date that is so many days after 1970 began.
pub fn date(days: i64) -> Date {
    i32::try_from(days).ok().and_then(Date::from_days).unwrap_or(EPOCH)
}

/// The first day of a month; it may be the one after December.
pub fn first_of(year: u32, month: u32) -> i64 {
    let (year, month) = if month > 12 { (year + 1, month - 12) } else { (year, month) };
    Date::from_year_month_day(year, month, 1).map_or(0, |date| date.days().into())
}

pub const fn money(cents: i64) -> Decimal {
    Decimal::new(cents as i128, 2)
}

/// The sales tax, rounded to the nearest cent.
pub const fn tax_cents(net_cents: i64) -> i64 {
    (net_cents * TAX_TEN_THOUSANDTHS + 5_000) / 10_000
}

pub fn is_hot(product: u32) -> bool {
    product.is_multiple_of(ONE_IN_HOT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Words that a full-text index leaves out: MariaDB's list.
    const STOPPED: &str = "a about an are as at be by com de en for from how i in is it la of on or that the this to was what \
        when where who will with und www";

    #[test]
    fn words_are_as_many_as_in_the_original_and_every_index_has_them() {
        let lists: [(&[&str], u32); 3] = [(&TITLE_WORDS, TITLES), (&FIRST_NAMES, NAMES), (&SURNAMES, NAMES)];
        let stopped: BTreeSet<String> = STOPPED.split_whitespace().map(str::to_ascii_uppercase).collect();
        for (list, count) in lists {
            assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), count as usize);
            assert!(list.iter().all(|word| word.len() >= 3 && word.bytes().all(|letter| letter.is_ascii_uppercase())));
            assert!(list.iter().all(|word| !stopped.contains(*word)));
        }
        assert!(FIRST_NAMES.iter().all(|name| !SURNAMES.contains(name)), "two words find an actor in one order only");
        assert_eq!(STATES.split(' ').collect::<BTreeSet<_>>().len(), STATES_COUNT);
        assert!(SYLLABLES.len().pow(3) as u64 >= REVIEW_WORDS);
    }

    #[test]
    fn titles_are_unique_up_to_a_million() {
        let title_of = |product| {
            let (first, second) = words_of_title(product);
            title(first, second).as_str().to_owned()
        };
        assert_eq!(title_of(1), "ACORN ACORN");
        assert_eq!(title_of(1_002), "ACROBAT ACROBAT");
        assert_eq!(title_of(1_000_001), title_of(1));
        let titles: BTreeSet<_> = (1..=1_000_000).map(words_of_title).collect();
        assert_eq!(titles.len(), 1_000_000);
    }

    #[test]
    fn a_tax_is_rounded_to_the_nearest_cent() {
        assert_eq!([tax_cents(0), tax_cents(100), tax_cents(40_000), tax_cents(6)], [0, 8, 3_300, 0]);
        // 0.0825 · 20.00 = 1.65; 0.0825 · 2.00 = 0.165, rounded up.
        assert_eq!([tax_cents(2_000), tax_cents(200)], [165, 17]);
    }
}
