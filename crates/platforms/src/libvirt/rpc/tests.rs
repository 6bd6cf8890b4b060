//! Conversations with a libvirt whose bytes are given.

use super::*;
use crate::libvirt::rpc::xdr::Writer;

const SHORT: Duration = Duration::from_millis(20);

fn answer(number: u32, body: &[u8]) -> Vec<u8> {
    said(1, number, 0, body)
}

fn said(kind: u32, number: u32, status: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(LENGTH_BYTES + 24 + body.len()).unwrap();
    let head = Writer::default().word(length).word(REMOTE).word(1).word(0).word(kind).word(number).word(status);
    [head.bytes(), body.to_vec()].concat()
}

/// libvirt's answer to the question how to log in: without anything.
fn freely() -> Vec<u8> {
    answer(1, &Writer::default().word(1).word(0).bytes())
}

/// A client that is let in, and the other end of its stream.
fn opened() -> (LibvirtClient, UnixStream) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&[freely(), answer(2, &[])].concat()).unwrap();
    (LibvirtClient::open(ours, "qemu:///system", ANSWER_LIMIT).unwrap(), theirs)
}

fn refused(first: &[u8]) -> RpcError {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(first).unwrap();
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    LibvirtClient::open(ours, "qemu:///system", ANSWER_LIMIT).unwrap_err()
}

#[test]
fn answers_in_pieces_among_events_and_after_late_ones_are_found() {
    let (mut client, mut theirs) = opened();
    let version = Writer::default().word(0).word(9_000_000).bytes();
    let bytes = [said(2, 0, 0, b"ever"), answer(1, &[]), answer(3, &version)].concat();
    let writer = std::thread::spawn(move || {
        for piece in bytes.chunks(5) {
            theirs.write_all(piece).unwrap();
        }
        theirs
    });
    assert_eq!(client.libvirt_version(), Ok("9.0.0".to_owned()));
    let theirs = writer.join().unwrap();
    let which = Domain { name: "d".to_owned(), uuid: Uuid([1; 16]), id: 1 };
    assert!(matches!(client.statistics(&which, SHORT), Err(RpcError::TooSlow { .. })));
    drop(theirs);
    assert!(matches!(client.statistics(&which, SHORT), Err(RpcError::Closed | RpcError::Broken(_))));
}

#[test]
fn a_domain_that_is_gone_is_no_error() {
    let (mut client, mut theirs) = opened();
    let no_domain = Writer::default().signed(42).signed(10).some_text("Domain not found").bytes();
    theirs.write_all(&[said(1, 3, 1, &no_domain), said(1, 4, 1, &no_domain)].concat()).unwrap();
    assert_eq!(client.lookup(Uuid([1; 16])), Ok(None));
    assert_eq!(client.destroy(&Domain { name: "d".to_owned(), uuid: Uuid([1; 16]), id: 1 }), Ok(()));
    let other = Writer::default().signed(1).signed(10).some_text("no room").bytes();
    theirs.write_all(&said(1, 5, 1, &other)).unwrap();
    assert_eq!(client.create("<domain/>").unwrap_err().to_string(), "libvirt refuses to make a domain: no room");
}

#[test]
fn what_qemu_says_through_libvirt_is_its_answer_or_its_refusal() {
    let (mut client, mut theirs) = opened();
    let which = Domain { name: "d".to_owned(), uuid: Uuid([1; 16]), id: 1 };
    let texts = [
        json!({ "return": { "enabled": false }, "id": "libvirt-9" }),
        json!({ "error": { "desc": "no such command" } }),
        json!({}),
    ];
    for (number, text) in (3..).zip(texts) {
        theirs.write_all(&answer(number, &Writer::default().text(&text.to_string()).bytes())).unwrap();
    }
    let mut ask = || client.monitor(&which, SHORT, "query-kvm", json!({}));
    assert_eq!(ask().unwrap(), json!({ "enabled": false }));
    assert_eq!(ask().unwrap_err().to_string(), "QEMU refused query-kvm: no such command");
    assert!(matches!(ask(), Err(QmpError::Unexpected(_))));
}

#[test]
fn who_is_not_libvirt_or_wants_a_password_is_named() {
    assert!(matches!(refused(b"220 mail ready\r\n"), RpcError::Foreign(_)));
    assert!(matches!(refused(&[0xff; 64]), RpcError::Foreign(_)));
    assert!(matches!(refused(&answer(9, &[])), RpcError::Foreign(_)), "an answer to a call that was never made");
    assert!(matches!(refused(&answer(1, &[])), RpcError::Foreign(_)), "an answer without its value");
    assert!(matches!(refused(&freely()[..20]), RpcError::Closed));
    assert!(matches!(refused(&[]), RpcError::Closed));
    let password = answer(1, &Writer::default().word(1).word(1).bytes());
    assert!(matches!(refused(&password), RpcError::AsksForPassword));
}

/// Answers that are cut or changed anywhere are errors, or other values, but never a panic.
#[test]
fn answers_that_are_cut_or_changed_do_no_harm() {
    let which = Domain { name: "d".to_owned(), uuid: Uuid([1; 16]), id: 1 };
    let statistic = Writer::default().word(1).text("d").fixed(&[1; 16]).signed(1).word(1).text("x").word(4);
    let whole = answer(3, &statistic.word(0).word(7).bytes());
    for at in 0..whole.len() {
        for changed in [whole[..at].to_vec(), [&whole[..at], &[whole[at] ^ 0xff], &whole[at + 1..]].concat()] {
            let (mut client, mut theirs) = opened();
            theirs.write_all(&changed).unwrap();
            drop(theirs);
            let _ = client.statistics(&which, SHORT);
        }
    }
}
