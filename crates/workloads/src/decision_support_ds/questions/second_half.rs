//! The parameters of questions 51 to 99.

use super::draws::{
    self, CARRIERS, CATEGORIES, CITIES, COLOURS, EDUCATIONS, MARITAL_STATUSES, POTENTIALS, REASONS, STATES, Season,
    all, day, months, number, period, store_cities, store_counties, word, words, year,
};
use crate::decision_support::scale::DataScale;
use crate::decision_support::values::{ParameterChoice, ParameterValue, ParameterValues, hundredths, text};
use engines::session::Date;
use std::ops::RangeInclusive;

/// Years that have two more years of sales after them, and years of sales.
const FIRST_YEARS: RangeInclusive<i64> = 1998..=2000;
const YEARS: RangeInclusive<i64> = 1998..=2002;
const MIDDLE_YEARS: RangeInclusive<i64> = 1999..=2001;

/// Days from which some weeks are left before sales rise.
const BEFORE_AUGUST: Season = (1, 1)..=(7, 24);
const AUGUST: Season = (8, 1)..=(8, 30);

pub fn values(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        51 | 53 | 62 | 63 | 67 | 70 | 86 | 87 | 97 | 99 => vec![months(choice, 1200)],
        ..=59 => fifties(question, choice),
        60..=69 => sixties(question, scale, choice),
        70..=79 => seventies(question, scale, choice),
        80..=84 => early_eighties(question, choice),
        85..=89 => late_eighties(question, choice),
        _ => nineties(question, choice),
    }
}

fn fifties(question: u8, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        52 => vec![late_month(choice), year(choice, 2000)],
        54 => {
            let category = word(choice, &CATEGORIES, "Women");
            let class = word(choice, &draws::classes(&category), "maternity");
            let month = number(choice, 1..=12, 12);
            vec![year(choice, 1998), ("month", month), ("category", text(category)), ("class", text(class))]
        }
        55 => vec![("manager", number(choice, 1..=100, 28)), late_month(choice), year(choice, 1999)],
        56 => {
            let mut values = vec![year(choice, 2001), ("month", number(choice, 1..=7, 2)), offset(choice, 5..=8, 5)];
            values.extend(all("colours", words(choice, &COLOURS, &["slate", "blanched", "burnished"])));
            values
        }
        57 => vec![("year", number(choice, MIDDLE_YEARS, 1999)), ("order", number(choice, 1..=4, 3))],
        58 => vec![("day", ParameterValue::Date(day(choice, YEARS, &BEFORE_AUGUST, (2000, 1, 3))))],
        _ => vec![("month", number(choice, 1176..=1212, 1212))],
    }
}

/// November or December.
fn late_month(choice: &mut ParameterChoice<'_>) -> (&'static str, ParameterValue) {
    ("month", number(choice, 11..=12, 11))
}

/// Hours behind Greenwich.
fn offset(
    choice: &mut ParameterChoice<'_>,
    hours: RangeInclusive<i64>,
    validation: i64,
) -> (&'static str, ParameterValue) {
    ("offset", hundredths(-100 * choice.number(hours, validation)))
}

fn category(choice: &mut ParameterChoice<'_>, validation: &str) -> (&'static str, ParameterValue) {
    ("category", text(word(choice, &CATEGORIES, validation)))
}

fn sixties(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        60 => {
            let (month, offset) = (number(choice, 8..=10, 9), offset(choice, 5..=8, 5));
            vec![year(choice, 1998), ("month", month), offset, category(choice, "Music")]
        }
        // Stores of small scales are all in one time zone.
        61 => vec![year(choice, 1998), late_month(choice), offset(choice, 5..=5, 5), category(choice, "Jewelry")],
        64 => {
            let price = choice.number(0..=85, 64);
            let mut values = vec![("year", number(choice, MIDDLE_YEARS, 1999))];
            values.extend([("least", hundredths(100 * (price + 1))), ("most", hundredths(100 * (price + 10)))]);
            let validation = ["purple", "burlywood", "indian", "spring", "floral", "medium"];
            values.extend(all("colours", words(choice, &COLOURS, &validation)));
            values
        }
        65 => vec![months(choice, 1176)],
        66 => {
            let carriers = words(choice, &CARRIERS, &["DHL", "BARIAN"]);
            let mut values = vec![year(choice, 2001), ("second", number(choice, 1..=57_597, 30_838))];
            values.push(("carrier_names", text(carriers.join(","))));
            values.extend(all("carriers", carriers));
            values.extend([("web_price", number(choice, 1..=3, 2)), ("web_net", number(choice, 1..=3, 1))]);
            values.extend([("catalog_price", number(choice, 1..=3, 1)), ("catalog_net", number(choice, 1..=3, 2))]);
            values
        }
        68 => {
            let mut values = vec![("year", number(choice, FIRST_YEARS, 1999))];
            values.extend([dependents(choice, 4), ("vehicles", number(choice, -1..=4, 3))]);
            values.extend(all("cities", words(choice, &store_cities(scale), &["Fairview", "Midway"])));
            values
        }
        _ => {
            let mut values = vec![("year", number(choice, 1999..=2004, 2001)), ("month", number(choice, 1..=4, 4))];
            values.extend(all("states", words(choice, &STATES, &["KY", "GA", "NM"])));
            values
        }
    }
}

fn dependents(choice: &mut ParameterChoice<'_>, validation: i64) -> (&'static str, ParameterValue) {
    ("dependents", number(choice, 0..=9, validation))
}

fn seventies(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        71 => vec![late_month(choice), year(choice, 1999)],
        72 => {
            let marital = text(word(choice, &MARITAL_STATUSES, "D"));
            let potential = text(word(choice, &POTENTIALS, ">10000"));
            vec![year(choice, 1999), ("marital", marital), ("potential", potential)]
        }
        73 => {
            let counties = ["Williamson County", "Franklin Parish", "Bronx County", "Orange County"];
            let mut values = vec![("year", number(choice, FIRST_YEARS, 1999))];
            values.extend(all("potentials", words(choice, &POTENTIALS, &[">10000", "Unknown"])));
            values.extend(all("counties", words(choice, &store_counties(scale), &counties)));
            values
        }
        74 => {
            let (measure, order) = (number(choice, 1..=4, 1), number(choice, 1..=3, 1));
            vec![("year", number(choice, 1998..=2001, 2001)), ("measure", measure), ("order", order)]
        }
        75 => vec![("year", number(choice, 1999..=2002, 2002)), category(choice, "Books")],
        76 => ["store", "web", "catalog"].into_iter().flat_map(|channel| missing(choice, channel)).collect(),
        77 => period(day(choice, YEARS, &AUGUST, (2000, 8, 23)), 30).into(),
        78 => vec![year(choice, 2000), ("order", number(choice, 1..=4, 1))],
        _ => {
            let year = number(choice, FIRST_YEARS, 1999);
            vec![("year", year), dependents(choice, 6), ("vehicles", number(choice, -1..=4, 2))]
        }
    }
}

/// Columns of sales that may be null, in the order in which the statement counts them.
const OF_STORES: [&str; 6] =
    ["ss_customer_sk", "ss_cdemo_sk", "ss_hdemo_sk", "ss_addr_sk", "ss_store_sk", "ss_promo_sk"];
const OF_THE_WEB: [&str; 12] = [
    "ws_bill_customer_sk",
    "ws_bill_hdemo_sk",
    "ws_bill_addr_sk",
    "ws_ship_customer_sk",
    "ws_ship_cdemo_sk",
    "ws_ship_hdemo_sk",
    "ws_ship_addr_sk",
    "ws_web_page_sk",
    "ws_web_site_sk",
    "ws_ship_mode_sk",
    "ws_warehouse_sk",
    "ws_promo_sk",
];
const OF_THE_CATALOG: [&str; 11] = [
    "cs_bill_customer_sk",
    "cs_bill_hdemo_sk",
    "cs_bill_addr_sk",
    "cs_ship_customer_sk",
    "cs_ship_cdemo_sk",
    "cs_ship_hdemo_sk",
    "cs_ship_addr_sk",
    "cs_call_center_sk",
    "cs_ship_mode_sk",
    "cs_warehouse_sk",
    "cs_promo_sk",
];

/// Which column of a channel is null.
fn missing(choice: &mut ParameterChoice<'_>, channel: &str) -> [(&'static str, ParameterValue); 2] {
    let (names, columns, validation) = match channel {
        "store" => (["store_key", "store_column"], &OF_STORES[..], "ss_store_sk"),
        "web" => (["web_key", "web_column"], &OF_THE_WEB[..], "ws_ship_customer_sk"),
        _ => (["catalog_key", "catalog_column"], &OF_THE_CATALOG[..], "cs_ship_addr_sk"),
    };
    let column = choice.word(columns, validation);
    let key = (1..).zip(columns).find(|(_, found)| **found == column).map_or(0, |(key, _)| key);
    [(names[0], ParameterValue::Integer(key)), (names[1], text(column))]
}

fn early_eighties(question: u8, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        80 => period(day(choice, YEARS, &AUGUST, (2000, 8, 23)), 30).into(),
        81 => vec![year(choice, 2000), ("state", text(word(choice, &STATES, "GA")))],
        82 => {
            let price = choice.number(10..=70, 62);
            let makers = choice.several((1..=1000).collect(), [129, 270, 821, 423]);
            let mut values: ParameterValues = period(day(choice, YEARS, &BEFORE_AUGUST, (2000, 5, 25)), 60).into();
            values.extend([("least", hundredths(100 * price)), ("most", hundredths(100 * (price + 30)))]);
            values.extend(makers.map(|maker| ("makers", ParameterValue::Integer(maker))));
            values
        }
        83 => {
            let year = choice.number(YEARS, 2000);
            let seasons = [(BEFORE_AUGUST, (6, 30)), ((8, 1)..=(10, 24), (9, 27)), ((11, 1)..=(11, 24), (11, 17))];
            let drawn = |(season, (month, of_month))| {
                ("days", ParameterValue::Date(day(choice, year..=year, &season, (2000, month, of_month))))
            };
            seasons.map(drawn).into()
        }
        _ => {
            let city = text(word(choice, &CITIES, "Edgewood"));
            vec![("city", city), ("income", number(choice, 0..=70_000, 38_128))]
        }
    }
}

fn late_eighties(question: u8, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        85 => {
            let marital = words(choice, &MARITAL_STATUSES, &["M", "S", "W"]);
            let education = words(choice, &EDUCATIONS, &["Advanced Degree", "College", "2 yr Degree"]);
            let states = words(choice, &STATES, &["IN", "OH", "NJ", "WI", "CT", "KY", "LA", "IA", "AR"]);
            let mut values = vec![year(choice, 2000)];
            values.extend(["marital_1", "marital_2", "marital_3"].into_iter().zip(marital.into_iter().map(text)));
            let names = ["education_1", "education_2", "education_3"];
            values.extend(names.into_iter().zip(education.into_iter().map(text)));
            let names = ["states_1", "states_2", "states_3"].into_iter().flat_map(|name| [name; 3]);
            values.extend(names.zip(states.into_iter().map(text)));
            values
        }
        88 => {
            let numbers = choice.several((0..=4).collect(), [4, 2, 0]);
            let names = ["dependents_1", "dependents_2", "dependents_3"];
            names.into_iter().zip(numbers.map(ParameterValue::Integer)).collect()
        }
        _ => {
            let validation = ["Books", "Electronics", "Sports", "Men", "Jewelry", "Women"];
            let classes = ["computers", "stereo", "football", "shirts", "birdal", "dresses"];
            let categories = words(choice, &CATEGORIES, &validation);
            let mut values = vec![year(choice, 1999)];
            for (place, (category, class)) in categories.into_iter().zip(classes).enumerate() {
                let names = [["categories_1", "classes_1"], ["categories_2", "classes_2"]][place / 3];
                values.push((names[1], text(word(choice, &draws::classes(&category), class))));
                values.push((names[0], text(category)));
            }
            values
        }
    }
}

fn nineties(question: u8, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        90 => {
            let hours = [("morning", number(choice, 6..=12, 8)), ("evening", number(choice, 13..=21, 19))];
            vec![dependents(choice, 6)].into_iter().chain(hours).collect()
        }
        91 => {
            let potential = format!("{}%", word(choice, &POTENTIALS, "Unknown"));
            vec![year(choice, 1998), late_month(choice), offset(choice, 6..=7, 7), ("potential", text(potential))]
        }
        92 => {
            let first = day(choice, YEARS, &((1, 1)..=(4, 1)), (2000, 1, 27));
            let maker = ("maker", number(choice, 1..=1000, 350));
            period(first, 90).into_iter().chain([maker]).collect()
        }
        93 => vec![("reason", text(word(choice, &REASONS, "reason 28")))],
        94 | 95 => {
            let (year, month) = (choice.number(1999..=2002, 1999), choice.number(2..=5, 2));
            let state = ("state", text(word(choice, &STATES, "IL")));
            period(first_of(year, month), 60).into_iter().chain([state]).collect()
        }
        96 => {
            let hour = choice.several(vec![8, 15, 16, 20], [20]).map(|hour| ("hour", ParameterValue::Integer(hour)));
            hour.into_iter().chain([dependents(choice, 7)]).collect()
        }
        _ => {
            let first = day(choice, YEARS, &((1, 1)..=(7, 1)), (1999, 2, 22));
            let categories = words(choice, &CATEGORIES, &["Sports", "Books", "Home"]);
            period(first, 30).into_iter().chain(all("categories", categories)).collect()
        }
    }
}

/// The first day of a month.
fn first_of(year: i64, month: i64) -> Date {
    let number = |of: i64| u32::try_from(of).unwrap_or(1);
    Date::from_year_month_day(number(year), number(month), 1).expect("every month has a first day")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStream;
    use std::collections::BTreeSet;

    /// What one name gets in many draws.
    fn drawn(question: u8, name: &str) -> BTreeSet<String> {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        let mut draw = || values(question, DataScale::of(1.0).unwrap(), &mut ParameterChoice::Drawn(&mut stream));
        let all = (0..2_000).flat_map(|_| draw());
        all.filter(|(found, _)| *found == name).map(|(_, value)| format!("{:?}", value.as_param())).collect()
    }

    #[test]
    fn draws_reach_both_ends_of_their_domains() {
        for (question, name, count, [first, last]) in [
            (51, "month", 49, ["Integer(1176)", "Integer(1224)"]),
            (57, "year", 3, ["Integer(1999)", "Integer(2001)"]),
            (59, "month", 37, ["Integer(1176)", "Integer(1212)"]),
            (60, "offset", 4, ["Decimal(-5.00)", "Decimal(-8.00)"]),
            (64, "least", 86, ["Decimal(1.00)", "Decimal(9.00)"]),
            (68, "cities", 2, ["Text(\"Fairview\")", "Text(\"Midway\")"]),
            (77, "first", 150, ["Date(1998-08-01)", "Date(2002-08-30)"]),
            (91, "potential", 6, ["Text(\"0-500%\")", "Text(\"Unknown%\")"]),
            (94, "last", 16, ["Date(1999-04-02)", "Date(2002-06-30)"]),
        ] {
            let found = drawn(question, name);
            let ends = [found.first(), found.last()].map(|value| value.map(String::as_str));
            assert_eq!((found.len(), ends), (count, [Some(first), Some(last)]), "{question} {name}");
        }
    }

    #[test]
    fn names_of_columns_are_those_that_the_statement_counts() {
        let statement = include_str!("../sql/questions/q76.sql");
        for columns in [&OF_STORES[..], &OF_THE_WEB, &OF_THE_CATALOG] {
            for (key, column) in (1..).zip(columns) {
                assert!(statement.contains(&format!("WHEN {key} THEN {column}")), "{column}");
            }
            assert!(!statement.contains(&format!("WHEN {} THEN {}", columns.len() + 1, &columns[0][..3])));
        }
    }

    #[test]
    fn a_class_is_one_of_its_category() {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        for question in [54, 89].repeat(50) {
            let values = values(question, DataScale::of(1.0).unwrap(), &mut ParameterChoice::Drawn(&mut stream));
            let of = |prefix: &str| -> Vec<&ParameterValue> {
                values.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, value)| value).collect()
            };
            let (categories, found) = (of("categor"), of("class"));
            assert!(!categories.is_empty() && categories.len() == found.len());
            for (category, class) in categories.into_iter().zip(found) {
                let (ParameterValue::Text(category), ParameterValue::Text(class)) = (category, class) else {
                    panic!("not a text")
                };
                assert!(draws::classes(category).iter().any(|(known, _)| known == class), "{category} {class}");
            }
        }
    }
}
