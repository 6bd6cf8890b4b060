//! The parameters of the 22 questions: those that answers are validated with, and those that a stream draws.

use super::domains::{
    CLASSES, CONTAINER_SIZES, CONTAINERS, FINISHES, FIRST_WORDS, METALS, MODES, NATIONS, REGIONS, SECOND_WORDS,
    SEGMENTS, colours,
};
use crate::decision_support::scale::DataScale;
use crate::decision_support::values::{ParameterChoice, ParameterValue, ParameterValues, hundredths, text};
use engines::session::Date;
use std::ops::RangeInclusive;

/// Draws that are made for several questions.
trait Draws {
    fn brand(&mut self, manufacturer: i64, number: i64) -> ParameterValue;
    fn nation(&mut self, validation: &'static str) -> &'static str;
    /// January of a year, and of the year after it.
    fn year(&mut self) -> [(&'static str, ParameterValue); 2];
    /// A month, drawn from these, and the month so many later.
    fn months(
        &mut self,
        domain: RangeInclusive<i64>,
        validation: i64,
        length: i64,
    ) -> [(&'static str, ParameterValue); 2];
}

impl Draws for ParameterChoice<'_> {
    fn brand(&mut self, manufacturer: i64, number: i64) -> ParameterValue {
        let (manufacturer, number) = (self.number(1..=5, manufacturer), self.number(1..=5, number));
        ParameterValue::Text(format!("Brand#{manufacturer}{number}"))
    }

    fn nation(&mut self, validation: &'static str) -> &'static str {
        self.word(&NATIONS.map(|(name, _)| name), validation)
    }

    fn year(&mut self) -> [(&'static str, ParameterValue); 2] {
        let year = self.number(1993..=1997, 1994);
        months_from((year - FIRST_YEAR) * 12, 12)
    }

    fn months(
        &mut self,
        domain: RangeInclusive<i64>,
        validation: i64,
        length: i64,
    ) -> [(&'static str, ParameterValue); 2] {
        months_from(self.number(domain, validation), length)
    }
}

/// Months are counted from January of this year.
const FIRST_YEAR: i64 = 1992;

const fn month(year: i64, month: i64) -> i64 {
    (year - FIRST_YEAR) * 12 + month - 1
}

fn months_from(first: i64, length: i64) -> [(&'static str, ParameterValue); 2] {
    [("since", day(first, 1)), ("before", day(first + length, 1))]
}

/// A day of a month that has it.
fn day(month: i64, day: i64) -> ParameterValue {
    let number = |of: i64| u32::try_from(of).unwrap_or(1);
    let date = Date::from_year_month_day(number(FIRST_YEAR + month / 12), number(month % 12 + 1), number(day));
    ParameterValue::Date(date.unwrap_or(FIRST_DAY))
}

const FIRST_DAY: Date = Date::from_days(8_035).expect("1992 has days");

/// The parameters of a question, which is counted from 1.
pub fn values(question: u8, scale: DataScale, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let mut values = ParameterValues::new();
    match question {
        1 => {
            let before_december = choice.number(60..=120, 90);
            let last = Date::from_year_month_day(1998, 12, 1).map_or(0, Date::days) - days(before_december);
            values.push(("last", ParameterValue::Date(Date::from_days(last).unwrap_or(FIRST_DAY))));
        }
        2 => {
            values.push(("size", ParameterValue::Integer(choice.number(1..=50, 15))));
            values.push(("metal", text(format!("%{}", choice.word(&METALS, "BRASS")))));
            values.push(("region", text(choice.word(&REGIONS, "EUROPE"))));
        }
        3 => {
            values.push(("segment", text(choice.word(&SEGMENTS, "BUILDING"))));
            values.push(("day", day(month(1995, 3), choice.number(1..=31, 15))));
        }
        4 => values.extend(choice.months(month(1993, 1)..=month(1997, 10), month(1993, 7), 3)),
        5 => {
            values.push(("region", text(choice.word(&REGIONS, "ASIA"))));
            values.extend(choice.year());
        }
        6 => {
            values.extend(choice.year());
            let discount = choice.number(2..=9, 6);
            values.extend([("lowest", hundredths(discount - 1)), ("highest", hundredths(discount + 1))]);
            values.push(("pieces", hundredths(100 * choice.number(24..=25, 24))));
        }
        7 => {
            let names = NATIONS.map(|(name, _)| name).to_vec();
            let [nation, other] = choice.several(names, ["FRANCE", "GERMANY"]);
            values.extend([("nation", text(nation)), ("other", text(other))]);
            values.extend(months_from(month(1995, 1), 24));
        }
        8 => {
            let nation = choice.nation("BRAZIL");
            let region = NATIONS.iter().find(|(name, _)| *name == nation).map_or(0, |(_, region)| *region);
            values.extend([("nation", text(nation)), ("region", text(REGIONS[region]))]);
            let words = [("ECONOMY", &CLASSES[..]), ("ANODIZED", &FINISHES), ("STEEL", &METALS)];
            let words = words.map(|(validation, domain)| choice.word(domain, validation));
            values.push(("type", text(words.join(" "))));
            values.extend(months_from(month(1995, 1), 24));
        }
        9 => values.push(("colour", text(format!("%{}%", choice.word(colours(), "green"))))),
        10 => values.extend(choice.months(month(1993, 2)..=month(1995, 1), month(1993, 10), 3)),
        11 => {
            values.push(("nation", text(choice.nation("GERMANY"))));
            // Its value is more than a ten-thousandth of all at scale 1.
            values.push(("parts_of_all", ParameterValue::Integer(100 * i64::from(scale.hundredths()))));
        }
        _ => values.extend(later_values(question, choice)),
    }
    values
}

fn later_values(question: u8, choice: &mut ParameterChoice<'_>) -> ParameterValues {
    let mut values = ParameterValues::new();
    match question {
        12 => {
            let [mode, other] = choice.several(MODES.to_vec(), ["MAIL", "SHIP"]);
            values.extend([("mode", text(mode)), ("other", text(other))]);
            values.extend(choice.year());
        }
        13 => {
            let (first, second) = (choice.word(&FIRST_WORDS, "special"), choice.word(&SECOND_WORDS, "requests"));
            values.push(("words", text(format!("%{first}%{second}%"))));
        }
        14 => values.extend(choice.months(month(1993, 1)..=month(1997, 12), month(1995, 9), 1)),
        15 => values.extend(choice.months(month(1993, 1)..=month(1997, 10), month(1996, 1), 3)),
        16 => {
            values.push(("brand", choice.brand(4, 5)));
            let (class, finish) = (choice.word(&CLASSES, "MEDIUM"), choice.word(&FINISHES, "POLISHED"));
            values.push(("type", text(format!("{class} {finish}%"))));
            let sizes = choice.several((1..=50).collect(), [49, 14, 23, 45, 19, 3, 36, 9]);
            let names = ["size_1", "size_2", "size_3", "size_4", "size_5", "size_6", "size_7", "size_8"];
            values.extend(names.into_iter().zip(sizes.map(ParameterValue::Integer)));
        }
        17 => {
            values.push(("brand", choice.brand(2, 3)));
            let (size, kind) = (choice.word(&CONTAINER_SIZES, "MED"), choice.word(&CONTAINERS, "BOX"));
            values.push(("container", text(format!("{size} {kind}"))));
        }
        18 => values.push(("pieces", hundredths(100 * choice.number(312..=315, 300)))),
        19 => {
            let least = [choice.number(1..=10, 1), choice.number(10..=20, 10), choice.number(20..=30, 20)];
            let most = least.map(|least| least + 10);
            values.extend(["least_1", "least_2", "least_3"].into_iter().zip(least.map(|of| hundredths(100 * of))));
            values.extend(["most_1", "most_2", "most_3"].into_iter().zip(most.map(|of| hundredths(100 * of))));
            values.extend([
                ("brand_1", choice.brand(1, 2)),
                ("brand_2", choice.brand(2, 3)),
                ("brand_3", choice.brand(3, 4)),
            ]);
        }
        20 => {
            values.push(("colour", text(format!("{}%", choice.word(colours(), "forest")))));
            values.extend(choice.year());
            values.push(("nation", text(choice.nation("CANADA"))));
        }
        21 => values.push(("nation", text(choice.nation("SAUDI ARABIA")))),
        _ => {
            let codes = choice.several((10..=34).collect(), [13, 31, 23, 29, 30, 18, 17]);
            let names = ["code_1", "code_2", "code_3", "code_4", "code_5", "code_6", "code_7"];
            values.extend(names.into_iter().zip(codes.map(|code: i64| text(code.to_string()))));
        }
    }
    values
}

fn days(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStream;

    fn shown(values: &ParameterValues) -> String {
        let cell = |(name, value): &(&str, ParameterValue)| format!("{name} {:?}", value.as_param());
        values.iter().map(cell).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn values_of_validation_are_those_of_the_definition() {
        let of = |question: u8| shown(&values(question, DataScale::of(1.0).unwrap(), &mut ParameterChoice::Validation));
        assert_eq!(of(1), "last Date(1998-09-02)");
        assert_eq!(of(4), "since Date(1993-07-01), before Date(1993-10-01)");
        assert_eq!(
            of(6),
            "since Date(1994-01-01), before Date(1995-01-01), lowest Decimal(0.05), highest Decimal(0.07), pieces \
             Decimal(24.00)"
        );
        assert_eq!(
            of(8),
            "nation Text(\"BRAZIL\"), region Text(\"AMERICA\"), type Text(\"ECONOMY ANODIZED STEEL\"), since \
             Date(1995-01-01), before Date(1997-01-01)"
        );
        assert_eq!(of(10), "since Date(1993-10-01), before Date(1994-01-01)");
        assert_eq!(of(11), "nation Text(\"GERMANY\"), parts_of_all Integer(10000)");
        assert_eq!(of(14), "since Date(1995-09-01), before Date(1995-10-01)");
        assert_eq!(of(15), "since Date(1996-01-01), before Date(1996-04-01)");
    }

    /// The values that a name gets in many draws.
    fn drawn(question: u8, name: &str) -> std::collections::BTreeSet<String> {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        let mut draw = || values(question, DataScale::of(1.0).unwrap(), &mut ParameterChoice::Drawn(&mut stream));
        let all = (0..3_000).flat_map(|_| draw());
        all.filter(|(found, _)| *found == name).map(|(_, value)| format!("{:?}", value.as_param())).collect()
    }

    #[test]
    fn draws_reach_both_ends_of_their_domains() {
        let ends = |question, name| {
            let values = drawn(question, name);
            let shown = |value: Option<&String>| value.cloned().unwrap_or_default();
            (values.len(), shown(values.first()), shown(values.last()))
        };
        let dates = |first: &str, last: &str| (format!("Date({first})"), format!("Date({last})"));
        for (question, name, count, (first, last)) in [
            (1, "last", 61, dates("1998-08-03", "1998-10-02")),
            (3, "day", 31, dates("1995-03-01", "1995-03-31")),
            (4, "since", 58, dates("1993-01-01", "1997-10-01")),
            (5, "before", 5, dates("1994-01-01", "1998-01-01")),
            (10, "since", 24, dates("1993-02-01", "1995-01-01")),
            (14, "before", 60, dates("1993-02-01", "1998-01-01")),
            (15, "since", 58, dates("1993-01-01", "1997-10-01")),
        ] {
            assert_eq!(ends(question, name), (count, first, last), "{question} {name}");
        }
        let counts = [(2, "size"), (8, "type"), (9, "colour"), (16, "size_8"), (17, "container"), (22, "code_7")];
        assert_eq!(counts.map(|(question, name)| drawn(question, name).len()), [50, 150, 92, 50, 40, 25]);
    }

    #[test]
    fn what_must_differ_does() {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        for _ in 0..500 {
            for (question, count) in [(7, 2), (12, 2), (16, 8), (22, 7)] {
                let values = values(question, DataScale::of(1.0).unwrap(), &mut ParameterChoice::Drawn(&mut stream));
                let named = ["nation", "other", "mode", "size", "code"];
                let found: std::collections::BTreeSet<_> = values
                    .iter()
                    .filter(|(name, _)| named.iter().any(|known| name.starts_with(known)))
                    .map(|(_, value)| format!("{value:?}"))
                    .collect();
                assert_eq!(found.len(), count, "{question}");
            }
        }
    }
}
