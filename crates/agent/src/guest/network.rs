//! Brings up a network interface with two messages of the kernel's routing protocol (rtnetlink). Debian's kernels
//! cannot do it from the command line, and a guest need not have `ip`.

use super::waiting::{names_in, wait_for};
use super::{GuestError, failing};
use machines::boot::GuestAddress;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

const INTERFACES: &str = "/sys/class/net";
/// The kernel answers within the call, so this is only a bound.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

// Numbers of the protocol, from the kernel's <linux/rtnetlink.h>, <linux/netlink.h>, <linux/if_addr.h> and <linux/if.h>.
const ERROR_MESSAGE: u16 = 2;
const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const REQUEST_WITH_ANSWER: u16 = 0x1 | 0x4;
const CREATE: u16 = 0x400;
const ATTRIBUTE_ADDRESS: u16 = 1;
const ATTRIBUTE_LOCAL: u16 = 2;
const FAMILY_IPV4: u8 = 2;
const IS_UP: u32 = 1;
const HEADER_BYTES: usize = 16;

/// The first interface that is not the loopback one.
pub(super) fn first_interface() -> Result<String, GuestError> {
    let interfaces = Path::new(INTERFACES);
    let look = || {
        let entries = std::fs::read_dir(interfaces).ok()?.flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| name != "lo").min()
    };
    wait_for("network interface", look, || names_in(interfaces))
}

/// Gives the interface its address, if there is one, and switches it on. The loopback interface has its address already.
pub(super) fn bring_up(interface: &str, address: Option<GuestAddress>) -> Result<(), GuestError> {
    let doing = || format!("bringing up the network interface {interface}");
    let index =
        std::fs::read_to_string(Path::new(INTERFACES).join(interface).join("ifindex")).map_err(failing(doing()))?;
    let index: u32 = index.trim_end().parse().map_err(|error| failing(doing())(io::Error::other(error)))?;
    let socket = open().map_err(failing(doing()))?;
    if let Some(address) = address {
        ask(&socket, NEW_ADDRESS, REQUEST_WITH_ANSWER | CREATE, &address_body(index, address))
            .map_err(failing(doing()))?;
    }
    ask(&socket, NEW_LINK, REQUEST_WITH_ANSWER, &link_up_body(index)).map_err(failing(doing()))
}

fn open() -> io::Result<OwnedFd> {
    // Without a protocol the kernel uses protocol 0, the routing protocol.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_LIMIT))?;
    Ok(socket)
}

fn ask(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    send(socket, &message(kind, flags, body)?, SendFlags::empty())?;
    let mut answer = [0; 4096];
    let (length, _) = recv(socket, &mut answer, RecvFlags::empty())?;
    read_answer(&answer[..length])
}

/// The header: length, kind, flags, sequence number, sender (0 stands for the sending process).
fn message(kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(HEADER_BYTES + body.len()).map_err(io::Error::other)?;
    let mut message = Vec::with_capacity(HEADER_BYTES + body.len());
    message.extend_from_slice(&length.to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(&1_u32.to_ne_bytes());
    message.extend_from_slice(&0_u32.to_ne_bytes());
    message.extend_from_slice(body);
    Ok(message)
}

/// Family, prefix length, flags, scope, interface; then the address, which on such an interface is also the local one.
fn address_body(index: u32, address: GuestAddress) -> Vec<u8> {
    let mut body = vec![FAMILY_IPV4, address.prefix, 0, 0];
    body.extend_from_slice(&index.to_ne_bytes());
    for attribute in [ATTRIBUTE_LOCAL, ATTRIBUTE_ADDRESS] {
        let octets = address.address.octets();
        body.extend_from_slice(&8_u16.to_ne_bytes());
        body.extend_from_slice(&attribute.to_ne_bytes());
        body.extend_from_slice(&octets);
    }
    body
}

/// Family, padding, type, interface, flags, which flags to change.
fn link_up_body(index: u32) -> Vec<u8> {
    let mut body = vec![0; 4];
    for word in [index, IS_UP, IS_UP] {
        body.extend_from_slice(&word.to_ne_bytes());
    }
    body
}

/// An answer is an error message; its number is 0 if all went well.
fn read_answer(answer: &[u8]) -> io::Result<()> {
    let unexpected = || io::Error::new(io::ErrorKind::InvalidData, format!("the kernel answered {answer:?}"));
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let number =
        answer.get(HEADER_BYTES..HEADER_BYTES + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, number) {
        (Some(ERROR_MESSAGE), Some(0)) => Ok(()),
        (Some(ERROR_MESSAGE), Some(number)) => Err(io::Error::from_raw_os_error(-number)),
        _ => Err(unexpected()),
    }
}

#[cfg(test)]
mod tests {
    use super::{NEW_ADDRESS, NEW_LINK, address_body, ask, link_up_body, message, open, read_answer};
    use machines::boot::GuestAddress;

    #[test]
    fn messages_have_the_layout_of_the_kernel() {
        let address = GuestAddress { address: [10, 0, 2, 15].into(), prefix: 24 };
        let bytes = message(NEW_ADDRESS, 0x405, &address_body(2, address)).unwrap();
        #[rustfmt::skip]
        let expected = [
            40, 0, 0, 0, 20, 0, 5, 4, 1, 0, 0, 0, 0, 0, 0, 0,
            2, 24, 0, 0, 2, 0, 0, 0,
            8, 0, 2, 0, 10, 0, 2, 15, 8, 0, 1, 0, 10, 0, 2, 15,
        ];
        assert_eq!(bytes, expected);
        assert_eq!(message(NEW_LINK, 5, &link_up_body(1)).unwrap().len(), 32);
    }

    #[test]
    fn the_kernel_reads_the_messages_and_says_what_is_wrong() {
        let socket = open().unwrap();
        // No interface has this index. A kernel that understood the message reports that, or that we may not ask.
        let refused = ask(&socket, NEW_LINK, 0x5, &link_up_body(0x00FF_FFFF)).unwrap_err();
        let codes = [rustix::io::Errno::NODEV, rustix::io::Errno::PERM].map(|errno| Some(errno.raw_os_error()));
        assert!(codes.contains(&refused.raw_os_error()), "{refused}");
        assert!(read_answer(&[0; 3]).is_err());
    }
}
