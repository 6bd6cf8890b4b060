//! The common part of both workloads of decision support: streams of questions with parameters, and figures of their answers.

pub mod answers;
pub mod asking;
mod golden;
pub mod questions;
pub mod scale;
pub mod shapes;
pub mod streams;
pub mod texts;
pub mod values;

pub use golden::{Golden, SCALES};
