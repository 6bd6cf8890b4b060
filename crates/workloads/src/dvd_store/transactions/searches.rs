//! Searches for products. What they return is read and dropped.

use super::super::definition::{WordPair, actor, title};
use super::super::inputs::{By, Search};
use super::super::statements::DvdStoreStatement;
use super::super::tally::{DvdStoreCounter, DvdStoreWork};
use super::{Visit, number};
use crate::random::Letters;
use engines::session::{Param, Session, SessionError};
use engines::statement::Dialect;

/// Room for a pair of words with a sign or quotes around each.
const QUERY_MAX: usize = 60;

impl<S: Session> Visit<'_, '_, S> {
    pub async fn search(&mut self, search: &Search) -> Result<(), SessionError> {
        let dialect = self.session.dialect();
        let (work, sql, counter) = match search.by {
            By::Category(_) => {
                (DvdStoreWork::BrowseCategory, DvdStoreStatement::BrowseCategory, DvdStoreCounter::MatchesByCategory)
            }
            By::Actor(..) => {
                (DvdStoreWork::BrowseActor, DvdStoreStatement::BrowseActor, DvdStoreCounter::MatchesByActor)
            }
            By::Title(..) => {
                (DvdStoreWork::BrowseTitle, DvdStoreStatement::BrowseTitle, DvdStoreCounter::MatchesByTitle)
            }
        };
        let words = match search.by {
            By::Category(_) => Letters::default(),
            By::Actor(first, last) => query(dialect, &actor(first, last)),
            By::Title(first, second) => query(dialect, &title(first, second)),
        };
        let what = match search.by {
            By::Category(category) => number(category),
            By::Actor(..) | By::Title(..) => Param::Text(words.as_str()),
        };
        self.effects.begin_step(work as u16);
        let found = self.ask(sql, &[what, number(search.batch)]).await?;
        for row in 0..found.rows() {
            found.integer(row, 0)?;
            found.text(row, 2)?;
            found.text(row, 3)?;
            found.decimal(row, 4)?;
        }
        let has_matches = found.rows() > 0;
        self.effects.tally.add(counter as usize, has_matches.into());
        Ok(())
    }
}

/// Asks for all of the words, in any order, in the dialect's language for that.
pub fn query<const LIMIT: usize>(dialect: Dialect, words: &Letters<LIMIT>) -> Letters<QUERY_MAX> {
    let (before, after): (&[u8], &[u8]) = match dialect {
        Dialect::Sqlite => (b"\"", b"\""),
        Dialect::Postgres => (b"", b""),
        Dialect::Mysql => (b"+", b""),
    };
    let mut query = Letters::default();
    for (place, word) in words.as_str().split(' ').enumerate() {
        query.push(if place == 0 { b"" } else { b" " });
        for part in [before, word.as_bytes(), after] {
            query.push(part);
        }
    }
    query
}

/// One word alone.
pub fn word_query(dialect: Dialect, word: &str) -> Letters<QUERY_MAX> {
    let mut words = WordPair::default();
    words.push(word.as_bytes());
    query(dialect, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_is_asked_for_both_words() {
        let words = title(0, 1);
        let of = |dialect| query(dialect, &words).as_str().to_owned();
        assert_eq!(of(Dialect::Sqlite), "\"ACORN\" \"ACROBAT\"");
        assert_eq!(of(Dialect::Postgres), "ACORN ACROBAT");
        assert_eq!(of(Dialect::Mysql), "+ACORN +ACROBAT");
        assert_eq!(word_query(Dialect::Mysql, "ACORN").as_str(), "+ACORN");
    }
}
