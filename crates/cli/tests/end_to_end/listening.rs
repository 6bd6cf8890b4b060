//! An agent that listens: it serves a client that has its token, and reports others.

use crate::running::Running;
use crate::setting::{Place, text};
use agent::protocol::{Reply, Request};
use machines::listening::LISTENS_AT;
use machines::token::Token;
use machines::transport::Transport;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);
const BAD_INPUT: Option<i32> = Some(2);

fn arguments() -> Vec<&'static str> {
    vec!["agent", "--data", "data", "--logs", "logs", "--listen", "127.0.0.1:0"]
}

fn write_token(file: &Path, token: &str) -> Token {
    fs::write(file, token).unwrap();
    fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    Token::of_file(file).unwrap()
}

#[test]
fn an_agent_at_an_address_serves_the_conductor_that_has_its_token() {
    let place = Place::new("");
    let file = |name: &str| place.folder.path().join(name);
    let token = write_token(&file("token"), "0123456789abcdef0123456789abcdef");
    let other = write_token(&file("other"), "00000000000000000000000000000000");
    let mut agent = Running::begin(&place, &[arguments(), vec!["--token-file", "token"]].concat());
    let said = agent.next_line().unwrap();
    let address = said.strip_prefix(LISTENS_AT).unwrap_or_else(|| panic!("{said}")).parse().unwrap();
    let why = Transport::Tcp { address, token: other }.connect(LIMIT).err().unwrap().to_string();
    assert_eq!(why, "the agent refuses us: it has another token");
    let told = agent.next_line().unwrap();
    assert!(told.starts_with("refused 127.0.0.1:") && told.ends_with("it has another token"), "{told}");
    let mut link = Transport::Tcp { address, token }.connect(LIMIT).unwrap();
    let mut answer = |request: &Request| {
        link.ask(0, request).unwrap();
        link.receive::<Reply>(LIMIT).unwrap().unwrap().1
    };
    assert!(matches!(answer(&Request::Clock), Reply::Clock { .. }));
    assert_eq!(answer(&Request::Shutdown), Reply::Done);
    let (code, told) = agent.end();
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("0123456789abcdef"), "{told}");
}

#[test]
fn an_agent_at_an_address_needs_a_good_token() {
    let place = Place::new("");
    let output = place.bakeoff(&arguments());
    assert_eq!(output.status.code(), BAD_INPUT);
    assert!(text(&output.stderr).contains("--token-file"), "{}", text(&output.stderr));
    fs::write(place.folder.path().join("token"), "0123").unwrap();
    fs::set_permissions(place.folder.path().join("token"), Permissions::from_mode(0o600)).unwrap();
    let output = place.bakeoff(&[arguments(), vec!["--token-file", "token"]].concat());
    assert_eq!(output.status.code(), BAD_INPUT);
    assert!(text(&output.stderr).contains("at least 128 bits"), "{}", text(&output.stderr));
}
