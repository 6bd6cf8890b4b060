//! Questions 1 to 50.

mod golden;
mod parameters;
mod shapes;

use engines::statement::ByDialect;

pub use golden::golden;
pub use parameters::values;
pub use shapes::STATEMENTS;

pub const LAST: u8 = 50;

pub const SHARED: &str = concat!(
    include_str!("../../sql/questions/q01.sql"),
    include_str!("../../sql/questions/q02.sql"),
    include_str!("../../sql/questions/q03.sql"),
    include_str!("../../sql/questions/q04.sql"),
    include_str!("../../sql/questions/q05.sql"),
    include_str!("../../sql/questions/q06.sql"),
    include_str!("../../sql/questions/q07.sql"),
    include_str!("../../sql/questions/q08.sql"),
    include_str!("../../sql/questions/q09.sql"),
    include_str!("../../sql/questions/q10.sql"),
    include_str!("../../sql/questions/q11.sql"),
    include_str!("../../sql/questions/q12.sql"),
    include_str!("../../sql/questions/q13.sql"),
    include_str!("../../sql/questions/q14.sql"),
    include_str!("../../sql/questions/q15.sql"),
    include_str!("../../sql/questions/q16.sql"),
    include_str!("../../sql/questions/q17.sql"),
    include_str!("../../sql/questions/q18.sql"),
    include_str!("../../sql/questions/q19.sql"),
    include_str!("../../sql/questions/q20.sql"),
    include_str!("../../sql/questions/q21.sql"),
    include_str!("../../sql/questions/q22.sql"),
    include_str!("../../sql/questions/q23.sql"),
    include_str!("../../sql/questions/q24.sql"),
    include_str!("../../sql/questions/q25.sql"),
    include_str!("../../sql/questions/q26.sql"),
    include_str!("../../sql/questions/q27.sql"),
    include_str!("../../sql/questions/q28.sql"),
    include_str!("../../sql/questions/q29.sql"),
    include_str!("../../sql/questions/q30.sql"),
    include_str!("../../sql/questions/q31.sql"),
    include_str!("../../sql/questions/q32.sql"),
    include_str!("../../sql/questions/q33.sql"),
    include_str!("../../sql/questions/q34.sql"),
    include_str!("../../sql/questions/q35.sql"),
    include_str!("../../sql/questions/q36.sql"),
    include_str!("../../sql/questions/q37.sql"),
    include_str!("../../sql/questions/q38.sql"),
    include_str!("../../sql/questions/q39.sql"),
    include_str!("../../sql/questions/q40.sql"),
    include_str!("../../sql/questions/q41.sql"),
    include_str!("../../sql/questions/q42.sql"),
    include_str!("../../sql/questions/q43.sql"),
    include_str!("../../sql/questions/q44.sql"),
    include_str!("../../sql/questions/q45.sql"),
    include_str!("../../sql/questions/q46.sql"),
    include_str!("../../sql/questions/q47.sql"),
    include_str!("../../sql/questions/q48.sql"),
    include_str!("../../sql/questions/q49.sql"),
    include_str!("../../sql/questions/q50.sql"),
);

pub const DIFFERENT: ByDialect<&str> = ByDialect { sqlite: "", postgres: "", mysql: "" };
