//! From a URI to a connection: which socket, or which words for `ssh`, and what to do if nobody answers.

use super::rpc::{LibvirtClient, RpcError, message::LibvirtRefusal};
use super::uri::{Driver, Uri, Way};
use machines::printed::Printed;
use machines::process::{Launch, Process, ProcessError};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A daemon takes a connection at once, unless it hangs and its queue is full.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const CONNECT_POLL: Duration = Duration::from_millis(50);
/// What ssh may print before it ends is read within this.
const SSH_END_LIMIT: Duration = Duration::from_secs(2);
/// Options for ssh: ask nobody anything, and notice a host that is gone.
const SSH: [&str; 10] = [
    "ssh",
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
];
const DAEMONS: [&str; 2] = ["/usr/sbin/libvirtd", "/usr/sbin/virtqemud"];

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("no libvirtd listens at {}; {instead}", .socket.display())]
    Nobody { socket: PathBuf, instead: String },
    #[error("this user may not connect to {}; {instead}", .socket.display())]
    Forbidden { socket: PathBuf, instead: &'static str },
    #[error("connecting to {}: {source}", .socket.display())]
    Socket { socket: PathBuf, source: io::Error },
    #[error("what listens at {at} does not answer as libvirt does: {why}")]
    Foreign { at: String, why: RpcError },
    #[error("libvirt at {at} has no driver for {uri}: {why}; {instead}")]
    NoDriver { at: String, uri: String, why: LibvirtRefusal, instead: &'static str },
    #[error("libvirt at {at}: {why}")]
    NotOpened { at: String, why: RpcError },
    #[error("starting ssh: {0}")]
    Ssh(#[from] ProcessError),
    #[error("ssh to {host}: {said}")]
    Far { host: String, said: String },
}

/// A connection, and the `ssh` that carries it.
#[derive(Debug)]
pub struct LibvirtConnection {
    pub client: LibvirtClient,
    _carrier: Option<Carrier>,
}

/// A stream to a socket of another host. It ends with its program.
#[derive(Debug)]
pub struct Carrier {
    process: Process,
    stderr: Printed,
}

/// Logs in to the libvirt of this URI.
/// The limit of each wait is at most `patience`.
pub fn connect(uri: &Uri, patience: Duration) -> Result<LibvirtConnection, ConnectError> {
    if let Way::Ssh { host, port } = &uri.way {
        let (stream, mut carrier) = through_ssh(host, *port, &at_the_host(uri))?;
        let client = LibvirtClient::open(stream, &uri.at_the_daemon(), patience).map_err(|error| {
            // A login that is refused, or a program that is missing there, is what ssh says.
            let said = carrier.last_words();
            if said.is_empty() || error.refusal().is_some() {
                return not_opened(uri, &format!("the host {host}"), error);
            }
            ConnectError::Far { host: host.clone(), said }
        })?;
        return Ok(LibvirtConnection { client, _carrier: Some(carrier) });
    }
    let (stream, socket) = first_that_listens(uri)?;
    let client = LibvirtClient::open(stream, &uri.at_the_daemon(), patience)
        .map_err(|error| not_opened(uri, &socket.display().to_string(), error))?;
    Ok(LibvirtConnection { client, _carrier: None })
}

/// A stream to the socket at this path of the URI's host.
pub fn to_socket(uri: &Uri, path: &Path) -> Result<(UnixStream, Option<Carrier>), ConnectError> {
    match &uri.way {
        Way::Socket => {
            let failing = |source| ConnectError::Socket { socket: path.to_owned(), source };
            Ok((within(path, CONNECT_LIMIT).map_err(failing)?, None))
        }
        Way::Ssh { host, port } => {
            let (stream, carrier) = through_ssh(host, *port, &netcat(path))?;
            Ok((stream, Some(carrier)))
        }
    }
}

fn not_opened(uri: &Uri, at: &str, error: RpcError) -> ConnectError {
    let at = at.to_owned();
    match error {
        why @ (RpcError::Foreign(_) | RpcError::TooSlow { .. } | RpcError::Closed) => ConnectError::Foreign { at, why },
        RpcError::Refused { refusal, .. } if refusal.is_no_such_driver() => ConnectError::NoDriver {
            at,
            uri: uri.at_the_daemon(),
            why: refusal,
            instead: match uri.driver {
                Driver::Qemu => "install Debian's package libvirt-daemon-driver-qemu and start libvirtd again",
                Driver::Xen => "the host must have been booted by Xen, with Debian's package libvirt-daemon-driver-xen",
            },
        },
        why => ConnectError::NotOpened { at, why },
    }
}

/// Connects to the first of the URI's sockets at which somebody listens.
fn first_that_listens(uri: &Uri) -> Result<(UnixStream, PathBuf), ConnectError> {
    let sockets = sockets(uri);
    let mut last = None;
    for socket in &sockets {
        match within(socket, CONNECT_LIMIT) {
            Ok(stream) => return Ok((stream, socket.clone())),
            Err(source) if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {}
            Err(source) if source.kind() == ErrorKind::PermissionDenied => {
                last = Some(ConnectError::Forbidden { socket: socket.clone(), instead: may_not(uri) });
            }
            Err(source) => last = Some(ConnectError::Socket { socket: socket.clone(), source }),
        }
    }
    let nobody = || {
        let socket = sockets.last().cloned().unwrap_or_default();
        ConnectError::Nobody { socket, instead: start_one(uri, &|path| Path::new(path).exists()) }
    };
    Err(last.unwrap_or_else(nobody))
}

fn may_not(uri: &Uri) -> &'static str {
    if uri.is_session || uri.socket.is_some() {
        "its owner may"
    } else {
        "members of the group libvirt may (`adduser USER libvirt`), and uri = \"qemu:///session\" needs no rights"
    }
}

/// What to install or to start.
fn start_one(uri: &Uri, is_there: &dyn Fn(&str) -> bool) -> String {
    if !DAEMONS.iter().any(|daemon| is_there(daemon)) {
        return "install Debian's packages libvirt-daemon-system and libvirt-daemon-driver-qemu".to_owned();
    }
    match (&uri.socket, uri.is_session) {
        (Some(_), _) => "start the libvirtd that is configured for it".to_owned(),
        (None, true) => "`/usr/sbin/libvirtd --daemon` starts one for this user".to_owned(),
        (None, false) => "`systemctl start libvirtd` starts it".to_owned(),
    }
}

/// Where libvirt's daemons listen: the one for a driver alone, then the one for all.
fn sockets(uri: &Uri) -> Vec<PathBuf> {
    if let Some(socket) = &uri.socket {
        return vec![socket.clone()];
    }
    let own = match uri.driver {
        Driver::Qemu => "virtqemud-sock",
        Driver::Xen => "virtxend-sock",
    };
    let folders = if uri.is_session { session_folders() } else { vec![PathBuf::from("/run/libvirt")] };
    folders.iter().flat_map(|folder| [folder.join(own), folder.join("libvirt-sock")]).collect()
}

/// A user's own libvirtd listens in the user's folder of the running system, or else in the cache below the home.
fn session_folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let of_system = PathBuf::from(format!("/run/user/{user}/libvirt"));
    own_home().map(|home| home.join(".cache/libvirt")).into_iter().chain([of_system]).collect()
}

/// The home of the user that we are, as the system knows it.
pub fn own_home() -> Option<PathBuf> {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    home_of(&users, rustix::process::geteuid().as_raw()).map(PathBuf::from)
}

fn home_of(users: &str, user: u32) -> Option<&str> {
    let user = user.to_string();
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (*fields.get(2)? == user).then(|| fields.get(5).copied())?
    })
}

/// Connects without waiting in the queue of a daemon that hangs.
fn within(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    let deadline = Instant::now() + limit;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let address = SocketAddrUnix::new(path)?;
    loop {
        match rustix::net::connect(&socket, &address) {
            Err(Errno::AGAIN) if Instant::now() < deadline => std::thread::sleep(CONNECT_POLL),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Err(ErrorKind::TimedOut.into()),
            connected => {
                connected?;
                break;
            }
        }
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// What is run at another host to reach its libvirt.
fn at_the_host(uri: &Uri) -> String {
    if let Some(socket) = &uri.socket {
        return netcat(socket);
    }
    // libvirt's own program knows all places. Without it there is the usual one of the system's daemon.
    let own = format!("virt-ssh-helper '{}'", uri.at_the_daemon());
    if uri.is_session {
        return format!("exec {own}");
    }
    let nc = netcat(Path::new("/run/libvirt/libvirt-sock"));
    format!("if command -v virt-ssh-helper > /dev/null; then exec {own}; fi; {nc}")
}

/// Connects a socket with the standard streams. Debian's `nc` must be asked to end when its input does.
fn netcat(socket: &Path) -> String {
    let socket = socket.to_string_lossy().replace('\'', r"'\''");
    format!("case \"$(nc -h 2>&1)\" in *-q*) exec nc -q0 -U '{socket}';; *) exec nc -U '{socket}';; esac")
}

fn ssh_words(host: &str, port: Option<u16>, command: &str) -> Vec<String> {
    let port = port.map(|port| ["-p".to_owned(), port.to_string()]);
    let words = SSH.iter().map(|word| (*word).to_owned()).chain(port.into_iter().flatten());
    words.chain(["--".to_owned(), host.to_owned(), command.to_owned()]).collect()
}

fn through_ssh(host: &str, port: Option<u16>, command: &str) -> Result<(UnixStream, Carrier), ConnectError> {
    let failing = |source: io::Error| ConnectError::Far { host: host.to_owned(), said: source.to_string() };
    let (ours, theirs) = UnixStream::pair().map_err(failing)?;
    let (stderr, printing) = Printed::pipe().map_err(failing)?;
    let launch = Launch::new(&ssh_words(host, port, command))
        .stdin(OwnedFd::from(theirs.try_clone().map_err(failing)?))
        .stdout(OwnedFd::from(theirs))
        .stderr(printing);
    Ok((ours, Carrier { process: Process::start(launch)?, stderr }))
}

impl Carrier {
    /// What ssh printed, if it has ended.
    pub fn last_words(&mut self) -> String {
        match self.process.wait(SSH_END_LIMIT) {
            Ok(Some(_)) => self.stderr.to_the_end().lines().last().unwrap_or_default().to_owned(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    fn of_socket(path: &Path) -> Uri {
        uri(&format!("qemu+unix:///system?socket={}", path.display()))
    }

    #[test]
    fn who_is_not_there_is_to_be_installed_or_started() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("none");
        let told = connect(&of_socket(&socket), CONNECT_LIMIT).unwrap_err().to_string();
        assert!(told.starts_with(&format!("no libvirtd listens at {}; ", socket.display())), "{told}");
        drop(UnixListener::bind(&socket).unwrap());
        let told = connect(&of_socket(&socket), CONNECT_LIMIT).unwrap_err();
        assert!(matches!(told, ConnectError::Nobody { .. }), "a socket without a listener: {told}");
        let instead = |text: &str, is_there: bool| start_one(&uri(text), &|_| is_there);
        assert!(instead("qemu:///system", false).contains("libvirt-daemon-system"));
        assert_eq!(instead("qemu:///system", true), "`systemctl start libvirtd` starts it");
        assert_eq!(instead("qemu:///session", true), "`/usr/sbin/libvirtd --daemon` starts one for this user");
    }

    #[test]
    fn a_socket_of_something_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("other");
        let listener = UnixListener::bind(&socket).unwrap();
        let other = std::thread::spawn(move || {
            use std::io::Write;
            listener.accept().unwrap().0.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        });
        let told = connect(&of_socket(&socket), CONNECT_LIMIT).unwrap_err().to_string();
        assert!(told.starts_with(&format!("what listens at {} does not ", socket.display())), "{told}");
        other.join().unwrap();
    }

    #[test]
    fn a_daemon_whose_queue_is_full_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("full");
        let address = SocketAddrUnix::new(&socket).unwrap();
        let listener = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&listener, &address).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let _waiting: Vec<UnixStream> = std::iter::from_fn(|| within(&socket, Duration::ZERO).ok()).take(8).collect();
        assert_eq!(within(&socket, CONNECT_POLL).unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn a_host_is_reached_by_words_without_questions() {
        let far = uri("qemu+ssh://root@far:2222/system");
        let Way::Ssh { host, port } = &far.way else { panic!("{far:?}") };
        let words = ssh_words(host, *port, &at_the_host(&far));
        assert_eq!(words[10..14], ["-p", "2222", "--", "root@far"]);
        assert!(words[14].contains("virt-ssh-helper 'qemu:///system'"), "{}", words[14]);
        assert!(words[14].ends_with("-U '/run/libvirt/libvirt-sock';; esac"), "{}", words[14]);
        let own = uri("qemu+ssh://far/system?socket=/tmp/a'b");
        assert!(at_the_host(&own).contains(r"-U '/tmp/a'\''b'"), "{}", at_the_host(&own));
        assert_eq!(home_of("root:x:0:0:root:/root:/bin/sh\nu:x:7:7::/home/u:/bin/sh\n", 7), Some("/home/u"));
    }
}
