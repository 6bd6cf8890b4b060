//! What is asked.

use super::shapes::Shape;
use engines::statement::Dialect;

/// A statement of a question, with its values.
#[derive(Debug)]
pub struct Asked {
    pub name: &'static str,
    pub text: String,
    pub shape: &'static Shape,
    pub dialect: Dialect,
}
