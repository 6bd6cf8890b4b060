//! Promises about encryption and passwords, against a real PostgreSQL with certificates made here.

use crate::certificates::{Authority, Files, self_signed};
use crate::ground::{Ground, LIMIT, Postgres, in_a_ring};
use crate::{loading, sessions};
use engines::catalog;
use engines::port::HeldPort;
use engines::remote::{Binding, ClientCertificate, Remote, Tls, TlsMode};
use engines::secret::Secret;
use engines::server::Endpoint;
use engines::session::SessionError;
use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Instant;

/// The login rules of each test's server.
const RULES: &str = "\
local   all all           trust
hostssl all certified all cert
host    all clear     all password
host    all older     all md5
hostnossl all careful all reject
host    all all       all scram-sha-256
";

const ROLES: [&str; 6] = [
    "CREATE ROLE certified LOGIN",
    "CREATE ROLE clear LOGIN PASSWORD 'open sesame'",
    "SET password_encryption = 'md5'; CREATE ROLE older LOGIN PASSWORD 'open sesame'",
    "CREATE ROLE careful LOGIN PASSWORD 'open sesame'",
    "CREATE ROLE scrammed LOGIN PASSWORD 'open sesame'",
    "CREATE ROLE single LOGIN PASSWORD 'open sesame' CONNECTION LIMIT 1",
];

struct Secured {
    ground: Ground<Postgres>,
    authority: Authority,
}

impl Secured {
    /// A server with these roles and rules, and a certificate made out to localhost.
    fn new() -> Option<Self> {
        let held = HeldPort::of_loopback().unwrap();
        let listen = Some((Ipv4Addr::LOCALHOST, held.number()).into());
        let ground = Ground::<Postgres>::listening(r#"{ "isolation": "repeatable read" }"#, listen)?;
        for role in ROLES {
            ground.script(role);
        }
        let authority = Authority::new(ground.folder.path(), "authority");
        let secured = Self { ground, authority };
        let certificate = secured.authority.sign("localhost");
        secured.show(&certificate);
        // A server accepts rules that ask for certificates only if it can already check them.
        fs::write(secured.data().join("pg_hba.conf"), RULES).unwrap();
        secured.reload();
        Some(secured)
    }

    fn data(&self) -> PathBuf {
        self.ground.place.data.join("postgres")
    }

    /// Makes the server present this certificate from now on.
    fn show(&self, files: &Files) {
        files.give_to_owner_of(&self.data());
        let set = |name: &str, value: &str| self.ground.script(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        set("ssl", "on");
        set("ssl_cert_file", &files.certificate.display().to_string());
        set("ssl_key_file", &files.key.display().to_string());
        set("ssl_ca_file", &self.authority.file.display().to_string());
        self.reload();
    }

    fn reload(&self) {
        let loaded = "SELECT (extract(epoch FROM pg_conf_load_time()) * 1000000)::bigint";
        let before = self.ground.number(loaded);
        self.ground.script("SELECT pg_reload_conf()");
        let deadline = Instant::now() + LIMIT;
        while self.ground.number(loaded) == before {
            assert!(Instant::now() < deadline, "the configuration was not loaded");
        }
    }

    fn remote(&self, user: &str, tls: Tls) -> Remote {
        let Endpoint::Postgres(inside) = self.ground.endpoint.clone() else { panic!("not PostgreSQL") };
        Remote {
            host: "localhost".to_owned(),
            address: Some(Ipv4Addr::LOCALHOST.into()),
            user: user.to_owned(),
            password: Some(Secret::new("open sesame")),
            tls,
            own_sql: false,
            ..inside
        }
    }

    fn trusting(&self, mode: TlsMode) -> Tls {
        Tls { ca: Some(self.authority.file.clone()), ..Tls::of_mode(mode) }
    }
}

/// Whether the connection is encrypted, as the server sees it.
fn encrypted(remote: Remote) -> Result<bool, SessionError> {
    let mut found = 0;
    catalog::admin(&Endpoint::Postgres(remote))?.scan(
        "SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
        &mut |rows, row| {
            found = rows.integer(row, 0).unwrap();
        },
    )?;
    Ok(found == 1)
}

fn why_insecure(remote: Remote) -> String {
    match encrypted(remote) {
        Err(SessionError::Insecure { why }) => why,
        other => panic!("{other:?}"),
    }
}

fn why_refused(remote: Remote) -> String {
    match encrypted(remote) {
        Err(SessionError::Refused { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_promise_holds_over_tls() {
    let Some(mut secured) = Secured::new() else { return };
    let tls = Tls { binding: Binding::Require, ..secured.trusting(TlsMode::VerifyFull) };
    secured.ground.script("GRANT CREATE ON SCHEMA public TO scrammed");
    let remote = secured.remote("scrammed", tls);
    assert!(encrypted(remote.clone()).unwrap());
    secured.ground.endpoint = Endpoint::Postgres(remote);
    let ground = &secured.ground;
    // MariaDB's are tested without a ring.
    in_a_ring(|| {
        sessions::values_come_back_as_they_went(ground);
        sessions::every_count_of_changed_rows_is_true(ground);
        sessions::others_see_what_is_committed_and_nothing_else(ground);
        sessions::a_refused_statement_leaves_the_session_usable(ground);
        sessions::a_long_text_arrives_whole(ground);
        sessions::an_abandoned_answer_is_not_taken_for_the_next(ground);
        sessions::work_is_counted(ground);
    });
    loading::a_hundred_thousand_rows_arrive_as_they_were_made(ground);
    loading::loads_on_several_threads_all_arrive(ground);
    loading::a_row_that_is_refused_takes_the_load_back(ground);
}

#[test]
fn each_mode_asks_for_what_it_says() {
    let Some(secured) = Secured::new() else { return };
    let stranger = Authority::new(secured.ground.folder.path(), "stranger");
    let of = |tls| secured.remote("scrammed", tls);
    assert!(!encrypted(of(Tls::of_mode(TlsMode::Disable))).unwrap());
    assert!(encrypted(of(Tls::of_mode(TlsMode::Prefer))).unwrap());
    assert!(encrypted(of(Tls::of_mode(TlsMode::Require))).unwrap());
    for mode in [TlsMode::Require, TlsMode::VerifyCa, TlsMode::VerifyFull] {
        assert!(encrypted(of(secured.trusting(mode))).unwrap());
        let distrusting = Tls { ca: Some(stranger.file.clone()), ..Tls::of_mode(mode) };
        let why = why_insecure(of(distrusting));
        assert!(why.contains("localhost comes from no trusted authority"), "{why}");
    }
    let by_number = |mode| Remote { host: "127.0.0.1".to_owned(), ..of(secured.trusting(mode)) };
    assert!(encrypted(by_number(TlsMode::VerifyCa)).unwrap());
    let why = why_insecure(by_number(TlsMode::VerifyFull));
    assert!(why.contains("127.0.0.1 is made out to another name") && why.contains("localhost"), "{why}");
}

#[test]
fn a_certificate_that_signed_itself_may_be_named() {
    let Some(secured) = Secured::new() else { return };
    let own = self_signed(secured.ground.folder.path(), "localhost");
    secured.show(&own);
    let of = |tls| secured.remote("scrammed", tls);
    let naming = |mode| Tls { ca: Some(own.certificate.clone()), ..Tls::of_mode(mode) };
    assert!(encrypted(of(naming(TlsMode::VerifyFull))).unwrap());
    let by_number = Remote { host: "127.0.0.1".to_owned(), ..of(naming(TlsMode::VerifyFull)) };
    assert!(why_insecure(by_number).contains("another name"));
    why_insecure(of(secured.trusting(TlsMode::VerifyCa)));
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let Some(secured) = Secured::new() else { return };
    let folder = secured.ground.folder.path();
    let (missing, empty) = (folder.join("missing.pem"), folder.join("empty.pem"));
    fs::write(&empty, "no certificate\n").unwrap();
    for file in [missing, empty] {
        let tls = Tls { ca: Some(file.clone()), ..Tls::of_mode(TlsMode::VerifyCa) };
        let why = why_insecure(secured.remote("scrammed", tls));
        assert!(why.contains(&file.display().to_string()), "{why}");
    }
}

#[test]
fn a_server_without_encryption_is_refused_where_it_is_required() {
    let Some(secured) = Secured::new() else { return };
    secured.ground.script("ALTER SYSTEM SET ssl = off");
    secured.reload();
    let of = |mode| secured.remote("scrammed", Tls::of_mode(mode));
    assert!(!encrypted(of(TlsMode::Prefer)).unwrap());
    assert_eq!(why_insecure(of(TlsMode::Require)), "the server does not encrypt connections");
}

#[test]
fn every_way_to_log_in_works() {
    let Some(secured) = Secured::new() else { return };
    let by_name = |mode| Tls { clear_password: true, ..Tls::of_mode(mode) };
    for (user, tls) in [
        ("clear", secured.trusting(TlsMode::VerifyCa)),
        ("clear", secured.trusting(TlsMode::VerifyFull)),
        ("clear", by_name(TlsMode::Disable)),
        ("clear", by_name(TlsMode::Require)),
        ("older", Tls::of_mode(TlsMode::Disable)),
        ("older", Tls::of_mode(TlsMode::Require)),
        ("scrammed", Tls::of_mode(TlsMode::Disable)),
        ("scrammed", Tls::of_mode(TlsMode::Require)),
    ] {
        let remote = secured.remote(user, tls);
        encrypted(remote.clone()).unwrap();
        let wrong = Some(Secret::new("guess"));
        let why = why_refused(Remote { password: wrong, ..remote.clone() });
        assert!(why.contains(user) && !why.contains("guess"), "{why}");
        assert!(why_refused(Remote { password: None, ..remote }).contains("asks for a password"));
    }
    for mode in [TlsMode::Disable, TlsMode::Prefer, TlsMode::Require] {
        let why = why_insecure(secured.remote("clear", Tls::of_mode(mode)));
        assert!(why.contains("the password itself") && why.contains("require_auth=password"), "{why}");
    }
    let why = why_refused(secured.remote("careful", Tls::of_mode(TlsMode::Disable)));
    assert!(why.contains("no encryption"), "{why}");
    assert!(encrypted(secured.remote("careful", Tls::of_mode(TlsMode::Prefer))).unwrap());
}

#[test]
fn binding_is_kept_when_required() {
    let Some(secured) = Secured::new() else { return };
    let binding = |user: &str, mode, binding| secured.remote(user, Tls { binding, ..Tls::of_mode(mode) });
    for kind in [Binding::Disable, Binding::Prefer, Binding::Require] {
        assert!(encrypted(binding("scrammed", TlsMode::Require, kind)).unwrap());
    }
    why_insecure(binding("scrammed", TlsMode::Disable, Binding::Require));
    why_insecure(binding("older", TlsMode::Require, Binding::Require));
}

#[test]
fn a_certificate_may_stand_for_the_password() {
    let Some(secured) = Secured::new() else { return };
    let Files { certificate, key } = secured.authority.sign("certified");
    let shown = Tls { identity: Some(ClientCertificate { certificate, key }), ..Tls::of_mode(TlsMode::Require) };
    assert!(encrypted(secured.remote("certified", shown.clone())).unwrap());
    assert!(why_refused(secured.remote("certified", Tls::of_mode(TlsMode::Require))).contains("certificate"));
    let _ = why_refused(secured.remote("certified", Tls { mode: TlsMode::Disable, ..shown }));
}

#[test]
fn a_server_that_is_full_says_so() {
    let Some(secured) = Secured::new() else { return };
    let remote = Endpoint::Postgres(secured.remote("single", Tls::of_mode(TlsMode::Prefer)));
    let first = catalog::admin(&remote).unwrap();
    let Err(second) = catalog::admin(&remote) else { panic!("two sessions where one is allowed") };
    assert!(second.to_string().contains("too many connections"), "{second}");
    drop(first);
}
