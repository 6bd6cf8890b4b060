//! The parameters of questions 1 to 50.

use super::draws::{
    CATEGORIES, COLOURS, COUNTIES, EDUCATIONS, GENDERS, MARITAL_STATUSES, POTENTIALS, SIZES, STATES, Season, UNITS,
    all, day, months, number, period, store_cities, store_counties, store_states, word, words, year,
};
use crate::decision_support::scale::DataScale;
use crate::decision_support::values::{ParameterChoice, ParameterValue, ParameterValues, hundredths, text};
use engines::session::Date;
use std::ops::RangeInclusive;
use tpcdsgen::config::Table;

const YEARS: RangeInclusive<i64> = 1998..=2002;
/// Years that are followed by another year of sales, and by two of them.
const EARLY_YEARS: RangeInclusive<i64> = 1998..=2001;
const FIRST_YEARS: RangeInclusive<i64> = 1998..=2000;
const LATE_YEARS: RangeInclusive<i64> = 1999..=2002;

const AUGUST: Season = (8, 1)..=(8, 30);
/// From which a month is left before sales rise.
const BEFORE_JULY: Season = (1, 1)..=(7, 1);
/// Which also have a month of the year before them.
const FROM_FEBRUARY: Season = (1, 31)..=(7, 1);

const ZIPS: &str = include_str!("zips.txt");
const ZIPS_COUNT: usize = 400;

pub const LAST: u8 = 50;

pub fn values(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        ..=9 => ones(question, scale, choice),
        10..=13 => early_tens(question, choice),
        14..=19 => late_tens(question, scale, choice),
        20..=27 => early_twenties(question, scale, choice),
        28..=35 => thirties(question, scale, choice),
        36..=41 => late_thirties(question, scale, choice),
        _ => forties(question, scale, choice),
    }
}

fn ones(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        1 => {
            let state = text(word(choice, &store_states(scale), "TN"));
            vec![("measure", number(choice, 1..=7, 1)), year(choice, 2000), ("state", state)]
        }
        2 => vec![("year", number(choice, EARLY_YEARS, 2001))],
        3 => {
            let maker = number(choice, 1..=1000, 128);
            vec![("manufacturer", maker), late_month(choice), ("measure", number(choice, 1..=4, 1))]
        }
        4 => growth(choice),
        5 => period(day(choice, YEARS, &AUGUST, (2000, 8, 23)), 14).into(),
        6 => vec![year(choice, 2001), ("month", number(choice, 1..=7, 1))],
        7 => people(choice).into_iter().chain([year(choice, 2000)]).collect(),
        8 => [quarter(choice), year(choice, 1998)].into_iter().chain(zips(choice)).collect(),
        _ => {
            let most = fifth_of_store_lines(scale);
            let validation = [74_129, 122_840, 56_580, 10_097, 165_306].map(|rows| number(choice, 1..=most, rows));
            let names = ["rows_1", "rows_2", "rows_3", "rows_4", "rows_5"];
            let measures = [("many", number(choice, 1..=4, 1)), ("few", number(choice, 1..=3, 1))];
            names.into_iter().zip(validation).chain(measures).collect()
        }
    }
}

/// The year from which purchases grow, and which column of the customer is shown.
fn growth(choice: &mut ParameterChoice<'_>) -> ParameterValues {
    vec![("year", number(choice, EARLY_YEARS, 2001)), ("column", number(choice, 1..=4, 1))]
}

/// One kind of people.
fn people(choice: &mut ParameterChoice<'_>) -> [(&'static str, ParameterValue); 3] {
    [
        ("gender", text(word(choice, &GENDERS, "M"))),
        ("marital", text(word(choice, &MARITAL_STATUSES, "S"))),
        ("education", text(word(choice, &EDUCATIONS, "College"))),
    ]
}

fn zips(choice: &mut ParameterChoice<'_>) -> [(&'static str, ParameterValue); ZIPS_COUNT] {
    let mut known = ZIPS.split_whitespace().map(|zip| zip.parse().unwrap_or(0));
    let validation: [i64; ZIPS_COUNT] = std::array::from_fn(|_| known.next().unwrap_or(0));
    let zips = choice.several((10_000..=99_999).collect(), validation);
    zips.map(|zip| ("zips", text(zip.to_string())))
}

/// Of store sales, tickets are counted. One has twelve lines on average.
fn fifth_of_store_lines(scale: DataScale) -> i64 {
    12 * rows(scale, Table::StoreSales) / 5
}

fn rows(scale: DataScale, table: Table) -> i64 {
    i64::try_from(scale.rows(table)).unwrap_or(i64::MAX)
}

/// November or December.
fn late_month(choice: &mut ParameterChoice<'_>) -> (&'static str, ParameterValue) {
    ("month", number(choice, 11..=12, 11))
}

fn quarter(choice: &mut ParameterChoice<'_>) -> (&'static str, ParameterValue) {
    ("quarter", number(choice, 1..=2, 2))
}

/// Hours behind Greenwich.
fn offset(choice: &mut ParameterChoice<'_>, hours: RangeInclusive<i64>) -> (&'static str, ParameterValue) {
    ("offset", hundredths(-100 * choice.number(hours, 5)))
}

fn early_tens(question: u8, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        10 => {
            let counties = ["Rush County", "Toole County", "Jefferson County", "Dona Ana County", "La Porte County"];
            let mut values = vec![("year", number(choice, LATE_YEARS, 2002)), ("month", number(choice, 1..=4, 1))];
            values.extend(all("counties", words(choice, &COUNTIES, &counties)));
            values
        }
        11 => growth(choice),
        12 => share_of_class(choice),
        _ => {
            let education = ["Advanced Degree", "College", "2 yr Degree"];
            three_kinds(choice, ["M", "S", "W"], education, ["TX", "OH", "TX", "OR", "NM", "KY", "VA", "TX", "MS"])
        }
    }
}

/// Three categories, and a month.
fn share_of_class(choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let first = day(choice, YEARS, &BEFORE_JULY, (1999, 2, 22));
    let categories = words(choice, &CATEGORIES, &["Sports", "Books", "Home"]);
    period(first, 30).into_iter().chain(all("categories", categories)).collect()
}

/// Three kinds of people, and three groups of three states.
fn three_kinds(
    choice: &mut ParameterChoice<'_>,
    marital: [&str; 3],
    education: [&str; 3],
    states: [&str; 9],
) -> ParameterValues {
    let marital = words(choice, &MARITAL_STATUSES, &marital).into_iter().map(text);
    let education = words(choice, &EDUCATIONS, &education).into_iter().map(text);
    let states = words(choice, &STATES, &states).into_iter().map(text);
    let groups = ["states_1", "states_2", "states_3"].into_iter().flat_map(|name| [name; 3]);
    let mut values: ParameterValues = ["marital_1", "marital_2", "marital_3"].into_iter().zip(marital).collect();
    values.extend(["education_1", "education_2", "education_3"].into_iter().zip(education));
    values.extend(groups.zip(states));
    values
}

fn late_tens(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        14 => vec![("year", number(choice, FIRST_YEARS, 1999)), ("day", number(choice, 1..=28, 11))],
        15 => vec![quarter(choice), year(choice, 2001)],
        16 => {
            let (year, month) = (choice.number(LATE_YEARS, 2002), choice.number(2..=5, 2));
            let mut values: ParameterValues = period(first_of(year, month), 60).into();
            values.push(("state", text(word(choice, &STATES, "GA"))));
            values.extend(all("counties", words(choice, &store_counties(scale), &["Williamson County"; 5])));
            values
        }
        17 => {
            let year = choice.number(YEARS, 2001);
            let mut values = vec![("first_quarter", text(format!("{year}Q1")))];
            values.extend((1..=3).map(|quarter| ("quarters", text(format!("{year}Q{quarter}")))));
            values
        }
        18 => {
            let (gender, education) = (word(choice, &GENDERS, "F"), word(choice, &EDUCATIONS, "Unknown"));
            let months = choice.several((1..=12).collect(), [1, 6, 8, 9, 12, 2]);
            let states = words(choice, &STATES, &["MS", "IN", "ND", "OK", "NM", "VA", "MS"]);
            let mut values = vec![("gender", text(gender)), ("education", text(education)), year(choice, 1998)];
            values.extend(months.map(|month| ("months", ParameterValue::Integer(month))));
            values.extend(all("states", states));
            values
        }
        _ => vec![("manager", number(choice, 1..=100, 8)), late_month(choice), year(choice, 1998)],
    }
}

/// The first day of a month.
fn first_of(year: i64, month: i64) -> Date {
    let number = |of: i64| u32::try_from(of).unwrap_or(1);
    Date::from_year_month_day(number(year), number(month), 1).expect("every month has a first day")
}

/// A day, and the month before and after it.
fn around_a_day(choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let day = day(choice, YEARS, &FROM_FEBRUARY, (2000, 3, 11));
    let month_before = Date::from_days(day.days() - 30).expect("a month earlier there are still dates");
    period(month_before, 60).into_iter().chain([("day", ParameterValue::Date(day))]).collect()
}

fn early_twenties(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        20 => share_of_class(choice),
        21 => around_a_day(choice),
        22 => vec![months(choice, 1200)],
        23 => {
            // Answers are validated with another percentage than is drawn.
            let percent = number(choice, 95..=95, 50);
            vec![("year", number(choice, FIRST_YEARS, 2000)), ("month", number(choice, 1..=7, 2)), ("percent", percent)]
        }
        24 => {
            let colours = words(choice, &COLOURS, &["peach", "saddle"]).into_iter().map(text);
            let mut values = vec![("market", number(choice, 5..=10, 8)), ("measure", number(choice, 1..=5, 1))];
            values.extend(["colour", "other_colour"].into_iter().zip(colours));
            values
        }
        25 => vec![year(choice, 2001), ("kind", number(choice, 1..=5, 1))],
        26 => people(choice).into_iter().chain([year(choice, 2000)]).collect(),
        _ => {
            let states = words(choice, &store_states(scale), &["TN"; 6]);
            people(choice).into_iter().chain([year(choice, 2002)]).chain(all("states", states)).collect()
        }
    }
}

fn thirties(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        28 => bands(choice),
        29 => {
            let year = number(choice, FIRST_YEARS, 1999);
            vec![("year", year), ("month", number(choice, 4..=4, 9)), ("kind", number(choice, 1..=5, 1))]
        }
        30 => vec![("year", number(choice, LATE_YEARS, 2002)), ("state", text(word(choice, &STATES, "GA")))],
        31 => vec![year(choice, 2000), ("order", number(choice, 1..=6, 6))],
        32 => {
            let first = day(choice, YEARS, &((1, 1)..=(4, 1)), (2000, 1, 27));
            let maker = ("manufacturer", number(choice, 1..=1000, 977));
            period(first, 90).into_iter().chain([maker]).collect()
        }
        33 => {
            let category = text(word(choice, &CATEGORIES, "Electronics"));
            let month = number(choice, 1..=7, 5);
            vec![year(choice, 1998), ("month", month), offset(choice, 5..=8), ("category", category)]
        }
        34 => {
            let mut values = vec![("year", number(choice, FIRST_YEARS, 1999))];
            values.extend(all("potentials", words(choice, &POTENTIALS, &[">10000", "Unknown"])));
            values.extend(all("counties", words(choice, &store_counties(scale), &["Williamson County"; 8])));
            values
        }
        _ => {
            let kinds = choice.several((1..=5).collect(), [2, 3, 4]).map(ParameterValue::Integer);
            let year = ("year", number(choice, LATE_YEARS, 2002));
            ["kind_1", "kind_2", "kind_3"].into_iter().zip(kinds).chain([year]).collect()
        }
    }
}

/// The lowest list price, coupon and cost of each of six bands of quantities.
fn bands(choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let names = [
        ["list_1", "coupon_1", "cost_1"],
        ["list_2", "coupon_2", "cost_2"],
        ["list_3", "coupon_3", "cost_3"],
        ["list_4", "coupon_4", "cost_4"],
        ["list_5", "coupon_5", "cost_5"],
        ["list_6", "coupon_6", "cost_6"],
    ];
    let validation = [[8, 459, 57], [90, 2323, 31], [142, 12214, 79], [135, 6071, 38], [122, 836, 17], [154, 7326, 7]];
    let highest = [190, 18_000, 80];
    let mut values = ParameterValues::new();
    for (names, validation) in names.into_iter().zip(validation) {
        for (name, (validation, highest)) in names.into_iter().zip(validation.into_iter().zip(highest)) {
            values.push((name, hundredths(100 * choice.number(0..=highest, validation))));
        }
    }
    values
}

fn late_thirties(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        36 => {
            let states = words(choice, &store_states(scale), &["TN"; 8]);
            all("states", states).chain([year(choice, 2001)]).collect()
        }
        37 => {
            let price = choice.number(10..=70, 68);
            let makers = choice.several((667..=1000).collect(), [677, 940, 694, 808]);
            let mut values: ParameterValues = period(day(choice, YEARS, &((1, 1)..=(7, 24)), (2000, 2, 1)), 60).into();
            values.extend([("least", hundredths(100 * price)), ("most", hundredths(100 * (price + 30)))]);
            values.extend(makers.map(|maker| ("manufacturers", ParameterValue::Integer(maker))));
            values
        }
        38 => vec![months(choice, 1200)],
        39 => vec![year(choice, 2001), ("month", number(choice, 1..=4, 1))],
        40 => around_a_day(choice),
        _ => clothes(choice),
    }
}

/// Each of eight combinations has two colours and two units. Three pairs of sizes are shared among them.
fn clothes(choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let colours = [
        "powder",
        "khaki",
        "brown",
        "honeydew",
        "floral",
        "deep",
        "light",
        "cornflower",
        "midnight",
        "snow",
        "cyan",
        "papaya",
        "orange",
        "frosted",
        "forest",
        "ghost",
    ];
    let units = [
        "Ounce", "Oz", "Bunch", "Ton", "N/A", "Dozen", "Box", "Pound", "Pallet", "Gross", "Cup", "Dram", "Each", "Tbl",
        "Lb", "Bundle",
    ];
    let sizes = ["medium", "extra large", "N/A", "small", "petite", "large"];
    let named = [
        ("colours_1", "units_1"),
        ("colours_2", "units_2"),
        ("colours_3", "units_3"),
        ("colours_4", "units_4"),
        ("colours_5", "units_5"),
        ("colours_6", "units_6"),
        ("colours_7", "units_7"),
        ("colours_8", "units_8"),
    ];
    let twice = |names: &[&'static str]| names.iter().flat_map(|&name| [name; 2]).collect::<Vec<_>>();
    let mut values = vec![("manufacturer", number(choice, 667..=1000, 738))];
    let (colour_names, unit_names) = (named.map(|(colours, _)| colours), named.map(|(_, units)| units));
    let size_names = ["sizes_1", "sizes_2", "sizes_3"];
    values.extend(twice(&colour_names).into_iter().zip(words(choice, &COLOURS, &colours).into_iter().map(text)));
    values.extend(twice(&unit_names).into_iter().zip(words(choice, &UNITS, &units).into_iter().map(text)));
    values.extend(twice(&size_names).into_iter().zip(words(choice, &SIZES, &sizes).into_iter().map(text)));
    values
}

fn forties(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    match question {
        42 => vec![late_month(choice), year(choice, 2000)],
        // Stores of small scales are all in one time zone.
        43 => vec![year(choice, 2000), offset(choice, 5..=5)],
        44 => {
            let stores = rows(scale, Table::Store);
            vec![("store", number(choice, 1..=stores, 4)), ("column", number(choice, 1..=5, 1))]
        }
        45 => vec![quarter(choice), year(choice, 2001), ("place", number(choice, 1..=3, 1))],
        46 => {
            let mut values = vec![("year", number(choice, FIRST_YEARS, 1999))];
            values.extend([("dependents", number(choice, 0..=9, 4)), ("vehicles", number(choice, -1..=4, 3))]);
            let cities = ["Fairview", "Midway", "Fairview", "Fairview", "Fairview"];
            values.extend(all("cities", words(choice, &store_cities(scale), &cities)));
            values
        }
        47 => vec![("year", number(choice, 1999..=2001, 1999)), ("order", number(choice, 1..=4, 3))],
        48 => {
            let states = ["CO", "OH", "TX", "OR", "MN", "KY", "VA", "CA", "MS"];
            let education = ["4 yr Degree", "2 yr Degree", "College"];
            let mut values = three_kinds(choice, ["M", "D", "S"], education, states);
            values.push(year(choice, 2000));
            values
        }
        49 => vec![("month", number(choice, 11..=12, 12)), year(choice, 2001)],
        _ => vec![year(choice, 2001), ("month", number(choice, 8..=10, 8))],
    }
}
