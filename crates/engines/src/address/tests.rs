//! URLs as people write them, in invented surroundings.

use super::*;
use crate::remote::{Binding, ClientCertificate, LoginMethod, Remote, Tls, TlsMode};
use crate::secret::Secret;
use crate::sqlite::settings::DatabaseFile;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Variables, and files with their modes, of a user called ann.
#[derive(Default, Clone)]
struct MadeUpWorld {
    variables: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<&'static str, (&'static str, u32)>,
}

impl MadeUpWorld {
    fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.insert(name, value);
        self
    }

    fn file(mut self, path: &'static str, text: &'static str, mode: u32) -> Self {
        self.files.insert(path, (text, mode));
        self
    }

    fn parse(&self, url: &str) -> Result<Address, AddressError> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let file = |path: &Path| {
            let found = self.files.get(path.to_str().unwrap_or_default()).ok_or_else(missing);
            found.map(|(text, mode)| FileText { text: (*text).to_owned(), mode: *mode })
        };
        let around = Environment {
            variable: &|name| self.variables.get(name).map(|value| (*value).to_owned()),
            file: &file,
            home: Some(PathBuf::from("/home/ann")),
            account: Some("ann".to_owned()),
            memory_bytes: 1 << 30,
        };
        parse(url, &around)
    }

    fn remote(&self, url: &str) -> Remote {
        match self.parse(url).unwrap_or_else(|error| panic!("{url}: {error}")).endpoint {
            Endpoint::Postgres(remote) | Endpoint::Mysql(remote) => remote,
            other @ Endpoint::Sqlite { .. } => panic!("{other}"),
        }
    }

    fn error(&self, url: &str) -> String {
        self.parse(url).unwrap_err().to_string()
    }
}

fn prefer() -> Tls {
    Tls::of_mode(TlsMode::Prefer)
}

fn remote(host: &str, port: u16, user: &str, database: &str) -> Remote {
    let (host, user, database) = (host.to_owned(), user.to_owned(), database.to_owned());
    Remote { host, address: None, port, user, database, password: None, tls: prefer(), own_sql: false }
}

#[test]
fn a_whole_url() {
    let found =
        MadeUpWorld::default().remote("postgres://bob:p%40ss@db.example:6543/shop?sslmode=verify-full&sslrootcert=/ca");
    let tls = Tls { ca: Some("/ca".into()), ..Tls::of_mode(TlsMode::VerifyFull) };
    let password = Some(Secret::new("p@ss"));
    assert_eq!(found, Remote { password, tls, ..remote("db.example", 6543, "bob", "shop") });
}

#[test]
fn what_is_left_out_is_what_psql_would_take() {
    let world = MadeUpWorld::default();
    assert_eq!(world.remote("postgresql://"), remote("/var/run/postgresql", 5432, "ann", "ann"));
    assert_eq!(world.remote("postgres://db"), remote("db", 5432, "ann", "ann"));
    assert_eq!(world.remote("postgres://bob@"), remote("/var/run/postgresql", 5432, "bob", "bob"));
    assert_eq!(world.remote("postgres:///shop"), remote("/var/run/postgresql", 5432, "ann", "shop"));
}

#[test]
fn hosts_in_all_their_forms() {
    let world = MadeUpWorld::default();
    assert_eq!(world.remote("postgres://[::1]:7/shop").host, "::1");
    assert_eq!(world.remote("postgres://[::1]:7/shop").port, 7);
    assert_eq!(world.remote("postgres://%2Ftmp%2Fsockets/shop").host, "/tmp/sockets");
    assert_eq!(
        world.remote("postgres:///shop?host=/tmp/sockets&port=5433"),
        remote("/tmp/sockets", 5433, "ann", "shop")
    );
    let by_number = world.remote("postgres://db.example/shop?hostaddr=10.0.0.7");
    assert_eq!((by_number.host.as_str(), by_number.address), ("db.example", Some([10, 0, 0, 7].into())));
    assert_eq!(world.remote("postgres:///shop?hostaddr=10.0.0.7").host, "10.0.0.7");
}

#[test]
fn variables_fill_what_the_url_leaves_open() {
    let world = MadeUpWorld::default()
        .variable("PGHOST", "db.example")
        .variable("PGPORT", "6000")
        .variable("PGUSER", "carol")
        .variable("PGDATABASE", "stock")
        .variable("PGPASSWORD", "from variable")
        .variable("PGSSLMODE", "require")
        .variable("PGSSLROOTCERT", "/ca")
        .variable("PGSSLCERT", "/crt")
        .variable("PGSSLKEY", "/key")
        .variable("PGCHANNELBINDING", "require");
    let tls = Tls {
        ca: Some("/ca".into()),
        identity: Some(ClientCertificate { certificate: "/crt".into(), key: "/key".into() }),
        binding: Binding::Require,
        ..Tls::of_mode(TlsMode::Require)
    };
    let password = Some(Secret::new("from variable"));
    let expected = Remote { password, tls, ..remote("db.example", 6000, "carol", "stock") };
    assert_eq!(world.remote("postgres://"), expected);
    let over = world.remote("postgres://bob:own@other:7000/shop?sslmode=disable");
    assert_eq!((over.host.as_str(), over.port, over.user.as_str()), ("other", 7000, "bob"));
    assert_eq!((over.password, over.tls.mode), (Some(Secret::new("own")), TlsMode::Disable));
}

#[test]
fn the_password_file_is_read_last_and_only_if_it_is_private() {
    let lines = "*:*:shop:ann:from file\nlocalhost:5432:local:ann:at home\n";
    let private = MadeUpWorld::default().file("/home/ann/.pgpass", lines, 0o600);
    assert_eq!(private.remote("postgres://db/shop").password, Some(Secret::new("from file")));
    assert_eq!(private.remote("postgres:///local").password, Some(Secret::new("at home")));
    assert_eq!(private.remote("postgres://db/other").password, None);
    let before = private.clone().variable("PGPASSWORD", "from variable");
    assert_eq!(before.remote("postgres://db/shop").password, Some(Secret::new("from variable")));

    let open = MadeUpWorld::default().file("/home/ann/.pgpass", lines, 0o640);
    let found = open.parse("postgres://db/shop").unwrap();
    assert!(matches!(found.endpoint, Endpoint::Postgres(Remote { password: None, .. })));
    assert!(found.warnings[0].contains("/home/ann/.pgpass is not used"), "{:?}", found.warnings);

    let named = MadeUpWorld::default().file("/etc/pass", lines, 0o600).variable("PGPASSFILE", "/etc/pass");
    assert_eq!(named.remote("postgres://db/shop").password, Some(Secret::new("from file")));
    let missing = MadeUpWorld::default().parse("postgres://db/shop?passfile=/gone").unwrap();
    assert!(missing.warnings[0].contains("/gone"), "{:?}", missing.warnings);
}

#[test]
fn the_users_own_certificates_are_found() {
    let world = MadeUpWorld::default().file("/home/ann/.postgresql/root.crt", "", 0o644);
    assert_eq!(world.remote("postgres://db").tls.ca, Some("/home/ann/.postgresql/root.crt".into()));
    let of_system = world.remote("postgres://db?sslrootcert=system").tls;
    assert_eq!(of_system, Tls::of_mode(TlsMode::VerifyFull));
}

#[test]
fn methods_are_named_by_libpqs_own_parameter() {
    let world = MadeUpWorld::default();
    let of = |words: &str| {
        let tls = world.remote(&format!("postgres://db?require_auth={words}")).tls;
        (tls.methods, tls.clear_password)
    };
    let all_but = |unwanted| {
        let all = [LoginMethod::None, LoginMethod::Password, LoginMethod::Md5, LoginMethod::ScramSha256];
        Some(all.into_iter().filter(|method| *method != unwanted).collect())
    };
    assert_eq!(of(""), (None, false));
    assert_eq!(of("password"), (Some(vec![LoginMethod::Password]), true));
    assert_eq!(of("scram-sha-256,gss"), (Some(vec![LoginMethod::ScramSha256]), false));
    assert_eq!(of("!md5"), (all_but(LoginMethod::Md5), false));
    assert_eq!(of("!password,!oauth"), (all_but(LoginMethod::Password), false));
    assert!(world.error("postgres://db?require_auth=scram-sha256").contains("did you mean \"scram-sha-256\""));
    assert!(world.error("postgres://db?require_auth=md5,!none").contains("all without an exclamation mark"));
    let by_variable = MadeUpWorld::default().variable("PGREQUIREAUTH", "none,password");
    assert!(by_variable.remote("postgres://db").tls.clear_password);
}

#[test]
fn mysqls_clients_have_a_switch_for_the_password_itself() {
    let of = |world: &MadeUpWorld, more: &str| mysql(world, &format!("mysql://db/shop{more}")).tls.clear_password;
    let plain = MadeUpWorld::default();
    assert!(!of(&plain, ""));
    for (value, expected) in [("", true), ("=1", true), ("=ON", true), ("=0", false)] {
        assert_eq!(of(&plain, &format!("?enable-cleartext-plugin{value}")), expected, "{value}");
    }
    assert!(plain.error("mysql://db/shop?enable-cleartext-plugin=perhaps").contains("enable-cleartext-plugin"));
    let by_file = plain.clone().file("/home/ann/.my.cnf", "[client]\nenable_cleartext_plugin\n", 0o600);
    assert!(of(&by_file, "") && !of(&by_file, "?enable-cleartext-plugin=0"));
    for (value, expected) in [("Y", true), ("1", true), ("0", false), ("no", false)] {
        let by_variable = MadeUpWorld::default().variable("LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN", value);
        assert_eq!(of(&by_variable, ""), expected, "{value}");
    }
}

fn mysql(world: &MadeUpWorld, url: &str) -> Remote {
    match world.parse(url).unwrap_or_else(|error| panic!("{url}: {error}")).endpoint {
        Endpoint::Mysql(remote) => remote,
        other => panic!("{other}"),
    }
}

fn unbound(mode: TlsMode) -> Tls {
    Tls { binding: Binding::Disable, ..Tls::of_mode(mode) }
}

#[test]
fn a_whole_url_of_mysql() {
    let url =
        "mariadb://bob:p%40ss@db.example:3307/shop?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca&ssl-cert=/crt&ssl-key=/key";
    let identity = Some(ClientCertificate { certificate: "/crt".into(), key: "/key".into() });
    let tls = Tls { ca: Some("/ca".into()), identity, ..unbound(TlsMode::VerifyFull) };
    let password = Some(Secret::new("p@ss"));
    let expected = Remote { password, tls, ..remote("db.example", 3307, "bob", "shop") };
    assert_eq!(mysql(&MadeUpWorld::default(), url), expected);
}

#[test]
fn localhost_is_mysqls_socket_unless_a_port_is_named() {
    let world = MadeUpWorld::default();
    let of = |host: &str, port| Remote { tls: unbound(TlsMode::Prefer), ..remote(host, port, "ann", "shop") };
    assert_eq!(mysql(&world, "mysql:///shop"), of("/run/mysqld/mysqld.sock", 3306));
    assert_eq!(mysql(&world, "mysql://localhost/shop"), of("/run/mysqld/mysqld.sock", 3306));
    assert_eq!(mysql(&world, "mysql://localhost:3306/shop"), of("localhost", 3306));
    assert_eq!(mysql(&world, "mysql://127.0.0.1/shop"), of("127.0.0.1", 3306));
    assert_eq!(mysql(&world, "mysql:///shop?socket=/tmp/s.sock"), of("/tmp/s.sock", 3306));
    assert_eq!(mysql(&world, "mysql://%2Ftmp%2Fs.sock/shop"), of("/tmp/s.sock", 3306));
    let elsewhere =
        world.variable("MYSQL_HOST", "db").variable("MYSQL_TCP_PORT", "7").variable("MYSQL_PWD", "from variable");
    let password = Some(Secret::new("from variable"));
    assert_eq!(mysql(&elsewhere, "mysql:///shop"), Remote { password, ..of("db", 7) });
}

#[test]
fn mysqls_file_goes_before_its_variables_and_after_the_url() {
    let file = "[client]\nuser=bob\npassword=from file\nhost=db\n[bakeoff]\ndatabase=stock\nssl-ca=/ca\n";
    let world = MadeUpWorld::default().file("/home/ann/.my.cnf", file, 0o600).variable("MYSQL_PWD", "from variable");
    let password = Some(Secret::new("from file"));
    let tls = Tls { ca: Some("/ca".into()), ..unbound(TlsMode::VerifyCa) };
    let expected = Remote { password, tls, ..remote("db", 3306, "bob", "stock") };
    assert_eq!(mysql(&world, "mysql://"), expected);
    let over = mysql(&world, "mysql://carol:own@other/shop?ssl-mode=disabled");
    assert_eq!((over.user.as_str(), over.host.as_str(), over.database.as_str()), ("carol", "other", "shop"));
    assert_eq!((over.password, over.tls.mode), (Some(Secret::new("own")), TlsMode::Disable));

    let open = MadeUpWorld::default().file("/home/ann/.my.cnf", file, 0o666).parse("mysql:///shop").unwrap();
    assert!(open.warnings[0].contains("/home/ann/.my.cnf is not used"), "{:?}", open.warnings);
    let including =
        MadeUpWorld::default().file("/home/ann/.my.cnf", "!include /etc/x\n", 0o600).parse("mysql:///shop").unwrap();
    assert!(including.warnings[0].contains("includes"), "{:?}", including.warnings);
}

#[test]
fn what_mysql_misses_is_named() {
    let world = MadeUpWorld::default();
    assert_eq!(world.error("mysql://bob@db"), "the database is missing; name it as in mysql://user@host/database");
    assert!(world.error("mysql://db/shop?ssl-mod=x").contains("did you mean \"ssl-mode\""));
    assert!(world.error("mysql://db/shop?ssl-mode=verify_identiti").contains("did you mean \"verify_identity\""));
}

#[test]
fn files_of_sqlite() {
    let world = MadeUpWorld::default();
    let file_of = |url: &str| match world.parse(url).unwrap().endpoint {
        Endpoint::Sqlite(DatabaseFile { file, synchronous, cache_bytes, .. }) => {
            format!("{} {synchronous} {}", file.display(), cache_bytes >> 20)
        }
        Endpoint::Postgres(remote) | Endpoint::Mysql(remote) => panic!("{remote:?}"),
    };
    assert_eq!(file_of("sqlite:shop.db"), "shop.db full 16");
    assert_eq!(file_of("sqlite:///srv/shop.db?profile=relaxed&cache=8MiB"), "/srv/shop.db normal 8");
    assert_eq!(file_of("sqlite:/srv/a%20b.db?wal_autocheckpoint=0"), "/srv/a b.db full 16");
}

#[test]
fn a_server_of_this_host_is_known_by_its_address() {
    let world = MadeUpWorld::default();
    let is_here = |url: &str| world.parse(url).unwrap().endpoint.is_served_here();
    assert!(is_here("postgres://127.0.0.1/shop") && is_here("postgres:///shop?host=/run/postgresql"));
    assert!(is_here("postgres://0.0.0.0/shop") && is_here("postgres://[::ffff:127.0.0.1]/shop"));
    assert!(is_here("mysql://[::1]/shop") && is_here("mysql:///shop?socket=/run/mysqld.sock"));
    assert!(!is_here("postgres://192.0.2.7/shop") && !is_here("sqlite:shop.db"));
}

#[test]
fn errors_tell_what_would_do() {
    let world = MadeUpWorld::default();
    insta::assert_snapshot!([
        "shop.db", "localhost:5432/shop", "db:3306", "bob:1@db", "db:5432/shop?password=hunter2", "postgras://db", "https://db", "postgres:db", "postgres://a,b/shop", "postgres://db:0/", "postgres://db:x/",
        "postgres://db/shop?ssl_mode=require", "postgres://db/shop?sslmode=requird", "postgres://db/%zz",
        "postgres://db?hostaddr=db", "sqlite:", "sqlite:shop.db?cach=1MiB", "sqlite:shop.db?synchronous=ful",
    ].map(|url| world.error(url)).join("\n"), @r#"
    a URL is expected, as in postgres://user@host:5432/database or sqlite:file.db
    a URL begins with the kind of database: write postgres://localhost:5432/shop
    a URL begins with the kind of database: write mysql://db:3306
    a URL is expected, as in postgres://user@host:5432/database or sqlite:file.db
    a URL is expected, as in postgres://user@host:5432/database or sqlite:file.db
    there is no database called "postgras"; did you mean "postgres"?; known are postgres, postgresql, mysql, mariadb, sqlite
    there is no database called "https"; known are postgres, postgresql, mysql, mariadb, sqlite
    a URL is expected, as in postgres://user@host:5432/database or sqlite:file.db
    several hosts are named; a drive has one server
    the port is no number from 1 to 65535; in a password, write : / ? # @ as %3A %2F %3F %23 %40
    the port is no number from 1 to 65535; in a password, write : / ? # @ as %3A %2F %3F %23 %40
    postgres has no parameter "ssl_mode"; did you mean "sslmode"?; known are host, hostaddr, port, user, password, dbname, passfile, sslmode, sslrootcert, sslcert, sslkey, channel_binding, require_auth
    sslmode: found "requird"; expected disable or prefer or require or verify-ca or verify-full; did you mean "require"?
    database: % must be followed by two hexadecimal digits, and what it stands for must be UTF-8
    hostaddr: found "db"; expected a numeric address
    the file is missing; name it as in sqlite:shop.db
    sqlite has no parameter "cach"; did you mean "cache"?; known are profile, journal_mode, synchronous, cache, busy_timeout, wal_autocheckpoint
    synchronous: found "ful"; expected "off", "normal", "full" or "extra"; did you mean "full"?
    "#);
}

#[test]
fn no_error_and_no_debug_output_repeats_a_password() {
    let world = MadeUpWorld::default();
    for url in
        ["postgres://bob:hunter2/x@db/shop", "postgres://bob:hunter2@db:hunter2/", "postgres://bob:hunter2%zz@db"]
    {
        let error = world.parse(url).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
    let address = world.parse("postgres://bob:hunter2@db/shop").unwrap();
    assert!(!format!("{address:?}").contains("hunter2"));
    assert!(address.warnings[0].contains("~/.pgpass"));
}

proptest! {
    #[test]
    fn arbitrary_text_does_no_harm(text in ".{0,80}") {
        let world = MadeUpWorld::default().file("/home/ann/.pgpass", "*:*:*:*:x", 0o600);
        for scheme in ["", "postgres:", "postgres://", "sqlite:", "mysql://", "mariadb://"] {
            let _ = world.parse(&format!("{scheme}{text}"));
        }
    }

    #[test]
    fn every_name_survives_its_encoding(user in "\\PC{1,20}", password in "\\PC{1,20}", database in "\\PC{1,20}") {
        let encoded = |text: &str| text.bytes().flat_map(|byte| format!("%{byte:02x}").into_bytes()).map(char::from).collect::<String>();
        let url = format!("postgres://{}:{}@db/{}", encoded(&user), encoded(&password), encoded(&database));
        let found = MadeUpWorld::default().remote(&url);
        prop_assert_eq!(found.password, Some(Secret::new(password)));
        prop_assert_eq!((found.user, found.database), (user, database));
    }
}
