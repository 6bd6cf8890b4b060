//! Questions 51 to 99.

mod golden;
mod parameters;
mod shapes;

use engines::statement::ByDialect;

pub use golden::golden;
pub use parameters::values;
pub use shapes::STATEMENTS;

pub const SHARED: &str = concat!(
    include_str!("../../sql/questions/q51.sql"),
    include_str!("../../sql/questions/q52.sql"),
    include_str!("../../sql/questions/q53.sql"),
    include_str!("../../sql/questions/q54.sql"),
    include_str!("../../sql/questions/q55.sql"),
    include_str!("../../sql/questions/q56.sql"),
    include_str!("../../sql/questions/q57.sql"),
    include_str!("../../sql/questions/q58.sql"),
    include_str!("../../sql/questions/q59.sql"),
    include_str!("../../sql/questions/q60.sql"),
    include_str!("../../sql/questions/q61.sql"),
    include_str!("../../sql/questions/q62.sql"),
    include_str!("../../sql/questions/q63.sql"),
    include_str!("../../sql/questions/q64.sql"),
    include_str!("../../sql/questions/q65.sql"),
    include_str!("../../sql/questions/q66.sql"),
    include_str!("../../sql/questions/q67.sql"),
    include_str!("../../sql/questions/q68.sql"),
    include_str!("../../sql/questions/q69.sql"),
    include_str!("../../sql/questions/q70.sql"),
    include_str!("../../sql/questions/q71.sql"),
    include_str!("../../sql/questions/q72.sql"),
    include_str!("../../sql/questions/q73.sql"),
    include_str!("../../sql/questions/q74.sql"),
    include_str!("../../sql/questions/q75.sql"),
    include_str!("../../sql/questions/q76.sql"),
    include_str!("../../sql/questions/q77.sql"),
    include_str!("../../sql/questions/q78.sql"),
    include_str!("../../sql/questions/q79.sql"),
    include_str!("../../sql/questions/q80.sql"),
    include_str!("../../sql/questions/q81.sql"),
    include_str!("../../sql/questions/q82.sql"),
    include_str!("../../sql/questions/q83.sql"),
    include_str!("../../sql/questions/q84.sql"),
    include_str!("../../sql/questions/q85.sql"),
    include_str!("../../sql/questions/q86.sql"),
    include_str!("../../sql/questions/q87.sql"),
    include_str!("../../sql/questions/q88.sql"),
    include_str!("../../sql/questions/q89.sql"),
    include_str!("../../sql/questions/q90.sql"),
    include_str!("../../sql/questions/q91.sql"),
    include_str!("../../sql/questions/q92.sql"),
    include_str!("../../sql/questions/q93.sql"),
    include_str!("../../sql/questions/q94.sql"),
    include_str!("../../sql/questions/q95.sql"),
    include_str!("../../sql/questions/q96.sql"),
    include_str!("../../sql/questions/q97.sql"),
    include_str!("../../sql/questions/q98.sql"),
    include_str!("../../sql/questions/q99.sql"),
);

pub const DIFFERENT: ByDialect<&str> =
    ByDialect { sqlite: include_str!("../../sql/questions/q67.sqlite.sql"), postgres: "", mysql: "" };
