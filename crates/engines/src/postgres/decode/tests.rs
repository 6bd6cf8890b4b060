//! Tests with bytes recorded from PostgreSQL 15, and with arbitrary ones.

use super::*;
use crate::postgres::reply::{PostgresReply, Transaction, session_error};
use crate::session::{Decimal, Param, SessionError};
use crate::wire::Incoming;
use proptest::prelude::*;

/// Answer to the preparation of an insert into (bigint, smallint, integer, boolean, text) that returns those and 1.50.
const PREPARED: &[u8] =
    b"1\0\0\0\x04t\0\0\0\x1a\0\x05\0\0\0\x14\0\0\0\x15\0\0\0\x17\0\0\0\x10\0\0\0\x19T\0\0\0\x8f\0\x06\
    id\0\0\0@\0\0\x01\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0small\0\0\0@\0\0\x02\0\0\0\x15\0\x02\xff\xff\xff\xff\0\0\
    medium\0\0\0@\0\0\x03\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0ok\0\0\0@\0\0\x04\0\0\0\x10\0\x01\xff\xff\xff\xff\0\0\
    words\0\0\0@\0\0\x05\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0num\0\0\0\0\0\0\0\0\0\x06\xa4\xff\xff\xff\xff\xff\xff\0\0\
    Z\0\0\0\x05I";

const EXECUTED: &[u8] = b"2\0\0\0\x04D\0\0\0\x32\0\x06\0\0\0\x08\xff\xff\xff\xfe\xd5\xfa\x0e\0\0\0\0\x02\0\x07\
    \xff\xff\xff\xff\0\0\0\x01\x01\0\0\0\x05k\xc5\xaf\xc5\x88\0\0\0\x041.50C\0\0\0\x0fINSERT 0 1\0Z\0\0\0\x05I";

const ROLLED_BACK: &[u8] =
    b"N\0\0\0lSWARNING\0VWARNING\0C25P01\0Mthere is no transaction in progress\0Fxact.c\0L4113\0\
    RUserAbortTransactionBlock\0\0C\0\0\0\rROLLBACK\0Z\0\0\0\x05I";

const REFUSED: &[u8] = b"E\0\0\0jSERROR\0VERROR\0C42P01\0Mrelation \"nowhere\" does not exist\0P13\0\
    Fparse_relation.c\0L1392\0RparserOpenTable\0\0Z\0\0\0\x05I";

/// Every message in `bytes`, fed in chunks of `piece` bytes.
fn messages(bytes: &[u8], piece: usize) -> Vec<(u8, Vec<u8>)> {
    let mut incoming = Incoming::<Messages>::default();
    let mut found = Vec::new();
    for part in bytes.chunks(piece) {
        let mut part = part;
        while !part.is_empty() {
            let space = incoming.space();
            let count = part.len().min(space.len());
            space[..count].copy_from_slice(&part[..count]);
            incoming.arrived(count);
            part = &part[count..];
        }
        while let Some(message) = incoming.next().unwrap() {
            found.push((message.tag, message.body.to_vec()));
        }
    }
    found
}

fn answer(bytes: &[u8], columns: &[PostgresColumnKind]) -> (PostgresReply, ResultSet) {
    let (mut reply, mut results) = (PostgresReply::default(), ResultSet::default());
    let heard = messages(bytes, 7);
    for (index, (tag, body)) in heard.iter().enumerate() {
        let done = reply.take(PostgresMessage { tag: *tag, body }, columns, &mut results).unwrap();
        assert_eq!(done, index + 1 == heard.len());
    }
    (reply, results)
}

#[test]
fn a_prepared_statement_tells_its_types() {
    let heard = messages(PREPARED, usize::MAX);
    let tags: Vec<char> = heard.iter().map(|(tag, _)| char::from(*tag)).collect();
    assert_eq!(tags, ['1', 't', 'T', 'Z']);
    assert_eq!(parameter_types(&heard[1].1).unwrap(), [20, 21, 23, 16, 25]);
    assert_eq!(column_types(&heard[2].1).unwrap(), [20, 21, 23, 16, 25, 1700]);
}

#[test]
fn rows_are_read_in_the_form_their_types_ask_for() {
    let columns = [20, 21, 23, 16, 25, 1700].map(PostgresColumnKind::of_type);
    let (mut reply, results) = answer(EXECUTED, &columns);
    reply.outcome().unwrap();
    let row: Vec<_> = (0..6).map(|column| results.value(0, column).unwrap()).collect();
    let expected = [
        Param::Integer(-5_000_000_000),
        Param::Integer(7),
        Param::Null,
        Param::Integer(1),
        Param::Text("kůň"),
        Param::Decimal(Decimal::new(150, 2)),
    ];
    assert_eq!(row, expected);
    assert_eq!((results.rows(), results.changed()), (1, 1));
}

/// Reads a row with a single value.
fn value(bytes: &[u8], kind: PostgresColumnKind) -> Result<ResultSet, Malformed> {
    let mut results = ResultSet::default();
    let length = i32::try_from(bytes.len()).unwrap().to_be_bytes();
    row(&[b"\0\x01", &length[..], bytes].concat(), &[kind], &mut results).map(|()| results)
}

#[test]
fn values_are_the_same_in_both_forms() {
    let in_text = [20, 16, 1082, 1700, 25].map(PostgresColumnKind::of_type_in_text);
    assert!(in_text.iter().all(|kind| kind.format() == 0));
    let found = ["-7", "t", "2026-11-21", "1e3", "x"].into_iter().zip(in_text);
    let found: Vec<_> = found.map(|(text, kind)| value(text.as_bytes(), kind).unwrap()).collect();
    assert_eq!((found[0].integer(0, 0).unwrap(), found[1].integer(0, 0).unwrap()), (-7, 1));
    assert_eq!(
        found[2].date(0, 0).unwrap(),
        value(&9821_i32.to_be_bytes(), PostgresColumnKind::Date).unwrap().date(0, 0).unwrap()
    );
    assert_eq!(found[3].decimal(0, 0).unwrap(), Decimal::new(1000, 0));
    assert_eq!(found[4].text(0, 0).unwrap(), "x");
    assert_eq!(value(b"f", PostgresColumnKind::BooleanText).unwrap().integer(0, 0).unwrap(), 0);
}

#[test]
fn what_is_no_number_or_day_is_told() {
    assert_eq!(value(b"NaN", PostgresColumnKind::Decimal).unwrap().text(0, 0).unwrap(), "NaN");
    for days in [i32::MAX, i32::MIN, -730_120, 2_921_940] {
        let error = value(&days.to_be_bytes(), PostgresColumnKind::Date).unwrap_err().to_string();
        assert_eq!(error, format!("day {days} from 2000-01-01 is no date of the years 1 to 9999"));
    }
    for (bytes, kind) in [
        (b"infinity".as_slice(), PostgresColumnKind::DateText),
        (b"7", PostgresColumnKind::Date),
        (b"x", PostgresColumnKind::IntegerText),
    ] {
        assert!(value(bytes, kind).is_err(), "{kind:?}");
    }
}

#[test]
fn a_row_of_another_shape_is_malformed() {
    let body = &messages(EXECUTED, usize::MAX)[1].1;
    let mut results = ResultSet::default();
    for kind in [PostgresColumnKind::Boolean, PostgresColumnKind::Integer] {
        assert!(row(body, &[kind; 6], &mut results).is_err());
    }
    assert!(row(body, &[PostgresColumnKind::Text; 5], &mut results).is_err());
    assert!(row(&body[..body.len() - 1], &[PostgresColumnKind::Text; 6], &mut results).is_err());
}

#[test]
fn a_notice_is_passed_over_and_a_rollback_noticed() {
    let (mut reply, _) = answer(ROLLED_BACK, &[]);
    reply.outcome().unwrap();
    assert!(reply.rolled_back);
    assert_eq!(reply.transaction, Transaction::None);
}

#[test]
fn a_refusal_carries_code_and_message() {
    let (mut reply, _) = answer(REFUSED, &[]);
    let error = reply.outcome().unwrap_err();
    assert_eq!(error.to_string(), "42P01: relation \"nowhere\" does not exist");
    assert!(matches!(error, SessionError::Refused { .. }));
}

#[test]
fn what_stood_in_the_way_of_another_may_be_tried_again() {
    let told =
        |code: &str, fatal| session_error(PostgresRefusal { fatal, code: code.to_owned(), message: String::new() });
    for code in ["40001", "40P01", "55P03"] {
        assert!(matches!(told(code, false), SessionError::Retryable { .. }), "{code}");
    }
    assert!(matches!(told("23505", false), SessionError::Refused { .. }));
    assert!(matches!(told("57P01", true), SessionError::Lost(_)));
}

#[test]
fn changed_rows_are_the_last_word_of_a_command_that_changes() {
    let counts = [("INSERT 0 5", 5), ("UPDATE 3", 3), ("COPY 100000", 100_000), ("SELECT 7", 0), ("BEGIN", 0), ("", 0)];
    for (command, count) in counts {
        assert_eq!(changed(format!("{command}\0").as_bytes()), count, "{command}");
    }
}

#[test]
fn authentication_requests_are_told_apart() {
    assert_eq!(authentication(b"\0\0\0\0").unwrap(), Authentication::Granted);
    let mechanisms = b"SCRAM-SHA-256\0\0";
    let offered = [b"\0\0\0\x0a".as_slice(), mechanisms].concat();
    assert_eq!(authentication(&offered).unwrap(), Authentication::Scram { mechanisms });
    assert_eq!(authentication(b"\0\0\0\x03").unwrap(), Authentication::Cleartext);
    assert_eq!(authentication(b"\0\0\0\x05salt").unwrap(), Authentication::Md5 { salt: *b"salt" });
    assert!(authentication(b"\0\0\0\x05sal").is_err());
    assert_eq!(authentication(b"\0\0\0\x07").unwrap(), Authentication::Other(7));
    assert!(authentication(b"\0\0").is_err());
}

#[test]
fn a_length_out_of_step_is_an_error() {
    for length in [0_u32, 3, u32::try_from(LONGEST_MESSAGE).unwrap() + 1, u32::MAX] {
        let mut incoming = Incoming::<Messages>::default();
        incoming.space()[0] = b'D';
        incoming.space()[1..HEADER].copy_from_slice(&length.to_be_bytes());
        incoming.arrived(HEADER);
        assert!(incoming.next().is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn pieces_of_any_size_give_the_same_messages(piece in 1_usize..200, repeats in 1_usize..60) {
        let bytes = [PREPARED, EXECUTED, ROLLED_BACK, REFUSED].concat().repeat(repeats);
        prop_assert_eq!(messages(&bytes, piece), messages(&bytes, usize::MAX));
    }

    #[test]
    fn messages_longer_than_the_buffer_arrive_whole(length in 0_usize..100_000, piece in 1_usize..40_000) {
        let body: Vec<u8> = (0..=250).cycle().take(length).collect();
        let header = u32::try_from(length + 4).unwrap().to_be_bytes();
        let bytes = [b"d".as_slice(), &header, &body, REFUSED].concat();
        let heard = messages(&bytes, piece);
        prop_assert_eq!(heard.len(), 3);
        prop_assert!(heard[0].1 == body);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut incoming = Incoming::<Messages>::default();
        incoming.space()[..bytes.len()].copy_from_slice(&bytes);
        incoming.arrived(bytes.len());
        while let Ok(Some(_)) = incoming.next() {}
    }

    #[test]
    fn arbitrary_bodies_never_panic(body in prop::collection::vec(any::<u8>(), 0..120), tag in any::<u8>()) {
        let kinds = [
            PostgresColumnKind::Integer, PostgresColumnKind::Text, PostgresColumnKind::Boolean, PostgresColumnKind::Date, PostgresColumnKind::Decimal,
            PostgresColumnKind::IntegerText, PostgresColumnKind::BooleanText, PostgresColumnKind::DateText,
        ];
        for kind in kinds {
            let _ = value(&body, kind);
        }
        let _ = PostgresReply::default().take(PostgresMessage { tag, body: &body }, &kinds, &mut ResultSet::default());
        let _ = (parameter_types(&body), column_types(&body), authentication(&body), refusal(&body));
        let _ = row(&body, &kinds, &mut ResultSet::default());
    }
}

#[test]
fn a_row_that_is_too_large_is_no_broken_protocol() {
    let why = |tag: u8, length: u32| {
        let announced = [&[tag][..], &length.to_be_bytes()].concat();
        SessionError::from(Messages::first(&announced).unwrap_err())
    };
    let SessionError::TooLarge(what) = why(b'D', 80_000_010) else { panic!("a row is a row") };
    assert!(what.starts_with("a row of 80000010 bytes, and at most 64 MiB are taken"), "{what}");
    assert!(matches!(why(b'T', 80_000_010), SessionError::Protocol(_)));
    assert!(matches!(why(b'D', u32::MAX), SessionError::Protocol(_)), "no server has such a row");
}
