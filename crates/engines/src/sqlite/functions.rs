//! The aggregate function of SQL that SQLite lacks.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// Adds `stddev_samp`, the standard deviation of a sample, to a connection.
pub(super) fn add(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("stddev_samp", 1, flags, StandardDeviation)
}

struct StandardDeviation;

/// What is known of the values so far.
#[derive(Debug, Default)]
struct KnownValues {
    count: f64,
    mean: f64,
    /// The sum of the squares of their distances from the mean.
    squares: f64,
}

impl Aggregate<KnownValues, Option<f64>> for StandardDeviation {
    fn init(&self, _: &mut Context<'_>) -> Result<KnownValues> {
        Ok(KnownValues::default())
    }

    /// Welford's method, which loses no digits if the values differ little.
    fn step(&self, context: &mut Context<'_>, values: &mut KnownValues) -> Result<()> {
        if let Some(value) = context.get::<Option<f64>>(0)? {
            let distance = value - values.mean;
            values.count += 1.0;
            values.mean += distance / values.count;
            values.squares += distance * (value - values.mean);
        }
        Ok(())
    }

    /// One value has no deviation.
    fn finalize(&self, _: &mut Context<'_>, values: Option<KnownValues>) -> Result<Option<f64>> {
        let values = values.unwrap_or_default();
        Ok((values.count > 1.0).then(|| (values.squares / (values.count - 1.0)).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_is_that_of_a_sample() {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        let of = |values: &str| {
            let sql = format!("SELECT stddev_samp(column1) FROM (VALUES {values})");
            connection.query_row(&sql, [], |row| row.get::<_, Option<f64>>(0)).unwrap()
        };
        assert_eq!(of("(2), (4), (4), (4), (5), (5), (7), (9), (NULL)"), Some((32.0_f64 / 7.0).sqrt()));
        assert_eq!((of("(3)"), of("(NULL)")), (None, None));
    }
}
