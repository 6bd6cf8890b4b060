//! Promises about scripts, scans and loading.

use crate::ground::{Engine, Ground};
use engines::catalog;
use engines::rows::RowSink;
use engines::session::{Param, SessionError};
use std::thread;

pub fn scripts_and_scans_agree_with_sessions<E: Engine>(ground: &Ground<E>) {
    ground.script(
        "CREATE TABLE scanned (id BIGINT, words TEXT);
         INSERT INTO scanned VALUES (1, 'one; or -- two'), (2, NULL);
         CREATE INDEX scanned_id ON scanned (id);",
    );
    let mut found = Vec::new();
    let sql = "SELECT id, words, words IS NULL FROM scanned ORDER BY id";
    ground
        .admin()
        .scan(sql, &mut |rows, row| {
            let words = rows.value(row, 1).unwrap();
            let words = if let Param::Text(words) = words { Some(words.to_owned()) } else { None };
            found.push((rows.integer(row, 0).unwrap(), words, rows.integer(row, 2).unwrap()));
        })
        .unwrap();
    assert_eq!(found, [(1, Some("one; or -- two".to_owned()), 0), (2, None, 1)]);
    let mut admin = ground.admin();
    let error = admin.script("CREATE TABLE scanned (id BIGINT)").unwrap_err();
    assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    let error = admin.scan("SELECT nothing FROM nowhere", &mut |_, _| panic!("a row from nowhere")).unwrap_err();
    assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    admin.script("DELETE FROM scanned").unwrap();
    admin.script("").unwrap();
}

const ROWS: i64 = 100_000;

/// The word in the row of a number. Every third word is null, the others need every escape there is.
fn word(number: i64) -> Option<String> {
    (number % 3 != 0).then(|| format!("{number}\ttab\nline\rreturn\\back\\N \"quoted\" 'so' é🐎\\."))
}

fn put(number: i64, sink: &mut dyn RowSink) {
    sink.integer(number);
    match word(number) {
        Some(word) => sink.text(&word),
        None => sink.null(),
    }
    sink.integer(-number);
    sink.end_row();
}

/// Puts the rows of a range, 300 at each call.
fn filler(mut numbers: impl Iterator<Item = i64>) -> impl FnMut(&mut dyn RowSink) -> bool {
    move |sink| {
        let mut put_some = false;
        for number in numbers.by_ref().take(300) {
            put(number, sink);
            put_some = true;
        }
        put_some
    }
}

pub fn a_hundred_thousand_rows_arrive_as_they_were_made<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE loaded (id BIGINT, words TEXT, minus INTEGER)");
    let loaded = ground.admin().load("loaded", &["id", "words", "minus"], &mut filler(0..ROWS)).unwrap();
    assert_eq!(loaded, ROWS.unsigned_abs());
    let mut next = 0;
    let mut scan = ground.admin();
    scan.scan("SELECT id, words, minus FROM loaded ORDER BY id", &mut |rows, row| {
        assert_eq!(rows.integer(row, 0).unwrap(), next);
        let words = word(next);
        assert_eq!(rows.value(row, 1).unwrap(), words.as_deref().map_or(Param::Null, Param::Text));
        assert_eq!(rows.integer(row, 2).unwrap(), -next);
        next += 1;
    })
    .unwrap();
    assert_eq!(next, ROWS);
    let nothing = ground.admin().load("loaded", &["id", "words", "minus"], &mut |_| false).unwrap();
    assert_eq!(nothing, 0);
}

pub fn loads_on_several_threads_all_arrive<E: Engine>(ground: &Ground<E>) {
    const PARTS: i64 = 4;
    ground.script("CREATE TABLE parted (id BIGINT, words TEXT, minus INTEGER)");
    thread::scope(|scope| {
        for part in 0..PARTS {
            let endpoint = &ground.endpoint;
            scope.spawn(move || {
                let mut admin = catalog::admin(endpoint).unwrap();
                admin.load("parted", &["id", "words", "minus"], &mut filler(part * 5000..(part + 1) * 5000)).unwrap();
            });
        }
    });
    assert_eq!(ground.number("SELECT count(DISTINCT id) FROM parted"), PARTS * 5000);
}

pub fn a_row_that_is_refused_takes_the_load_back<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE unique_rows (id BIGINT PRIMARY KEY, words TEXT, minus INTEGER)");
    let columns = ["id", "words", "minus"];
    let mut admin = ground.admin();
    let twice = (0..50_000).chain([7]).chain(50_000..400_000);
    let error = admin.load("unique_rows", &columns, &mut filler(twice)).unwrap_err();
    assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    let error = admin.load("nowhere", &columns, &mut filler(0..1)).unwrap_err();
    assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    let too_short = |sink: &mut dyn RowSink| {
        sink.integer(1);
        sink.end_row();
        false
    };
    let error = admin.load("unique_rows", &columns, &mut { too_short }).unwrap_err();
    assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    assert_eq!(admin.load("unique_rows", &columns, &mut filler(0..10)).unwrap(), 10);
    assert_eq!(ground.number("SELECT count(*) FROM unique_rows"), 10);
}
