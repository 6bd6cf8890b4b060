//! A peer that is no database server, or the wrong one, must do no harm: it learns no password, and nobody waits for it
//! without end.

use crate::fake::{Fake, Line, PASSWORD, contains, mysql, postgres, rest, soon};
use crate::ground::done;
use engines::admin::Admin;
use engines::batch::{Batch, Sending};
use engines::catalog::{self, ConnectVisitor};
use engines::remote::{Remote, Tls, TlsMode};
use engines::server::Endpoint;
use engines::session::{Access, Connect, Session, SessionError};
use engines::statement::{Statement, StatementId};
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A server of either protocol that asks for the password itself.
type Asking = fn(TcpStream) -> io::Result<Vec<u8>>;

const POSTGRES: &[Asking] = &[
    |mut stream| {
        postgres::introduction(&mut stream)?;
        // It cannot encrypt, so the client starts again.
        stream.write_all(b"N")?;
        postgres::introduction(&mut stream)?;
        stream.write_all(&postgres::authentication(3, b""))?;
        Ok(rest(&mut stream))
    },
    |stream| {
        let mut line = postgres::encrypting(stream)?;
        postgres::introduction(&mut line)?;
        line.write_all(&postgres::authentication(3, b""))?;
        line.flush()?;
        Ok(rest(&mut line))
    },
];

const MYSQL: &[Asking] = &[
    |mut stream| {
        stream.write_all(&mysql::greeting("mysql_clear_password", 0))?;
        asked_again(&mut stream, b"\xfemysql_clear_password\0")
    },
    |stream| {
        let mut line = mysql::encrypting(stream, "mysql_native_password")?;
        asked_again(&mut line, b"\xfemysql_clear_password\0")
    },
    // A client answers at once to a method that the greeting names.
    |stream| {
        let mut line = mysql::encrypting(stream, "mysql_clear_password")?;
        asked_again(&mut line, b"\xfemysql_clear_password\0")
    },
    |stream| {
        let mut line = mysql::encrypting(stream, "sha256_password")?;
        asked_again(&mut line, b"\xfesha256_password\0salt\0")
    },
    |stream| {
        let mut line = mysql::encrypting(stream, "caching_sha2_password")?;
        asked_again(&mut line, b"\x01\x04")
    },
];

fn asked_again(line: &mut dyn Line, question: &[u8]) -> io::Result<Vec<u8>> {
    let (sequence, first) = mysql::heard(line)?;
    line.write_all(&mysql::packet(sequence + 1, question))?;
    line.flush()?;
    Ok([first, rest(line)].concat())
}

fn why_not_open(endpoint: &Endpoint) -> SessionError {
    let endpoint = endpoint.clone();
    match soon(move || catalog::admin(&endpoint).err()) {
        Some(error) => error,
        None => panic!("it was opened"),
    }
}

#[test]
fn a_server_that_nobody_vouches_for_does_not_learn_the_password() {
    for speak in POSTGRES {
        is_not_told(*speak, Endpoint::Postgres, "require_auth=password");
    }
    for speak in MYSQL {
        is_not_told(*speak, Endpoint::Mysql, "enable-cleartext-plugin");
    }
}

fn is_not_told(speak: Asking, endpoint: fn(Remote) -> Endpoint, word: &str) {
    let fake = Fake::start(speak);
    let error = why_not_open(&endpoint(fake.remote(Tls::of_mode(TlsMode::Prefer))));
    let heard = fake.heard();
    assert!(!contains(&heard, PASSWORD), "it was told");
    assert!(matches!(error, SessionError::Insecure { .. }) && error.to_string().contains(word), "{error}");
}

#[test]
fn a_proof_that_is_quickly_guessed_is_not_given() {
    for iterations in ["0", "1", "4095"] {
        let fake = Fake::start(move |mut stream| {
            postgres::introduction(&mut stream)?;
            stream.write_all(&postgres::authentication(10, b"SCRAM-SHA-256\0\0"))?;
            let mut header = [0; 5];
            stream.read_exact(&mut header)?;
            let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
            let mut body = vec![0; length - 4];
            stream.read_exact(&mut body)?;
            let text = String::from_utf8_lossy(&body).into_owned();
            let nonce = text.rsplit("r=").next().unwrap_or_default();
            let first = format!("r={nonce}more,s=c2FsdHNhbHQ=,i={iterations}");
            stream.write_all(&postgres::authentication(11, first.as_bytes()))?;
            Ok(rest(&mut stream))
        });
        let error = why_not_open(&Endpoint::Postgres(fake.remote(Tls::default())));
        assert_eq!(fake.heard(), b"", "{iterations}");
        assert!(error.to_string().contains("4096"), "{error}");
    }
}

/// A PostgreSQL server that sends `endless` for ever instead of an answer.
fn postgres_that_sends(first: Vec<u8>, endless: Vec<u8>) -> Fake {
    Fake::start(move |mut stream| {
        postgres::welcome(&mut stream)?;
        while !matches!(postgres::heard(&mut stream)?, b'S' | b'Q') {}
        stream.write_all(&first)?;
        let many = endless.repeat(1 + (64 << 10) / endless.len().max(1));
        while !endless.is_empty() {
            stream.write_all(&many)?;
        }
        Ok(rest(&mut stream))
    })
}

type Ask = fn(&mut dyn Admin) -> Result<(), SessionError>;

/// Checks that a question and a script both fail as expected.
fn ends(start: impl Fn() -> Fake, endpoint: fn(Remote) -> Endpoint, expected: &str) {
    let asked: [Ask; 2] = [|admin| admin.has_table("item").map(|_| ()), |admin| admin.script("SELECT 1")];
    for ask in asked {
        let fake = start();
        let endpoint = endpoint(fake.remote(Tls::default()));
        let error = soon(move || ask(catalog::admin(&endpoint).unwrap().as_mut())).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        fake.heard();
    }
}

#[test]
fn an_endless_answer_of_postgres_is_given_up() {
    let notice = postgres::message(b'N', b"SNOTICE\0C00000\0Mstill here\0\0");
    ends(|| postgres_that_sends(Vec::new(), notice.clone()), Endpoint::Postgres, "is longer than");
    let row = postgres::message(b'D', b"\0\x01\0\0\0\x04\0\0\0\x07");
    ends(|| postgres_that_sends(Vec::new(), row.clone()), Endpoint::Postgres, "longer than");
    for copy in [b'G', b'H', b'W'] {
        let copy = postgres::message(copy, b"\0\0\0");
        ends(|| postgres_that_sends(copy.clone(), Vec::new()), Endpoint::Postgres, "copy");
    }
}

/// A MySQL server that sends `endless` for ever instead of an answer, with correct sequence numbers.
fn mysql_that_sends(first: &'static [&'static [u8]], endless: &'static [u8]) -> Fake {
    Fake::start(move |mut stream| {
        mysql::welcome(&mut stream)?;
        let (_, request) = mysql::heard(&mut stream)?;
        if request.first() == Some(&0x16) {
            stream.write_all(&mysql::packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"))?;
            mysql::heard(&mut stream)?;
        }
        for (sequence, body) in (1..).zip(first) {
            stream.write_all(&mysql::packet(sequence, body))?;
        }
        let many = mysql::packet(9, endless).repeat(4096);
        loop {
            stream.write_all(&many)?;
        }
    })
}

/// One column of eight bytes.
const COLUMN: &[u8] = b"\x03def\0\0\0\x01n\0\x0c\x3f\0\x14\0\0\0\x08\0\0\0\0\0";

#[test]
fn an_endless_answer_of_mysql_is_given_up() {
    let row = b"\0\0\x07\0\0\0\0\0\0\0";
    ends(|| mysql_that_sends(&[b"\x01", COLUMN], row), Endpoint::Mysql, "longer than");
    // Each answer announces another one.
    ends(|| mysql_that_sends(&[], b"\0\0\0\x08\0\0\0"), Endpoint::Mysql, "longer than");
    // More columns than a table can have.
    ends(|| mysql_that_sends(&[b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"], COLUMN), Endpoint::Mysql, "columns");
}

async fn once<S: Session>(session: &mut S) -> Result<usize, SessionError> {
    Ok(session.execute(StatementId(0), &[]).await?.rows())
}

/// The error of executing a statement that was prepared without parameters.
fn executed(endpoint: &Endpoint) -> SessionError {
    let statements = vec![Statement { name: "select", sql: "SELECT 1".to_owned() }];
    let endpoint = endpoint.clone();
    soon(move || catalog::connect(&endpoint, statements, Once))
}

struct Once;

impl ConnectVisitor for Once {
    type Answer = SessionError;

    fn visit<C: Connect + Sync>(self, connect: &C) -> SessionError {
        done(&mut connect.connect().unwrap(), once).unwrap_err()
    }
}

/// The session also sends all its statements before it waits for the first answer.
#[test]
fn a_session_gives_an_endless_answer_up() {
    let fake = Fake::start(|mut stream| {
        postgres::welcome(&mut stream)?;
        let described = [
            postgres::message(b'1', b""),
            postgres::message(b't', b"\0\0"),
            postgres::message(b'T', b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0"),
            postgres::message(b'Z', b"I"),
        ];
        // Four statements that every session has, and ours. The server answers only after all five.
        for _ in 0..5 {
            while postgres::heard(&mut stream)? != b'S' {}
        }
        stream.write_all(&described.concat().repeat(5))?;
        while postgres::heard(&mut stream)? != b'S' {}
        let many = postgres::message(b'D', b"\0\x01\0\0\0\x04\0\0\0\x07").repeat(4096);
        loop {
            stream.write_all(&many)?;
        }
    });
    let error = executed(&Endpoint::Postgres(fake.remote(Tls::default())));
    assert!(error.to_string().contains("too large for bakeoff: more than 4194304 values"), "{error}");
    fake.heard();

    let fake = mysql_that_sends(&[b"\x01", COLUMN], b"\0\0\x07\0\0\0\0\0\0\0");
    let error = executed(&Endpoint::Mysql(fake.remote(Tls::default())));
    assert!(error.to_string().contains("too large for bakeoff"), "{error}");
    fake.heard();
}

struct Batched;

impl ConnectVisitor for Batched {
    type Answer = SessionError;

    /// Five requests: the beginning, three statements and the end.
    fn visit<C: Connect + Sync>(self, connect: &C) -> SessionError {
        let mut batch = Batch::new(Sending::Together);
        batch.begin(Access::ReadWrite);
        for _ in 0..3 {
            batch.add(StatementId(0), &[]);
        }
        batch.commit();
        done(&mut connect.connect().unwrap(), async |session| session.run(&mut batch).await).unwrap_err()
    }
}

fn batched(endpoint: &Endpoint) -> SessionError {
    let statements = vec![Statement { name: "touch", sql: "DELETE FROM item".to_owned() }];
    let endpoint = endpoint.clone();
    soon(move || catalog::connect(&endpoint, statements, Batched))
}

/// Prepares five statements without rows, hears a batch, and answers `well` of its requests.
fn postgres_that_answers(well: usize, then: Vec<u8>) -> Fake {
    Fake::start(move |mut stream| {
        postgres::welcome(&mut stream)?;
        for _ in 0..5 {
            while postgres::heard(&mut stream)? != b'S' {}
        }
        let described = [(b'1', b"".as_slice()), (b't', b"\0\0"), (b'n', b""), (b'Z', b"I")];
        let described = described.map(|(tag, body)| postgres::message(tag, body)).concat();
        stream.write_all(&described.repeat(5))?;
        while postgres::heard(&mut stream)? != b'S' {}
        let answer = [postgres::message(b'2', b""), postgres::message(b'C', b"DELETE 0\0")].concat();
        stream.write_all(&[answer.repeat(well), then].concat())?;
        Ok(Vec::new())
    })
}

/// The same. Four requests are heard: autocommit is switched off, which begins the transaction, and three statements follow. The
/// commit comes alone, after all of these were answered well.
fn mysql_that_answers(well: usize, then: &'static [u8]) -> Fake {
    Fake::start(move |mut stream| {
        mysql::welcome(&mut stream)?;
        mysql::heard(&mut stream)?;
        stream.write_all(&mysql::packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"))?;
        for _ in 0..4 {
            mysql::heard(&mut stream)?;
        }
        stream.write_all(&mysql::packet(1, mysql::OK).repeat(well))?;
        if !then.is_empty() {
            stream.write_all(&mysql::packet(1, then))?;
            stream.write_all(&mysql::packet(1, mysql::OK).repeat(3_usize.saturating_sub(well)))?;
        }
        Ok(Vec::new())
    })
}

#[test]
fn a_batch_that_is_cut_off_is_a_lost_session() {
    for well in 0..=5 {
        let fake = postgres_that_answers(well, Vec::new());
        let error = batched(&Endpoint::Postgres(fake.remote(Tls::default())));
        assert!(matches!(error, SessionError::Lost(_)), "{well}: {error:?}");
    }
    for well in 0..=4 {
        let fake = mysql_that_answers(well, b"");
        let error = batched(&Endpoint::Mysql(fake.remote(Tls::default())));
        assert!(matches!(error, SessionError::Lost(_)), "{well}: {error:?}");
    }
}

#[test]
fn a_batch_is_refused_with_the_first_refusal() {
    for well in 0..5 {
        let refusal = postgres::message(b'E', b"SERROR\0C23505\0Mtwice\0\0");
        let fake = postgres_that_answers(well, [refusal, postgres::message(b'Z', b"E")].concat());
        let error = batched(&Endpoint::Postgres(fake.remote(Tls::default())));
        assert!(matches!(&error, SessionError::Refused { code, .. } if code == "23505"), "{well}: {error:?}");
    }
    for well in 0..4 {
        let fake = mysql_that_answers(well, b"\xff\x26\x04#23000twice");
        let error = batched(&Endpoint::Mysql(fake.remote(Tls::default())));
        assert!(matches!(&error, SessionError::Refused { code, .. } if code == "1062"), "{well}: {error:?}");
    }
}
