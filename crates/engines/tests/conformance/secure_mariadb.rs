//! Promises about encryption and passwords, against a real MariaDB with certificates made here.
//!
//! MariaDB encrypts only if it was started with certificates, and our own servers are not. So the engine makes the
//! data, and the test starts the server.

use crate::certificates::{Authority, Files};
use crate::ground::{Ground, LIMIT, Mariadb};
use crate::{loading, sessions};
use engines::admin::Admin;
use engines::catalog;
use engines::port::HeldPort;
use engines::remote::{ClientCertificate, Remote, Tls, TlsMode};
use engines::secret::Secret;
use engines::server::{Endpoint, ServerPlace};
use engines::session::SessionError;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ACCOUNTS: [&str; 6] = [
    "CREATE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('open sesame')",
    "CREATE USER careful@'%' IDENTIFIED BY 'open sesame' REQUIRE SSL",
    "CREATE USER certified@'%' IDENTIFIED BY 'open sesame' REQUIRE X509",
    "GRANT ALL PRIVILEGES ON *.* TO native@'%'",
    "GRANT SELECT ON bakeoff.* TO careful@'%'",
    "GRANT SELECT ON bakeoff.* TO certified@'%'",
];

struct Secured {
    server: Child,
    inside: Remote,
    held: HeldPort,
    authority: Authority,
    folder: TempDir,
}

impl Drop for Secured {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Secured {
    fn new(encrypts: bool) -> Option<Self> {
        let Ground { server, endpoint, place, folder, .. } = Ground::<Mariadb>::new("{}")?;
        server.into_inner().stop().unwrap();
        let Endpoint::Mysql(of_ours) = endpoint else { panic!("not MariaDB") };
        // The name in our server's report leads through a folder that was open only while that server ran.
        let socket = place.data.join("mariadb.socket").join(Path::new(&of_ours.host).file_name().unwrap());
        let inside = Remote { host: socket.to_str().unwrap().to_owned(), ..of_ours };
        let held = HeldPort::of_loopback().unwrap();
        let authority = Authority::new(folder.path(), "authority");
        let certificate = authority.sign("localhost");
        certificate.give_to_owner_of(&place.data.join("mariadb"));
        let mut more = vec![format!("--port={}", held.number()), format!("--socket={}", inside.host)];
        if encrypts {
            more.push(format!("--ssl-cert={}", certificate.certificate.display()));
            more.push(format!("--ssl-key={}", certificate.key.display()));
            more.push(format!("--ssl-ca={}", authority.file.display()));
        }
        let server = start(&place, &more);
        let secured = Self { server, inside, held, authority, folder };
        let mut admin = secured.admin();
        for account in ACCOUNTS {
            admin.script(account).unwrap();
        }
        Some(secured)
    }

    fn admin(&self) -> Box<dyn Admin> {
        let (deadline, (_nobody_speaks, silence)) = (Instant::now() + LIMIT, channel::<()>());
        loop {
            match catalog::admin(&Endpoint::Mysql(self.inside.clone())) {
                Ok(admin) => return admin,
                // There is no event for a server that is not ours.
                Err(error) => {
                    assert!(Instant::now() < deadline, "{error}");
                    let _ = silence.recv_timeout(Duration::from_millis(20));
                }
            }
        }
    }

    fn remote(&self, user: &str, tls: Tls) -> Remote {
        Remote {
            host: "localhost".to_owned(),
            address: Some(Ipv4Addr::LOCALHOST.into()),
            port: self.held.number(),
            user: user.to_owned(),
            password: Some(Secret::new("open sesame")),
            tls,
            own_sql: false,
            ..self.inside.clone()
        }
    }

    fn trusting(&self, mode: TlsMode) -> Tls {
        Tls { ca: Some(self.authority.file.clone()), ..Tls::of_mode(mode) }
    }
}

fn start(place: &ServerPlace, more: &[String]) -> Child {
    let data = place.data.join("mariadb");
    let owner = fs::metadata(&data).unwrap();
    let log = fs::File::create(place.logs.join("encrypting.log")).unwrap();
    let mut command = Command::new("/usr/sbin/mariadbd");
    command.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve"]);
    command.args(["--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin"]);
    command.arg(format!("--datadir={}", data.display())).args(more).current_dir(Path::new("/"));
    if rustix::process::geteuid().is_root() {
        command.uid(owner.uid()).gid(owner.gid());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Whether the connection is encrypted, as the server sees it.
fn encrypted(remote: Remote) -> Result<bool, SessionError> {
    let sql = "SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'";
    let mut found = 0;
    let mut admin = catalog::admin(&Endpoint::Mysql(remote))?;
    admin.scan(sql, &mut |rows, row| found = rows.integer(row, 0).unwrap())?;
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
fn every_promise_of_mariadb_holds_over_tls() {
    let Some(secured) = Secured::new(true) else { return };
    let remote = secured.remote("native", secured.trusting(TlsMode::VerifyFull));
    assert!(encrypted(remote.clone()).unwrap());
    // The promises about sessions run as on any server, but over the encrypted connection.
    let Some(mut ground) = Ground::<Mariadb>::new("{}") else { return };
    ground.endpoint = Endpoint::Mysql(remote);
    sessions::values_come_back_as_they_went(&ground);
    sessions::every_count_of_changed_rows_is_true(&ground);
    sessions::a_refused_statement_leaves_the_session_usable(&ground);
    sessions::a_long_text_arrives_whole(&ground);
    sessions::an_abandoned_answer_is_not_taken_for_the_next(&ground);
    sessions::work_is_counted(&ground);
    loading::a_hundred_thousand_rows_arrive_as_they_were_made(&ground);
    loading::loads_on_several_threads_all_arrive(&ground);
}

#[test]
fn each_mode_asks_mariadb_for_what_it_says() {
    let Some(secured) = Secured::new(true) else { return };
    let stranger = Authority::new(secured.folder.path(), "stranger");
    let of = |tls| secured.remote("native", tls);
    assert!(!encrypted(of(Tls::of_mode(TlsMode::Disable))).unwrap());
    assert!(encrypted(of(Tls::of_mode(TlsMode::Prefer))).unwrap());
    assert!(encrypted(of(Tls::of_mode(TlsMode::Require))).unwrap());
    for mode in [TlsMode::VerifyCa, TlsMode::VerifyFull] {
        assert!(encrypted(of(secured.trusting(mode))).unwrap());
        let distrusting = Tls { ca: Some(stranger.file.clone()), ..Tls::of_mode(mode) };
        let why = why_insecure(of(distrusting));
        assert!(why.contains("localhost comes from no trusted authority"), "{why}");
    }
    let by_number = |mode| Remote { host: "127.0.0.1".to_owned(), ..of(secured.trusting(mode)) };
    assert!(encrypted(by_number(TlsMode::VerifyCa)).unwrap());
    assert!(why_insecure(by_number(TlsMode::VerifyFull)).contains("another name"));
}

#[test]
fn a_mariadb_without_encryption_is_refused_where_it_is_required() {
    let Some(secured) = Secured::new(false) else { return };
    let of = |mode| secured.remote("native", Tls::of_mode(mode));
    assert!(!encrypted(of(TlsMode::Prefer)).unwrap());
    assert_eq!(why_insecure(of(TlsMode::Require)), "the server does not encrypt connections");
}

#[test]
fn mariadb_lets_in_whom_it_should() {
    let Some(secured) = Secured::new(true) else { return };
    for mode in [TlsMode::Disable, TlsMode::Require] {
        encrypted(secured.remote("native", Tls::of_mode(mode))).unwrap();
        for password in [Some(Secret::new("guess")), None] {
            let why = why_refused(Remote { password, ..secured.remote("native", Tls::of_mode(mode)) });
            assert!(why.contains("native") && !why.contains("guess"), "{why}");
        }
    }
    assert!(encrypted(secured.remote("careful", Tls::of_mode(TlsMode::Prefer))).unwrap());
    why_refused(secured.remote("careful", Tls::of_mode(TlsMode::Disable)));
    let Files { certificate, key } = secured.authority.sign("certified");
    let shown = Tls { identity: Some(ClientCertificate { certificate, key }), ..Tls::of_mode(TlsMode::Require) };
    assert!(encrypted(secured.remote("certified", shown)).unwrap());
    why_refused(secured.remote("certified", Tls::of_mode(TlsMode::Require)));
}

#[test]
fn mariadb_takes_signatures_for_passwords() {
    let Some(secured) = Secured::new(true) else { return };
    let mut admin = secured.admin();
    if let Err(error) = admin.script("INSTALL SONAME 'auth_ed25519'") {
        eprintln!("SKIPPED ed25519: {error}; the plugin is in Debian's package mariadb-server");
        return;
    }
    admin.script("CREATE USER signing@'%' IDENTIFIED VIA ed25519 USING PASSWORD('open sesame')").unwrap();
    admin.script("GRANT SELECT ON bakeoff.* TO signing@'%'").unwrap();
    for mode in [TlsMode::Disable, TlsMode::Require] {
        encrypted(secured.remote("signing", Tls::of_mode(mode))).unwrap();
        let wrong = Some(Secret::new("guess"));
        why_refused(Remote { password: wrong, ..secured.remote("signing", Tls::of_mode(mode)) });
    }
}
