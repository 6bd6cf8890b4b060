//! Names that mean nothing, composed from syllables. No two numbers of a list give the same name.

use crate::random::{Letters, RandomStream};

pub const SURNAMES: u32 = 65_000;
pub const FEMALE_NAMES: u32 = 4_275;
pub const MALE_NAMES: u32 = 1_220;
pub const STREETS: u32 = 1_000;
pub const TOWNS: u32 = 10_000;

const COUNT: u32 = 50;
const SYLLABLES: [&str; COUNT as usize] = [
    "ba", "be", "bi", "bo", "da", "de", "di", "do", "fa", "fe", "fi", "ga", "ge", "ha", "he", "ho", "ja", "jo", "ka",
    "ke", "ki", "ko", "la", "le", "li", "lo", "lu", "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "pa", "pe", "ra",
    "re", "ri", "ro", "sa", "se", "si", "so", "ta", "te", "ti", "va", "ve",
];
const SURNAME_ENDINGS: [&str; 8] = ["n", "r", "s", "sen", "t", "l", "man", "rd"];
const MALE_ENDINGS: [&str; 4] = ["n", "r", "s", "l"];
const TOWN_ENDINGS: [&str; 5] = ["ton", "ville", "field", " City", "ford"];
const STREET_SUFFIXES: [&str; 17] = [
    "Street", "Avenue", "Road", "Lane", "Drive", "Court", "Place", "Way", "Terrace", "Circle", "Square", "Trail",
    "Row", "Path", "Walk", "Alley", "Crescent",
];

/// Draws below a count that fits.
pub fn below(stream: &mut RandomStream, count: u32) -> u32 {
    u32::try_from(stream.below(count.into())).unwrap_or(0)
}

/// Draws one of a list.
pub fn one_of<T: Copy>(stream: &mut RandomStream, list: &[T]) -> T {
    list[usize::try_from(stream.below(list.len() as u64)).unwrap_or(0)]
}

/// Appends so many syllables, the first in a capital letter.
fn push_syllables<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32, syllables: u32) {
    for place in (0..syllables).rev() {
        let syllable = SYLLABLES[(number / COUNT.pow(place) % COUNT) as usize].as_bytes();
        if place + 1 == syllables {
            text.push(&[syllable[0].to_ascii_uppercase(), syllable[1]]);
        } else {
            text.push(syllable);
        }
    }
}

fn ending(list: &[&'static str], number: u32) -> &'static [u8] {
    list[number as usize % list.len()].as_bytes()
}

pub fn push_surname<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32) {
    push_syllables(text, number, 3);
    text.push(ending(&SURNAME_ENDINGS, number));
}

pub fn push_female_name<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32) {
    push_syllables(text, number, 3);
}

pub fn push_male_name<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32) {
    push_syllables(text, number, 2);
    text.push(ending(&MALE_ENDINGS, number));
}

pub fn push_street<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32, stream: &mut RandomStream) {
    push_syllables(text, number, 2);
    text.push(b" ");
    text.push(one_of(stream, &STREET_SUFFIXES).as_bytes());
}

pub fn push_town<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32) {
    push_syllables(text, number, 3);
    text.push(ending(&TOWN_ENDINGS, number));
}

/// The word that a company is called by.
pub fn push_brand<const LIMIT: usize>(text: &mut Letters<LIMIT>, number: u32) {
    push_syllables(text, number, 3);
    text.push(b"x");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_numbers_give_the_same_name() {
        let of = |count: u32, push: fn(&mut Letters<30>, u32)| {
            let name = |number| {
                let mut text = Letters::<30>::default();
                push(&mut text, number);
                text.as_str().to_owned()
            };
            (0..count).map(name).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(of(SURNAMES, push_surname), 65_000);
        assert_eq!(of(FEMALE_NAMES, push_female_name), 4_275);
        assert_eq!(of(MALE_NAMES, push_male_name), 1_220);
        assert_eq!(SYLLABLES.iter().collect::<BTreeSet<_>>().len(), SYLLABLES.len());
        assert!(SYLLABLES.iter().all(|syllable| syllable.len() == 2));
    }
}
