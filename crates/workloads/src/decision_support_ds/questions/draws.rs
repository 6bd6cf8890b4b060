//! Draws that several questions make: words of the generator's lists, dates of its sales, and the places of its stores.
//!
//! A word is drawn by the weight with which the rows have it.

use crate::decision_support::scale::DataScale;
use crate::decision_support::values::{ParameterChoice, ParameterValue, text};
use crate::random::RandomStream;
use engines::session::Date;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use tpcdsgen::distribution::file_loader::DistributionFileLoader;
use tpcdsgen::pseudo_table_scaling_infos::PseudoTableScalingInfos;

/// Words with their weights.
pub type List = Vec<(String, u64)>;

pub static CARRIERS: LazyLock<List> = LazyLock::new(|| list("ship_mode_carrier", 0, 0));
pub static CATEGORIES: LazyLock<List> = LazyLock::new(|| list("categories", 0, 0));
pub static CITIES: LazyLock<List> = LazyLock::new(|| list("cities", 0, 5));
pub static COLOURS: LazyLock<List> = LazyLock::new(|| list("colors", 0, 1));
pub static COUNTIES: LazyLock<List> = LazyLock::new(|| list(PLACES, 1, 0));
pub static EDUCATIONS: LazyLock<List> = LazyLock::new(|| list("education", 0, 0));
pub static GENDERS: LazyLock<List> = LazyLock::new(|| list("genders", 0, 0));
pub static MARITAL_STATUSES: LazyLock<List> = LazyLock::new(|| list("marital_statuses", 0, 0));
pub static POTENTIALS: LazyLock<List> = LazyLock::new(|| list("buy_potential", 0, 0));
pub static REASONS: LazyLock<List> = LazyLock::new(|| list("return_reasons_c", 0, 0));
pub static SIZES: LazyLock<List> = LazyLock::new(|| list("sizes", 0, 0));
pub static STATES: LazyLock<List> = LazyLock::new(|| list(PLACES, 2, 0));
pub static UNITS: LazyLock<List> = LazyLock::new(|| list("units", 0, 0));

/// Counties with their states.
const PLACES: &str = "fips";

type ListLine = (Vec<String>, Vec<String>);

fn lines(name: &str) -> Vec<ListLine> {
    DistributionFileLoader::load_distribution_file(&format!("{name}.dst")).unwrap_or_default()
}

/// The words in one column of a list, with the weights in another. A word that comes several times has all its weights.
fn list(name: &str, word: usize, weight: usize) -> List {
    collected(lines(name).into_iter(), word, weight)
}

fn collected(lines: impl Iterator<Item = ListLine>, word: usize, weight: usize) -> List {
    let mut found = List::new();
    for (words, weights) in lines {
        let (Some(word), Some(weight)) = (words.get(word), weights.get(weight)) else { continue };
        let weight = weight.parse().unwrap_or(0);
        match found.iter_mut().find(|(known, _)| known == word) {
            Some((_, sum)) => *sum += weight,
            None => found.push((word.clone(), weight)),
        }
    }
    found
}

/// The classes of a category.
pub fn classes(category: &str) -> List {
    let file = lines("categories").into_iter().find(|(words, _)| words.first().is_some_and(|word| word == category));
    let class = file.and_then(|(words, _)| words.into_iter().nth(1)).unwrap_or_default();
    list(&class, 0, 0)
}

/// Stores are in the first counties and cities of the generator's lists only, in more of them at a larger scale.
pub fn store_counties(scale: DataScale) -> List {
    collected(lines(PLACES).into_iter().take(active_counties(scale)), 1, 0)
}

pub fn store_states(scale: DataScale) -> List {
    collected(lines(PLACES).into_iter().take(active_counties(scale)), 2, 0)
}

pub fn store_cities(scale: DataScale) -> List {
    let active =
        PseudoTableScalingInfos::get_active_cities_row_count_for_scale(scale.session().get_scaling().get_scale());
    collected(lines("cities").into_iter().take(at_least_one(active)), 0, 1)
}

fn active_counties(scale: DataScale) -> usize {
    at_least_one(PseudoTableScalingInfos::get_active_counties_row_count_for_scale(
        scale.session().get_scaling().get_scale(),
    ))
}

fn at_least_one(count: i64) -> usize {
    usize::try_from(count).unwrap_or(1).max(1)
}

/// A word of a list.
pub fn word(choice: &mut ParameterChoice<'_>, list: &[(String, u64)], validation: &str) -> String {
    words(choice, list, &[validation]).pop().unwrap_or_default()
}

/// As many different words of a list as there are for validation, or all of them if the list has fewer.
pub fn words(choice: &mut ParameterChoice<'_>, list: &[(String, u64)], validation: &[&str]) -> Vec<String> {
    match choice {
        ParameterChoice::Validation => validation.iter().map(|&word| word.to_owned()).collect(),
        ParameterChoice::Drawn(stream) => {
            let mut left = list.to_vec();
            let count = validation.len().min(left.len());
            (0..count).map(|_| left.swap_remove(weighted(stream, &left, |(_, weight)| *weight)).0).collect()
        }
    }
}

/// The place of an item drawn by weight.
fn weighted<T>(stream: &mut RandomStream, items: &[T], weight: impl Fn(&T) -> u64) -> usize {
    let mut drawn = stream.below(items.iter().map(&weight).sum());
    let place = items.iter().position(|item| {
        let is_here = drawn < weight(item);
        drawn = drawn.saturating_sub(weight(item));
        is_here
    });
    place.unwrap_or(0)
}

/// Several values of one name.
pub fn all(name: &'static str, words: Vec<String>) -> impl Iterator<Item = (&'static str, ParameterValue)> {
    words.into_iter().map(move |word| (name, text(word)))
}

/// The first of twelve months, counted from January 1900.
pub fn months(choice: &mut ParameterChoice<'_>, validation: i64) -> (&'static str, ParameterValue) {
    ("month", number(choice, 1176..=1224, validation))
}

/// A year with sales in all channels.
pub fn year(choice: &mut ParameterChoice<'_>, validation: i64) -> (&'static str, ParameterValue) {
    ("year", number(choice, 1998..=2002, validation))
}

pub fn number(choice: &mut ParameterChoice<'_>, domain: RangeInclusive<i64>, validation: i64) -> ParameterValue {
    ParameterValue::Integer(choice.number(domain, validation))
}

/// Months and days of a year, from one to another.
pub type Season = RangeInclusive<(u32, u32)>;

/// Month and day with the weights of its sales in years of 365 and 366 days.
type Day = ((u32, u32), [u64; 2]);

static CALENDAR: LazyLock<Vec<Day>> = LazyLock::new(|| {
    let day = |(words, weights): ListLine| {
        let number = |of: &[String], place: usize| of.get(place).and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
        let weight = |place| u64::from(number(&weights, place));
        ((number(&words, 4), number(&words, 2)), [weight(2), weight(3)])
    };
    lines("calendar").into_iter().map(day).collect()
});

/// A day of a season in one of these years, drawn by the weight of its sales.
pub fn day(
    choice: &mut ParameterChoice<'_>,
    years: RangeInclusive<i64>,
    season: &Season,
    validation: (u32, u32, u32),
) -> Date {
    let (year, (month, day)) = match choice {
        ParameterChoice::Validation => (validation.0, (validation.1, validation.2)),
        ParameterChoice::Drawn(stream) => {
            let year = u32::try_from(stream.uniform(*years.start(), *years.end())).unwrap_or(0);
            let days: Vec<_> = CALENDAR.iter().filter(|(day, _)| season.contains(day)).collect();
            let is_leap = usize::from(year.is_multiple_of(4));
            (year, days[weighted(stream, &days, |(_, weights)| weights[is_leap])].0)
        }
    };
    Date::from_year_month_day(year, month, day).expect("the calendar has days of every year")
}

/// A day and the one so many later.
pub fn period(first: Date, days: i32) -> [(&'static str, ParameterValue); 2] {
    let last = Date::from_days(first.days() + days).expect("a few days later there are still dates");
    [("first", ParameterValue::Date(first)), ("last", ParameterValue::Date(last))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_list_has_words_with_weights() {
        let lists = [
            (&CARRIERS, 20),
            (&CATEGORIES, 10),
            (&CITIES, 986),
            (&COLOURS, 92),
            (&COUNTIES, 1_846),
            (&EDUCATIONS, 7),
            (&GENDERS, 2),
            (&MARITAL_STATUSES, 5),
            (&POTENTIALS, 6),
            (&REASONS, 75),
            (&SIZES, 7),
            (&STATES, 51),
            (&UNITS, 21),
        ];
        assert_eq!(lists.each_ref().map(|(list, _)| list.len()), lists.map(|(_, count)| count));
        assert!(lists.iter().all(|(list, _)| list.iter().map(|(_, weight)| weight).sum::<u64>() > 0));
        for (category, _) in CATEGORIES.iter() {
            assert!(classes(category).len() >= 4, "{category}");
        }
    }

    #[test]
    fn stores_are_in_more_places_at_larger_scales() {
        let counts = |scale: f64| {
            let scale = DataScale::of(scale).unwrap();
            [store_states(scale), store_counties(scale), store_cities(scale)].map(|list| list.len())
        };
        assert_eq!([1.0, 10.0, 100.0, 1_000.0].map(counts), [[1, 1, 2], [3, 3, 6], [9, 9, 18], [21, 27, 54]]);
        assert_eq!(counts(0.01)[..2], [1, 1]);
    }

    #[test]
    fn draws_are_different_words_by_weight() {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        let list: List =
            [("a", 8), ("b", 0), ("c", 2), ("d", 1)].map(|(word, weight)| (word.to_owned(), weight)).into();
        let mut firsts = [0; 4];
        for _ in 0..1_100 {
            let drawn = words(&mut ParameterChoice::Drawn(&mut stream), &list, &["", "", ""]);
            assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 3);
            firsts[list.iter().position(|(word, _)| *word == drawn[0]).unwrap()] += 1;
        }
        assert!(firsts[1] == 0 && firsts[0] > 700 && firsts[2] > firsts[3], "{firsts:?}");
        let all = words(&mut ParameterChoice::Drawn(&mut stream), &list, &[""; 9]);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn days_are_within_their_season() {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        let season = (8, 1)..=(8, 30);
        let drawn: BTreeSet<_> = (0..2_000)
            .map(|_| {
                day(&mut ParameterChoice::Drawn(&mut stream), 1998..=2002, &season, (2000, 8, 23)).year_month_day()
            })
            .collect();
        assert_eq!((drawn.len(), drawn.first(), drawn.last()), (150, Some(&(1998, 8, 1)), Some(&(2002, 8, 30))));
    }
}
