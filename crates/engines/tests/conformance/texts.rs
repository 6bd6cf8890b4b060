//! Promises about statements that are not prepared, and about the literals in them.

use crate::ground::{Engine, Ground, done};
use engines::session::{Access, Date, Decimal, Param, Session, SessionError};
use engines::statement::{Dialect, StatementId};
use engines::template::{LiteralError, RenderError, Template};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const FIRST: StatementId = StatementId(0);

pub fn a_text_returns_what_a_prepared_statement_does<E: Engine>(ground: &Ground<E>) {
    ground.script(
        "CREATE TABLE mixed (id BIGINT, small SMALLINT, price DECIMAL(12, 2), day DATE, words VARCHAR(40), weight DOUBLE PRECISION);
         INSERT INTO mixed VALUES (-9223372036854775808, 7, NULL, '2026-11-21', 'žluťoučký 🐎', 0.5);
         INSERT INTO mixed VALUES (9223372036854775807, NULL, 1250, NULL, '', -1000000);
         INSERT INTO mixed VALUES (NULL, -7, -5, '0001-01-01', NULL, NULL)",
    );
    for sql in [
        "SELECT id, small, price, day, words, weight FROM mixed ORDER BY small",
        "SELECT count(*), sum(small), min(price), max(day), id IS NULL FROM mixed GROUP BY id ORDER BY id",
        "SELECT id FROM mixed WHERE id = 5",
    ] {
        let mut session = ground.session(&[("prepared", sql)]);
        let values = |found: &engines::session::ResultSet| {
            let cells = (0..found.rows()).flat_map(|row| (0..found.columns()).map(move |column| (row, column)));
            cells.map(|(row, column)| format!("{:?}", found.value(row, column).unwrap())).collect::<Vec<_>>()
        };
        done(&mut session, async |s| {
            let prepared = values(s.execute(FIRST, &[]).await?);
            let text = s.execute_text("text", sql).await?;
            assert_eq!((values(text), text.changed()), (prepared, 0), "{sql}");
            Ok(())
        })
        .unwrap();
    }
}

/// Anything after the first statement could be injected SQL, so it is refused.
pub fn a_text_is_one_statement<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE lonely (id BIGINT); INSERT INTO lonely VALUES (1)");
    let mut session = ground.session(&[]);
    done(&mut session, async |s| {
        for sql in
            ["SELECT id FROM lonely; DELETE FROM lonely", "DELETE FROM lonely; SELECT 1", "SELECT nothing FROM nowhere"]
        {
            let error = s.execute_text("slipped", sql).await.map(|_| ()).unwrap_err();
            assert!(matches!(error, SessionError::Refused { .. }), "{sql}: {error:?}");
            assert_eq!(s.execute_text("count", "SELECT count(*) FROM lonely;").await?.integer(0, 0)?, 1);
        }
        // Engines differ in which side refuses a zero byte; none takes it for the end.
        let error = s.execute_text("zero", "SELECT id FROM lonely \0 WHERE 1 = 0").await.map(|_| ()).unwrap_err();
        assert!(matches!(error, SessionError::Refused { .. } | SessionError::Unexpected { .. }), "{error:?}");
        let error = s.execute_text("named", "SELECT id FROM lonely").await?.text(0, 0).map(|_| ()).unwrap_err();
        assert!(matches!(error, SessionError::Unexpected { statement: "named", .. }), "{error:?}");
        Ok(())
    })
    .unwrap();
}

pub fn texts_are_counted_and_take_part_in_transactions<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE written (id BIGINT)");
    let mut session = ground.session(&[("insert", "INSERT INTO written VALUES ($1)")]);
    done(&mut session, async |s| {
        s.begin(Access::ReadWrite).await?;
        s.execute(FIRST, &[Param::Integer(1)]).await?;
        assert_eq!(s.execute_text("two", "INSERT INTO written VALUES (2), (3)").await?.changed(), 2);
        assert_eq!(s.execute_text("all", "SELECT id FROM written").await?.rows(), 3);
        s.rollback().await?;
        assert_eq!(s.execute_text("none", "SELECT id FROM written").await?.rows(), 0);
        assert_eq!(s.execute_text("table", "CREATE TABLE made_by_text (id BIGINT)").await?.changed(), 0);
        Ok(())
    })
    .unwrap();
    let work = session.work();
    assert_eq!((work.statements, work.rows_returned, work.rows_changed), (5, 3, 3));
}

pub fn an_abandoned_text_is_not_taken_for_the_next<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE left_alone (id BIGINT, words VARCHAR(9)); INSERT INTO left_alone VALUES (1, 'no')");
    let mut session = ground.session(&[("select", "SELECT words FROM left_alone WHERE id = $1")]);
    let in_process = session.descriptor().is_none();
    let poll = |future: std::pin::Pin<&mut dyn Future<Output = ()>>| {
        let first_poll = future.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(matches!(first_poll, Poll::Pending), !in_process);
    };
    for _ in 0..2 {
        poll(pin!(async {
            session.execute_text("three", "SELECT id, words, id FROM left_alone").await.unwrap();
        }));
        poll(pin!(async {
            session.execute(FIRST, &[Param::Integer(1)]).await.unwrap();
        }));
        poll(pin!(async {
            session.execute_text("one", "SELECT id FROM left_alone").await.unwrap();
        }));
        done(&mut session, async |s| {
            assert_eq!(s.execute_text("words", "SELECT words FROM left_alone").await?.text(0, 0)?, "no");
            assert_eq!(s.execute(FIRST, &[Param::Integer(1)]).await?.text(0, 0)?, "no");
            Ok(())
        })
        .unwrap();
    }
}

/// Texts that are built to be read as something else.
const HOSTILE: [&str; 12] = [
    "'; DROP TABLE precious; --",
    "\\'; DROP TABLE precious; --",
    "\\",
    "\\\\'",
    "''",
    "a\0b",
    "\0",
    "line\nline\r\n-- \t\u{1a}",
    "$$ $1 {text} {number} ?",
    "*/ /* \" ` # ;",
    "%_ \u{feff}\u{2019} ｀＇",
    "¿'¿\\ 縗' 🐎",
];

pub fn literals_are_data_whatever_they_hold<E: Engine>(ground: &Ground<E>) {
    ground.script(&format!("CREATE TABLE precious (id BIGINT, words {})", E::LONG_TEXT));
    let session = RefCell::new(ground.session(&[]));
    let dialect = session.borrow().dialect();
    let select = Template::parse("SELECT {text}, 1 -{number}, {amount}, {day}").unwrap();
    let insert = Template::parse("INSERT INTO precious (id, words) VALUES ({number}, {text})").unwrap();
    let count = Template::parse("SELECT count(*) FROM precious WHERE words = {text} AND id = {number}").unwrap();
    let delete = Template::parse("DELETE FROM precious WHERE id = {number}").unwrap();
    let is_kept = |text: &str, number: i64, amount: Decimal, day: Date| {
        let values = [
            ("text", Param::Text(text)),
            ("number", Param::Integer(number)),
            ("amount", Param::Decimal(amount)),
            ("day", Param::Date(day)),
        ];
        let select = match select.render(dialect, &values) {
            Ok(select) => select,
            Err(RenderError::Literal { why, .. }) => {
                let held = text.contains('\0') && dialect == Dialect::Postgres;
                assert!(held && why == LiteralError::ZeroByte || matches!(why, LiteralError::TooLarge(_)), "{why}");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let [insert, count] = [&insert, &count].map(|template| template.render(dialect, &values[..2]).unwrap());
        let delete = delete.render(dialect, &values[1..2]).unwrap();
        done(&mut *session.borrow_mut(), async |s| {
            let found = s.execute_text("select", &select).await?;
            assert_eq!((found.rows(), found.text(0, 0)?), (1, text));
            assert_eq!((found.integer(0, 1)?, found.date(0, 3)?), (1 - number, day));
            match dialect {
                Dialect::Sqlite => assert_eq!(i128::from(found.integer(0, 2)?), amount.units()),
                _ => assert_eq!(
                    found.decimal(0, 2).unwrap_or(Decimal::new(found.integer(0, 2).unwrap_or(1).into(), 0)),
                    amount
                ),
            }
            assert_eq!(s.execute_text("insert", &insert).await?.changed(), 1);
            assert_eq!(s.execute_text("count", &count).await?.integer(0, 0)?, 1);
            assert_eq!(s.execute_text("delete", &delete).await?.changed(), 1);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{text:?}: {error}"));
    };
    let (some_day, nothing) = (Date::parse("1998-12-01").unwrap(), Decimal::new(0, 0));
    for text in HOSTILE {
        is_kept(text, -1, nothing, some_day);
    }
    is_kept("", i64::MIN + 2, Decimal::new(-5, 2), Date::parse("0001-01-01").unwrap());
    let bytes =
        prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"'\\\0\n;-\"`{}".as_slice())], 0..60);
    let values = (bytes, -(1_i64 << 62)..1 << 62, any::<i64>(), 0_u8..30, -719_162..2_932_897);
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let kept = runner.run(&values, |(bytes, number, units, scale, days)| {
        let day = Date::from_days(days).unwrap();
        is_kept(&String::from_utf8_lossy(&bytes), number, Decimal::new(units.into(), scale), day);
        Ok(())
    });
    kept.unwrap();
    assert_eq!(ground.number("SELECT count(*) FROM precious"), 0);
}
