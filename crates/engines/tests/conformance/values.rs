//! Promises about decimals, dates and the generated ids of new rows.

use crate::ground::{Engine, Ground, done};
use engines::rows::RowSink;
use engines::session::{Date, Decimal, Param, Session, SessionError};
use engines::statement::StatementId;

const FIRST: StatementId = StatementId(0);
const SECOND: StatementId = StatementId(1);

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn decimal(units: i128, scale: u8) -> Param<'static> {
    Param::Decimal(Decimal::new(units, scale))
}

pub fn decimals_and_dates_come_back_as_they_went<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE priced (id BIGINT PRIMARY KEY, price DECIMAL(17, 2), rate DECIMAL(6, 6), whole DECIMAL(18, 0), day DATE)");
    let mut session = ground.session(&[
        ("insert", "INSERT INTO priced (id, price, rate, whole, day) VALUES ($1, $2, $3, $4, $5)"),
        ("select", "SELECT id, price, rate, whole, day FROM priced WHERE price = $1 AND day = $2"),
    ]);
    let rows = [
        [decimal(1250, 2), decimal(-1, 6), decimal(7, 0), Param::Date(day("1998-12-01"))],
        [decimal(-99_999_999_999_999_999, 2), decimal(999_999, 6), decimal(-7, 0), Param::Date(day("0001-01-01"))],
        [decimal(99_999_999_999_999_999, 2), decimal(0, 6), decimal(0, 0), Param::Date(day("9999-12-31"))],
        [decimal(0, 2), Param::Null, Param::Null, Param::Date(day("1969-12-31"))],
    ];
    for (id, [price, rate, whole, day]) in (1..).zip(rows) {
        done(&mut session, async |s| {
            assert_eq!(s.execute(FIRST, &[Param::Integer(id), price, rate, whole, day]).await?.changed(), 1);
            let found = s.execute(SECOND, &[price, day]).await?;
            assert_eq!((found.rows(), found.integer(0, 0)?), (1, id));
            for (column, value) in (1..).zip([price, rate, whole, day]) {
                assert_eq!(found.value(0, column), Some(value));
            }
            assert_eq!(found.decimal(0, 1)?.scale(), 2);
            if !found.is_null(0, 2) {
                assert_eq!(
                    (found.decimal(0, 2)?.scale(), found.decimal(0, 3)?.units()),
                    (6, found.integer(0, 3)?.into())
                );
            }
            assert!(found.integer(0, 1).is_err() && found.date(0, 1).is_err() && found.decimal(0, 4).is_err());
            Ok(())
        })
        .unwrap();
    }
    let mut nulls =
        ground.session(&[("nulls", "INSERT INTO priced (id, price, rate, whole, day) VALUES ($1, $2, $3, $4, $5)")]);
    let none = [Param::Integer(9), Param::Null, Param::Null, Param::Null, Param::Null];
    done(&mut nulls, async |s| s.execute(FIRST, &none).await.map(|_| ())).unwrap();
    assert_eq!(ground.number("SELECT count(*) FROM priced WHERE price IS NULL AND day IS NULL"), 1);
}

/// A sum of up to 64 bits is exact everywhere. A larger one is exact on engines with decimals, and refused on others.
pub fn sums_are_exact_or_refused<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE revenue (price DECIMAL(17, 2), discount DECIMAL(4, 2), tax DECIMAL(4, 2))");
    let mut session = ground.session(&[("insert", "INSERT INTO revenue VALUES ($1, $2, $3)"), ("sum", E::REVENUE)]);
    // In units of 10⁻⁶, each product of the first rows fits 64 bits. Their sum does not, and neither does the last product.
    let rows: [[i128; 3]; 4] = [
        [819_999_999_999_999, 3, 7],
        [819_999_999_999_998, 4, 8],
        [819_999_999_999_997, 0, 8],
        [9_999_999_999_999_999, 0, 8],
    ];
    let mut sum = 0;
    for (count, [price, discount, tax]) in (1..).zip(rows) {
        sum += price * (100 - discount) * (100 + tax);
        let found = done(&mut session, async |s| {
            s.execute(FIRST, &[decimal(price, 2), decimal(discount, 2), decimal(tax, 2)]).await?;
            s.execute(SECOND, &[]).await?.decimal(0, 0)
        });
        match found {
            Ok(found) => assert_eq!(found, Decimal::new(sum, 6)),
            Err(error) => {
                assert!(count > 1 && E::KIND == "sqlite", "{error}");
                assert!(matches!(error, SessionError::Refused { .. } | SessionError::Unexpected { .. }), "{error:?}");
            }
        }
    }
    assert!(sum > 2 * i128::from(i64::MAX));
}

pub fn decimals_and_dates_are_loaded<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE delivered (id BIGINT, price DECIMAL(12, 2), day DATE)");
    let mut fill = |sink: &mut dyn RowSink| {
        for id in 0..100 {
            sink.integer(id);
            match id % 3 {
                0 => sink.null(),
                1 => sink.decimal(Decimal::new(i128::from(id) - 50, 1)),
                _ => sink.decimal(Decimal::new(i128::from(id) - 50, 2)),
            }
            match Date::from_days(i32::try_from(id).unwrap() * 30_000 - 719_000) {
                Some(day) => sink.date(day),
                None => sink.null(),
            }
            sink.end_row();
        }
        false
    };
    let columns = ["id", "price", "day"];
    assert_eq!(ground.admin().load("delivered", &columns, &mut fill).unwrap(), 100);
    let mut next = 0;
    let mut admin = ground.admin();
    admin
        .scan("SELECT id, price, day FROM delivered ORDER BY id", &mut |found, row| {
            let price = match next % 3 {
                0 => Param::Null,
                1 => decimal(i128::from(next) - 50, 1),
                _ => decimal(i128::from(next) - 50, 2),
            };
            let day = Date::from_days(i32::try_from(next).unwrap() * 30_000 - 719_000);
            assert_eq!(found.integer(row, 0).unwrap(), next);
            assert_eq!(found.value(row, 1), Some(price));
            assert_eq!(found.value(row, 2), Some(day.map_or(Param::Null, Param::Date)));
            next += 1;
        })
        .unwrap();
    assert_eq!(next, 100);
    let too_many_digits = |sink: &mut dyn RowSink| {
        sink.integer(1);
        sink.decimal(Decimal::new(1_000_000_000_000, 2));
        sink.date(day("2026-11-21"));
        sink.end_row();
        false
    };
    if E::KIND != "sqlite" {
        let error = admin.load("delivered", &columns, &mut { too_many_digits }).unwrap_err();
        assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
        return;
    }
    // SQLite does not enforce a column's digits. So a value that would lose some is refused before it gets there.
    for (column, value) in
        [("price", Decimal::new(1, 3)), ("price", Decimal::new(1 << 63, 2)), ("id", Decimal::new(1, 0))]
    {
        let one = |sink: &mut dyn RowSink| {
            sink.decimal(value);
            sink.end_row();
            false
        };
        let error = admin.load("delivered", &[column], &mut { one }).unwrap_err();
        assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
        assert!(error.to_string().contains(&value.to_string()), "{error}");
    }
    assert_eq!(ground.number("SELECT count(*) FROM delivered"), 100);
}

pub fn the_number_of_a_new_row_is_told<E: Engine>(ground: &Ground<E>) {
    ground.script(&format!("CREATE TABLE numbered (id {}, words VARCHAR(10))", E::NUMBERED));
    let mut session = ground.session(&[
        ("returning", "INSERT INTO numbered (words) VALUES ($1) RETURNING id"),
        ("insert", "INSERT INTO numbered (words) VALUES ($1)"),
        ("select", "SELECT id FROM numbered"),
    ]);
    let words = [Param::Text("new")];
    done(&mut session, async |s| {
        assert_eq!(s.execute(FIRST, &words).await?.integer(0, 0)?, 1);
        let by_answer = [
            s.execute(SECOND, &words).await?.inserted_id(),
            s.execute_text("text", "INSERT INTO numbered (words) VALUES ('a'), ('b')").await?.inserted_id(),
        ];
        if E::KIND == "mariadb" {
            assert_eq!(by_answer.map(Result::unwrap), [2, 3]);
        } else {
            assert!(by_answer.iter().all(Result::is_err));
        }
        assert!(s.execute(StatementId(2), &[]).await?.inserted_id().is_err());
        Ok(())
    })
    .unwrap();
}
