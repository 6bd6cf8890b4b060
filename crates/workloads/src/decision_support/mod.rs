//! What both workloads of decision support have in common: questions with parameters, and figures of their answers.

pub mod answers;
pub mod asked;
pub mod asking;
pub mod audit;
pub mod golden;
pub mod scale;
pub mod shapes;
pub mod texts;
pub mod values;
