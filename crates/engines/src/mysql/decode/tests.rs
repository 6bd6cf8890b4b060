//! Tests with bytes recorded from MariaDB 10.11, and with arbitrary ones.

use super::*;
use crate::mysql::packet::{Features, Packet, Packets};
use crate::mysql::reply::{MysqlReply, Piece, session_error};
use crate::session::{Decimal, Param, SessionError};
use crate::wire::Incoming;
use proptest::prelude::*;

/// Answer to the first execution of a prepared statement, with its columns, which are certain only now.
const EXECUTED: &[u8] =
    b"\x02\0\0\x01\x0b\x01#\0\0\x02\x03def\x07bakeoff\x01t\x01t\x02id\x02id\x0c?\0\x14\0\0\0\x08\0\x10\0\0\0)\0\0\x03\
    \x03def\x07bakeoff\x01t\x01t\x05small\x05small\x0c?\0\x06\0\0\0\x02\0\0\0\0\0'\0\0\x04\x03def\x07bakeoff\x01t\
    \x01t\x04tiny\x04tiny\x0c?\0\x03\0\0\0\x01 \0\0\0\0+\0\0\x05\x03def\x07bakeoff\x01t\x01t\x06medium\x06medium\x0c\
    ?\0\x0b\0\0\0\x03\0\0\0\0\0)\0\0\x06\x03def\x07bakeoff\x01t\x01t\x05words\x05words\x0c.\0\xa0\0\0\0\xfd\x80\0\0\
    \0\0%\0\0\x07\x03def\x07bakeoff\x01t\x01t\x03num\x03num\x0c?\0\x07\0\0\0\xf6\0\0\x02\0\0'\0\0\x08\x03def\x07bake\
    off\x01t\x01t\x04made\x04made\x0c?\0\x1a\0\0\0\x0c\x80\0\x06\0\0'\0\0\t\x03def\x07bakeoff\x01t\x01t\x04took\x04t\
    ook\x0c?\0\n\0\0\0\x0b\x80\0\0\0\0'\0\0\n\x03def\x07bakeoff\x01t\x01t\x04part\x04part\x0c?\0\x16\0\0\0\x05\0\0\
    \x1f\0\0%\0\0\x0b\x03def\x07bakeoff\x01t\x01t\x03big\x03big\x0c?\0\x14\0\0\0\x08 \0\0\0\0\x1b\0\0\x0c\x03def\0\0\
    \0\x05total\0\x0c?\0*\0\0\0\xf6\x80\0\0\0\0J\0\0\r\0 \0\0\x0e\xfa\xd5\xfe\xff\xff\xff\x07\0\xc8\x05k\xc5\xaf\xc5\
    \x88\x041.50\x0b\xea\x07\x0b\x15\x0f\x1a\0\xfa\0\0\0\x08\x01\x01\0\0\0\x01\0\x01\0\0\0\0\0\0\xe0?\xff\xff\xff\
    \xff\xff\xff\xff\xff\x0b-5000000000\x07\0\0\x0e\xfe\0\0\x02\0\0\0";

/// Answer to the second execution, without column definitions.
const EXECUTED_AGAIN: &[u8] =
    b"\x02\0\0\x01\x0b\0J\0\0\x02\0 \0\0\x0e\xfa\xd5\xfe\xff\xff\xff\x07\0\xc8\x05k\xc5\xaf\xc5\x88\x041.50\x0b\xea\
    \x07\x0b\x15\x0f\x1a\0\xfa\0\0\0\x08\x01\x01\0\0\0\x01\0\x01\0\0\0\0\0\0\xe0?\xff\xff\xff\xff\xff\xff\xff\xff\
    \x0b-5000000000\x07\0\0\x03\xfe\0\0\x02\0\0\0";

/// The same from a server that ends columns and rows with EOF packets.
const EXECUTED_OLD: &[u8] =
    b"\x01\0\0\x01\x0b#\0\0\x02\x03def\x07bakeoff\x01t\x01t\x02id\x02id\x0c?\0\x14\0\0\0\x08\0\x10\0\0\0)\0\0\x03\x03d\
    ef\x07bakeoff\x01t\x01t\x05small\x05small\x0c?\0\x06\0\0\0\x02\0\0\0\0\0'\0\0\x04\x03def\x07bakeoff\x01t\x01t\
    \x04tiny\x04tiny\x0c?\0\x03\0\0\0\x01 \0\0\0\0+\0\0\x05\x03def\x07bakeoff\x01t\x01t\x06medium\x06medium\x0c?\0\
    \x0b\0\0\0\x03\0\0\0\0\0)\0\0\x06\x03def\x07bakeoff\x01t\x01t\x05words\x05words\x0c.\0\xa0\0\0\0\xfd\x80\0\0\0\0\
    %\0\0\x07\x03def\x07bakeoff\x01t\x01t\x03num\x03num\x0c?\0\x07\0\0\0\xf6\0\0\x02\0\0'\0\0\x08\x03def\x07bakeoff\
    \x01t\x01t\x04made\x04made\x0c?\0\x1a\0\0\0\x0c\x80\0\x06\0\0'\0\0\t\x03def\x07bakeoff\x01t\x01t\x04took\x04took\
    \x0c?\0\n\0\0\0\x0b\x80\0\0\0\0'\0\0\n\x03def\x07bakeoff\x01t\x01t\x04part\x04part\x0c?\0\x16\0\0\0\x05\0\0\x1f\
    \0\0%\0\0\x0b\x03def\x07bakeoff\x01t\x01t\x03big\x03big\x0c?\0\x14\0\0\0\x08 \0\0\0\0\x1b\0\0\x0c\x03def\0\0\0\
    \x05total\0\x0c?\0*\0\0\0\xf6\x80\0\0\0\0\x05\0\0\r\xfe\0\0\x02\0J\0\0\x0e\0 \0\0\x0e\xfa\xd5\xfe\xff\xff\xff\
    \x07\0\xc8\x05k\xc5\xaf\xc5\x88\x041.50\x0b\xea\x07\x0b\x15\x0f\x1a\0\xfa\0\0\0\x08\x01\x01\0\0\0\x01\0\x01\0\0\
    \0\0\0\0\xe0?\xff\xff\xff\xff\xff\xff\xff\xff\x0b-5000000000\x05\0\0\x0f\xfe\0\0\x02\0";

/// Answer to `START TRANSACTION`.
const BEGUN: &[u8] = b"\x07\0\0\x01\0\0\0\x03\0\0\0";

/// Answer to an update whose row already had the new values.
const UPDATED: &[u8] = b"0\0\0\x01\0\x01\0#\0\0\0(Rows matched: 1  Changed: 0  Warnings: 0";

/// Answer to a `DELETE … RETURNING` that was sent as a text.
const DELETED: &[u8] =
    b"\x02\0\0\x01\x01\x01'\0\0\x02\x03def\x07bakeoff\x01t\x01t\x04tiny\x04tiny\x0c?\0\x03\0\0\0\x01 \0\0\0\0\x04\0\0\
    \x03\x03200\x07\0\0\x04\xfe\0\0#\0\0\0";

/// Answer to a query of a table that does not exist.
const REFUSED: &[u8] = b".\0\0\x01\xffz\x04#42S02Table 'bakeoff.nowhere' doesn't exist";

const NEW: Features = Features { no_eof: true, cached_columns: true, executes_all: true };
const OLD: Features = Features { no_eof: false, cached_columns: false, executes_all: false };

/// The packets in `bytes`.
fn packets(bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut incoming = Incoming::<Packets>::default();
    let mut found = Vec::new();
    for byte in bytes {
        incoming.space()[0] = *byte;
        incoming.arrived(1);
        if let Some(packet) = incoming.next().unwrap() {
            found.push((packet.sequence, packet.body.to_vec()));
        }
    }
    found
}

/// Reads an answer to its end, with the columns known so far.
fn answer(
    bytes: &[u8],
    features: Features,
    binary: bool,
    columns: &mut Vec<MysqlColumnKind>,
) -> (MysqlReply, ResultSet) {
    let (mut reply, mut results) = (MysqlReply::new(features), ResultSet::default());
    let heard = packets(bytes);
    for (index, (sequence, body)) in heard.iter().enumerate() {
        let step = reply.take(Packet { sequence: *sequence, body }, binary).unwrap();
        match step {
            Piece::ColumnsFollow => columns.clear(),
            Piece::Column(body) => columns.push(MysqlColumnKind::read(body).unwrap()),
            Piece::Row(body) if binary => row(body, columns, &mut results).unwrap(),
            Piece::Row(body) => text_row(body, columns, &mut results).unwrap(),
            _ => {}
        }
        assert_eq!(step == Piece::Done, index + 1 == heard.len(), "{step:?}");
    }
    (reply, results)
}

const COLUMNS: [MysqlColumnKind; 11] = [
    MysqlColumnKind::Integer { bytes: 8, unsigned: false },
    MysqlColumnKind::Integer { bytes: 2, unsigned: false },
    MysqlColumnKind::Integer { bytes: 1, unsigned: true },
    MysqlColumnKind::Integer { bytes: 4, unsigned: false },
    MysqlColumnKind::Text,
    MysqlColumnKind::Decimal,
    MysqlColumnKind::Moment,
    MysqlColumnKind::Span,
    MysqlColumnKind::Double,
    MysqlColumnKind::Integer { bytes: 8, unsigned: true },
    MysqlColumnKind::Decimal,
];

const VALUES: [Param<'static>; 11] = [
    Param::Integer(-5_000_000_000),
    Param::Integer(7),
    Param::Integer(200),
    Param::Null,
    Param::Text("kůň"),
    Param::Decimal(Decimal::new(150, 2)),
    Param::Text("2026-11-21 15:26:00.000250"),
    Param::Text("-25:00:01"),
    Param::Text("0.5"),
    Param::Text("18446744073709551615"),
    Param::Decimal(Decimal::new(-5_000_000_000, 0)),
];

fn first_row(results: &ResultSet) -> Vec<Param<'_>> {
    (0..results.columns()).map(|column| results.value(0, column).unwrap()).collect()
}

#[test]
fn every_type_is_read_in_its_form() {
    let mut columns = Vec::new();
    let (mut reply, results) = answer(EXECUTED, NEW, true, &mut columns);
    reply.result().unwrap();
    assert_eq!(columns, COLUMNS);
    assert_eq!(first_row(&results), VALUES);
    assert_eq!((results.rows(), reply.changed, reply.outcome.in_transaction()), (1, 0, false));
}

#[test]
fn columns_that_are_left_out_are_those_known() {
    let mut columns = COLUMNS.to_vec();
    let (_, results) = answer(EXECUTED_AGAIN, NEW, true, &mut columns);
    assert_eq!(first_row(&results), VALUES);
    assert_eq!(columns, COLUMNS);
}

#[test]
fn older_servers_mark_the_ends_of_columns_and_rows() {
    let mut columns = Vec::new();
    let (mut reply, results) = answer(EXECUTED_OLD, OLD, true, &mut columns);
    reply.result().unwrap();
    assert_eq!((first_row(&results), columns), (VALUES.to_vec(), COLUMNS.to_vec()));
}

#[test]
fn an_outcome_tells_rows_and_where_the_transaction_stands() {
    let (reply, _) = answer(UPDATED, NEW, false, &mut Vec::new());
    assert_eq!((reply.changed, reply.outcome.in_transaction(), reply.outcome.warnings), (1, true, 0));
    let (reply, _) = answer(BEGUN, NEW, false, &mut Vec::new());
    assert_eq!((reply.changed, reply.outcome.in_transaction()), (0, true));
    let mut columns = Vec::new();
    let (reply, results) = answer(DELETED, NEW, false, &mut columns);
    assert_eq!((columns.as_slice(), reply.changed), ([COLUMNS[2]].as_slice(), 0));
    assert_eq!(first_row(&results), [Param::Integer(200)]);
}

/// The values of a row in text form, read for these columns.
fn texts_as(columns: &[MysqlColumnKind], texts: &[&str]) -> ResultSet {
    let body: Vec<u8> =
        texts.iter().flat_map(|text| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()).collect();
    let mut results = ResultSet::default();
    text_row(&body, columns, &mut results).unwrap();
    results
}

#[test]
fn texts_become_what_their_columns_say() {
    let texts = [
        "-5000000000",
        "7",
        "200",
        "-1",
        "kůň",
        "1.50",
        "2026-11-21 15:26:00.000250",
        "-25:00:01",
        "0.5",
        "18446744073709551615",
        "-5000000000",
    ];
    let results = texts_as(&COLUMNS, &texts);
    let found = first_row(&results);
    assert_eq!((&found[..3], &found[4..]), (&VALUES[..3], &VALUES[4..]));
    assert_eq!(found[3], Param::Integer(-1));
    let kinds = [
        MysqlColumnKind::Date,
        MysqlColumnKind::Date,
        MysqlColumnKind::Decimal,
        MysqlColumnKind::Double,
        MysqlColumnKind::Float,
    ];
    let results = texts_as(&kinds, &["2026-11-21", "0000-00-00", &"9".repeat(65), "1e3", "x"]);
    assert_eq!(results.date(0, 0).unwrap().to_string(), "2026-11-21");
    let rest: Vec<_> = (1..5).map(|column| results.text(0, column).unwrap().to_owned()).collect();
    assert_eq!(rest, ["0000-00-00", &"9".repeat(65), "1000", "x"]);
    let mut results = ResultSet::default();
    text_row(b"\xfb\x01a", &[MysqlColumnKind::Text; 2], &mut results).unwrap();
    assert_eq!(first_row(&results), [Param::Null, Param::Text("a")]);
    for body in [b"\x01a".as_slice(), b"\x01a\x01b\x01c", b"\x02a\xfb", b"\x01\xff\xfb"] {
        assert!(text_row(body, &[MysqlColumnKind::Text; 2], &mut results).is_err(), "{body:?}");
    }
}

#[test]
fn a_day_that_is_none_stays_a_text() {
    let of = |bytes: &[u8]| {
        let mut results = ResultSet::default();
        row(&[b"\0\0", bytes].concat(), &[MysqlColumnKind::Date], &mut results).map(|()| results)
    };
    assert_eq!(of(b"\x04\xea\x07\x0b\x15").unwrap().date(0, 0).unwrap().to_string(), "2026-11-21");
    assert_eq!(of(b"\0").unwrap().text(0, 0).unwrap(), "0000-00-00");
    assert_eq!(of(b"\x04\xea\x07\x02\x1e").unwrap().text(0, 0).unwrap(), "2026-02-30");
    assert!(of(b"\x04\xea\x07\x02").is_err());
}

#[test]
fn an_outcome_tells_the_number_of_a_new_row() {
    let inserted = OkPacket::read(b"\0\x01\xfc\x2c\x01\x02\0\0\0").unwrap();
    assert_eq!((inserted.changed, inserted.inserted_id), (1, 300));
}

#[test]
fn a_refusal_carries_code_and_message() {
    let (mut reply, _) = answer(REFUSED, NEW, false, &mut Vec::new());
    let error = reply.result().unwrap_err();
    assert_eq!(error.to_string(), "1146: Table 'bakeoff.nowhere' doesn't exist");
    assert!(matches!(error, SessionError::Refused { .. }));
}

#[test]
fn what_stood_in_the_way_of_another_may_be_tried_again() {
    let told = |code| session_error(MysqlRefusal { code, message: String::new() });
    for code in [1020, 1205, 1213] {
        assert!(matches!(told(code), SessionError::Retryable { .. }), "{code}");
    }
    assert!(matches!(told(1062), SessionError::Refused { .. }));
    assert!(matches!(told(1053), SessionError::Lost(_)));
}

#[test]
fn a_script_has_one_answer_for_each_statement() {
    let more = b"\x07\0\0\x01\0\x02\0\x0a\0\0\0".as_slice();
    let (reply, _) = answer(&[more, more, UPDATED].concat(), NEW, false, &mut Vec::new());
    assert_eq!(reply.changed, 5);
}

#[test]
fn a_row_of_another_shape_is_malformed() {
    let body = &packets(EXECUTED_AGAIN)[1].1;
    let read = |body: &[u8], columns: &[MysqlColumnKind]| row(body, columns, &mut ResultSet::default());
    read(body, &COLUMNS).unwrap();
    assert!(read(body, &COLUMNS[..10]).is_err());
    assert!(read(body, &[COLUMNS.as_slice(), &[MysqlColumnKind::Text]].concat()).is_err());
    assert!(read(&body[..body.len() - 1], &COLUMNS).is_err());
}

#[test]
fn moments_and_spans_are_as_short_as_they_can_be() {
    let moment_of = |bytes: &[u8]| moment(&mut PacketReader(bytes)).unwrap();
    assert_eq!(moment_of(b"\0"), "0000-00-00");
    assert_eq!(moment_of(b"\x04\xea\x07\x0b\x15"), "2026-11-21");
    assert_eq!(moment_of(b"\x07\xea\x07\x0b\x15\x01\x02\x03"), "2026-11-21 01:02:03");
    assert_eq!(span(&mut PacketReader(b"\0")).unwrap(), "00:00:00");
    assert_eq!(span(&mut PacketReader(b"\x0c\0\0\0\0\0\x01\x02\x03\x07\0\0\0")).unwrap(), "01:02:03.000007");
}

proptest! {
    #[test]
    fn arbitrary_packets_never_panic(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..12),
        binary in any::<bool>(), no_eof in any::<bool>(), cached_columns in any::<bool>(),
    ) {
        let mut reply = MysqlReply::new(Features { no_eof, cached_columns, executes_all: false });
        for body in &bodies {
            let Ok(step) = reply.take(Packet { sequence: 0, body }, binary) else { break };
            if let Piece::Column(body) = step {
                let _ = MysqlColumnKind::read(body);
            }
        }
        let _ = reply.result();
    }

    #[test]
    fn arbitrary_rows_never_panic(body in prop::collection::vec(any::<u8>(), 0..120), count in 0_usize..=11) {
        let columns = [&COLUMNS[11 - count..], &[MysqlColumnKind::Date]].concat();
        let _ = row(&body, &columns, &mut ResultSet::default());
        let _ = text_row(&body, &columns, &mut ResultSet::default());
        let _ = (MysqlColumnKind::read(&body), OkPacket::read(&body), OkPacket::read_end(&body), MysqlRefusal::read(&body));
    }

    #[test]
    fn arbitrary_texts_are_told(texts in prop::collection::vec("[-0-9.:e ]{0,40}|.{0,20}", 12)) {
        let columns = [COLUMNS.as_slice(), &[MysqlColumnKind::Date]].concat();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let results = texts_as(&columns, &texts);
        prop_assert_eq!(results.text(0, 4).unwrap(), texts[4]);
    }

    #[test]
    fn a_row_cut_short_or_changed_never_panics(at in 0_usize..72, byte in any::<u8>(), length in 0_usize..75) {
        let mut body = packets(EXECUTED_AGAIN)[1].1.clone();
        body[at] = byte;
        body.truncate(length);
        let _ = row(&body, &COLUMNS, &mut ResultSet::default());
    }
}
