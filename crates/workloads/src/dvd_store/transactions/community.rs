//! What customers do beside searching and buying in version 3: they become members, read reviews, write and rate them.

use super::super::definition::{push_review_words, surname, title_word};
use super::super::inputs::{ByWord, CommunityPart, OfProduct, Rating, Review, ReviewChoice};
use super::super::rows::{SUMMARY_MAX, SUMMARY_WORDS, TEXT_MAX};
use super::super::statements::DvdStoreStatement;
use super::super::tally::DvdStoreWork;
use super::searches::word_query;
use super::{Visit, number, today, unexpected};
use crate::random::Letters;
use engines::session::{Param, ResultSet, Session, SessionError};

const NEW_TEXT_WORDS: u64 = 25;

impl<S: Session> Visit<'_, '_, S> {
    pub async fn become_member(&mut self, part: &CommunityPart, customer: i64) -> Result<(), SessionError> {
        let Some(level) = part.level else { return Ok(()) };
        if self.is_next() {
            self.effects.begin_step(DvdStoreWork::NewMember as u16);
            let params = [Param::Integer(customer), number(level), Param::Date(today())];
            self.ask(DvdStoreStatement::BecomeMember, &params).await?;
            self.effects.keep();
        }
        Ok(())
    }

    pub async fn take_part(&mut self, part: &CommunityPart, customer: i64) -> Result<(), SessionError> {
        for by in part.by_word.all() {
            if self.is_next() {
                self.search_reviews(*by, part.batch).await?;
                self.effects.keep();
            }
        }
        for reading in part.of_products.all() {
            if self.is_next() {
                self.read_reviews(*reading, part.batch).await?;
                self.effects.keep();
            }
        }
        if let Some(review) = &part.review
            && self.is_next()
        {
            self.write_review(review, customer).await?;
            self.effects.keep();
        }
        if let Some(rating) = &part.rating
            && self.is_next()
        {
            self.rate(*rating, customer).await?;
            self.effects.keep();
        }
        Ok(())
    }

    async fn search_reviews(&mut self, by: ByWord, batch: u32) -> Result<(), SessionError> {
        let (work, sql, text) = match by {
            ByWord::Surname(name) => (DvdStoreWork::ReviewsByActor, DvdStoreStatement::ReviewsByActor, surname(name)),
            ByWord::Title(word) => (DvdStoreWork::ReviewsByTitle, DvdStoreStatement::ReviewsByTitle, title_word(word)),
        };
        let query = word_query(self.session.dialect(), text);
        let depth = self.shop.settings.community().map_or(0, |community| community.search_depth);
        self.effects.begin_step(work as u16);
        let found = self.ask(sql, &[Param::Text(query.as_str()), number(depth), number(batch)]).await?;
        read(found, 7)
    }

    async fn read_reviews(&mut self, of: OfProduct, batch: u32) -> Result<(), SessionError> {
        let (product, batch) = (number(of.product), number(batch));
        self.effects.begin_step(DvdStoreWork::ProductReviews as u16);
        let found = match of.which {
            ReviewChoice::MostHelpful => self.ask(DvdStoreStatement::ProductReviews, &[product, batch]).await?,
            ReviewChoice::WithStars(stars) => {
                self.ask(DvdStoreStatement::ProductReviewsByStars, &[product, number(stars), batch]).await?
            }
            ReviewChoice::Newest => self.ask(DvdStoreStatement::ProductReviewsByDate, &[product, batch]).await?,
        };
        read(found, 5)
    }

    async fn write_review(&mut self, review: &Review, customer: i64) -> Result<(), SessionError> {
        let mut words = review.words.clone();
        let (mut summary, mut text) = (Letters::<SUMMARY_MAX>::default(), Letters::<TEXT_MAX>::default());
        push_review_words(&mut summary, &mut words, SUMMARY_WORDS);
        push_review_words(&mut text, &mut words, NEW_TEXT_WORDS);
        self.effects.begin_step(DvdStoreWork::NewReview as u16);
        let inserted = self
            .ask(
                DvdStoreStatement::InsertReview,
                &[
                    number(review.product),
                    Param::Date(today()),
                    number(review.stars),
                    Param::Integer(customer),
                    Param::Text(summary.as_str()),
                    Param::Text(text.as_str()),
                ],
            )
            .await?;
        require_one(DvdStoreStatement::InsertReview, inserted)
    }

    async fn rate(&mut self, rating: Rating, customer: i64) -> Result<(), SessionError> {
        self.effects.begin_step(DvdStoreWork::RateReview as u16);
        let params = [number(rating.review), Param::Integer(customer), number(rating.helpfulness)];
        require_one(DvdStoreStatement::InsertRating, self.ask(DvdStoreStatement::InsertRating, &params).await?)
    }
}

fn require_one(sql: DvdStoreStatement, answer: &ResultSet) -> Result<(), SessionError> {
    match answer.changed() {
        1 => Ok(()),
        changed => Err(unexpected(sql, format!("{changed} rows changed instead of 1"))),
    }
}

/// Reads the summaries, which are in this column, and the texts, which follow them.
fn read(reviews: &ResultSet, summary: usize) -> Result<(), SessionError> {
    for row in 0..reviews.rows() {
        reviews.text(row, summary)?;
        reviews.text(row, summary + 1)?;
    }
    Ok(())
}
