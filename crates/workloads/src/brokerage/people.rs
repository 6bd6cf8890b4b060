//! A person's names and tax id, which follow from an id alone. Not every person is a customer.

use super::ids;
use super::words::{self, below};
use crate::random::{Letters, RandomStream};

pub const FIRST_NAME_MAX: usize = 20;
pub const LAST_NAME_MAX: usize = 25;
/// Both names with a blank between them.
pub const FULL_NAME_MAX: usize = 46;
pub const TAX_ID_MAX: usize = 14;
const FEMALE_PERCENT: u64 = 51;
/// Brokers are other persons than the customers of the same numbers.
const BROKERS_FROM: i64 = 1_000_000;

#[derive(Debug, Clone, Copy)]
pub struct Person {
    pub first_name: Letters<FIRST_NAME_MAX>,
    pub last_name: Letters<LAST_NAME_MAX>,
    /// A letter.
    pub middle_name: Letters<1>,
    pub is_female: bool,
    /// Three digits, two capitals, four digits, two capitals, three digits.
    pub tax_id: Letters<TAX_ID_MAX>,
}

impl Person {
    pub fn new(seed: u64, id: i64) -> Self {
        let mut stream = RandomStream::new(seed, "person", halves(id.cast_unsigned()));
        let mut first_name = Letters::default();
        let is_female = stream.below(100) < FEMALE_PERCENT;
        if is_female {
            words::push_female_name(&mut first_name, below(&mut stream, words::FEMALE_NAMES));
        } else {
            words::push_male_name(&mut first_name, below(&mut stream, words::MALE_NAMES));
        }
        let mut last_name = Letters::default();
        words::push_surname(&mut last_name, below(&mut stream, words::SURNAMES));
        let mut letter = [0];
        stream.capitals(&mut letter);
        let mut middle_name = Letters::default();
        middle_name.push(&letter);
        Self { first_name, last_name, middle_name, is_female, tax_id: tax_id(&mut stream) }
    }

    pub fn of_broker(seed: u64, broker: u32) -> Self {
        Self::new(seed, ids::id(broker) + BROKERS_FROM)
    }

    /// As a broker and the executor of a trade are named.
    pub fn full_name(&self) -> Letters<FULL_NAME_MAX> {
        let mut name = Letters::default();
        for part in [self.first_name.as_str(), " ", self.last_name.as_str()] {
            name.push(part.as_bytes());
        }
        name
    }
}

/// A number as two keys of a stream.
fn halves(number: u64) -> [u32; 2] {
    [number, number >> u32::BITS].map(|half| u32::try_from(half & u64::from(u32::MAX)).unwrap_or(0))
}

fn tax_id(stream: &mut RandomStream) -> Letters<TAX_ID_MAX> {
    let mut text = [0; TAX_ID_MAX];
    stream.digits(&mut text[..3]);
    stream.capitals(&mut text[3..5]);
    stream.digits(&mut text[5..9]);
    stream.capitals(&mut text[9..11]);
    stream.digits(&mut text[11..]);
    let mut letters = Letters::default();
    letters.push(&text);
    letters
}
