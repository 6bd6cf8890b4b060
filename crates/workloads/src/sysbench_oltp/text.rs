//! The texts of the rows, in buffers of fixed length.

use crate::random::{Letters, RandomStream};

pub const C_LENGTH: usize = 119;
pub const PAD_LENGTH: usize = 59;

/// Texts of 0.4.8: column c until it is updated, column pad when loaded, and column pad when inserted again.
pub const C_BLANK: &str = " ";
pub const PAD_LOADED: &str = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee";
pub const PAD_AGAIN: &str = "ffffffffffgggggggggghhhhhhhhhhiiiiiiiiiijjjjjjjjjj";

/// Digits of a group.
const GROUP: usize = 11;
/// Numbers in a text of 0.4.8, each below 2^30.
const NUMBERS: u32 = 10;
const NUMBER_BITS: u32 = 30;

/// Groups of eleven random digits with dashes between them.
pub fn digit_groups<const LENGTH: usize>(stream: &mut RandomStream) -> Letters<LENGTH> {
    let mut text = [0; LENGTH];
    stream.digits(&mut text);
    for dash in text.iter_mut().skip(GROUP).step_by(GROUP + 1) {
        *dash = b'-';
    }
    let mut letters = Letters::default();
    letters.push(&text);
    letters
}

/// Ten random numbers with dashes between them, cut where the column ends.
pub fn joined_numbers(stream: &mut RandomStream) -> Letters<C_LENGTH> {
    let mut letters = Letters::default();
    for place in 0..NUMBERS {
        let dash = if place == 0 { "" } else { "-" };
        // Ten numbers of at most ten digits and nine dashes always fit.
        write!(letters, "{dash}{}", stream.below(1 << NUMBER_BITS));
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_eleven_digits() {
        let mut stream = RandomStream::new(42, "text", [0, 0]);
        let (c, pad) = (digit_groups::<C_LENGTH>(&mut stream), digit_groups::<PAD_LENGTH>(&mut stream));
        for (text, groups) in [(c.as_str(), 10), (pad.as_str(), 5)] {
            let found: Vec<&str> = text.split('-').collect();
            assert_eq!(found.len(), groups, "{text}");
            let is_group = |group: &&str| group.len() == GROUP && group.bytes().all(|digit| digit.is_ascii_digit());
            assert!(found.iter().all(is_group), "{text}");
        }
        assert_ne!(c.as_str(), digit_groups::<C_LENGTH>(&mut stream).as_str());
    }

    #[test]
    fn numbers_are_ten_and_below_two_to_the_thirtieth() {
        let mut stream = RandomStream::new(42, "text", [0, 1]);
        for _ in 0..100 {
            let text = joined_numbers(&mut stream);
            let numbers: Vec<u64> = text.as_str().split('-').map(|number| number.parse().unwrap()).collect();
            assert!(numbers.len() == 10 && numbers.iter().all(|&number| number < 1 << 30), "{numbers:?}");
        }
    }

    #[test]
    fn constant_texts_have_fifty_letters() {
        assert_eq!((PAD_LOADED.len(), PAD_AGAIN.len()), (50, 50));
    }
}
