//! Orders to a disk over its socket, one line each, and its answers.

use crate::entry::{DiskOrders, MOST_MARK_BYTES};
use std::fmt;

/// With longer delays a kernel takes a disk for one that hangs.
const MOST_DELAY_US: u64 = 60_000_000;

/// The longest line that is read from a socket.
pub(crate) const MOST_LINE_BYTES: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    Mark(String),
    Position,
    Obey(DiskOrders),
    Quit,
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark(text) => write!(formatter, "mark {text}"),
            Self::Position => formatter.write_str("position"),
            Self::Obey(order @ DiskOrders::DelayUs(delay)) => write!(formatter, "{} {delay}", order.word()),
            Self::Obey(order) => formatter.write_str(order.word()),
            Self::Quit => formatter.write_str("quit"),
        }
    }
}

impl Order {
    pub fn parse(line: &str) -> Result<Self, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !matches!(word, "mark" | "delay-us") && !rest.is_empty() {
            return Err(format!("`{word}` takes nothing, and `{rest}` follows it"));
        }
        Ok(match word {
            "mark" if rest.len() > MOST_MARK_BYTES as usize => {
                return Err(format!("a mark has at most {MOST_MARK_BYTES} bytes, and this has {}", rest.len()));
            }
            "mark" => Self::Mark(rest.to_owned()),
            "delay-us" => match rest.parse() {
                Ok(delay) if delay <= MOST_DELAY_US => Self::Obey(DiskOrders::DelayUs(delay)),
                _ => return Err(format!("`{rest}` is not a number of at most {MOST_DELAY_US} microseconds")),
            },
            "position" => Self::Position,
            "quit" => Self::Quit,
            _ => Self::Obey(DiskOrders::named(word).ok_or_else(|| format!("a disk does not know `{word}`"))?),
        })
    }
}

/// The answer to an order: how many entries the log has now, or why it was not carried out.
pub(crate) fn answer_line(answer: &Result<u64, String>) -> String {
    match answer {
        Ok(position) => format!("ok {position}\n"),
        Err(why) => format!("error {}\n", why.replace('\n', " ")),
    }
}

/// `None` if no disk answers like this.
pub(crate) fn parse_answer(line: &str) -> Option<Result<u64, String>> {
    match line.split_once(' ')? {
        ("ok", position) => position.parse().ok().map(Ok),
        ("error", why) => Some(Err(why.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_back_from_their_lines() {
        let all = [
            Order::Mark("client 3, transaction 17".to_owned()),
            Order::Mark(String::new()),
            Order::Position,
            Order::Quit,
        ];
        let obeyed = [
            DiskOrders::Stall,
            DiskOrders::Go,
            DiskOrders::Freeze,
            DiskOrders::Thaw,
            DiskOrders::DelayUs(2000),
            DiskOrders::Lie,
            DiskOrders::Honest,
        ];
        for order in all.into_iter().chain(obeyed.map(Order::Obey)) {
            assert_eq!(Order::parse(&order.to_string()), Ok(order));
        }
    }

    #[test]
    fn unknown_lines_are_refused() {
        assert_eq!(Order::parse("jump"), Err("a disk does not know `jump`".to_owned()));
        assert_eq!(Order::parse("stall 3"), Err("`stall` takes nothing, and `3` follows it".to_owned()));
        assert_eq!(
            Order::parse("delay-us -1"),
            Err("`-1` is not a number of at most 60000000 microseconds".to_owned())
        );
        let long = format!("mark {}", "x".repeat(513));
        assert_eq!(Order::parse(&long), Err("a mark has at most 512 bytes, and this has 513".to_owned()));
    }

    #[test]
    fn answers_come_back_from_their_lines() {
        for answer in [Ok(7), Err("the log is full".to_owned())] {
            assert_eq!(parse_answer(answer_line(&answer).trim_end()), Some(answer));
        }
        assert_eq!(parse_answer("perhaps 7"), None);
        assert_eq!(parse_answer("ok seven"), None);
    }
}
