//! Several machines of equal shape side by side: what each did, seen together.

pub mod side_by_side;

pub use side_by_side::{SideBySide, of};
