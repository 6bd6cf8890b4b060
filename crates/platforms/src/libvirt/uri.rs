//! libvirt's URIs, as far as machines can be made there. Pure.
//!
//! `qemu:///system`, `qemu:///session`, `qemu+unix:///system?socket=/path`, `qemu+ssh://user@host:port/system`, and the
//! same with `xen`.

use settings::nearest;
use std::path::PathBuf;

const DRIVERS: [&str; 2] = ["qemu", "xen"];
const WAYS: [&str; 2] = ["unix", "ssh"];
const SCOPES: [&str; 2] = ["system", "session"];
/// Drivers that libvirt has and bakeoff makes no machines with.
const OTHERS: [&str; 10] = ["test", "lxc", "esx", "vpx", "vz", "bhyve", "hyperv", "vbox", "ch", "openvz"];
pub const EXAMPLES: &str =
    "qemu:///system, qemu:///session, qemu+unix:///system?socket=/PATH or qemu+ssh://USER@HOST/system";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    Qemu,
    Xen,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri {
    /// As the user wrote it.
    pub text: String,
    pub driver: Driver,
    /// Served by the user's own libvirtd, without rights of root.
    pub is_session: bool,
    pub way: Way,
    /// The socket that libvirtd listens at, if it is not at a usual place.
    pub socket: Option<PathBuf>,
}

/// How libvirt is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// On this host.
    Socket,
    /// On another host, through the system's `ssh`.
    Ssh { host: String, port: Option<u16> },
}

/// Why a text is no URI that machines are made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriProblem {
    pub why: String,
    /// The nearest right thing.
    pub nearest: Option<String>,
}

impl Uri {
    pub fn parse(text: &str) -> Result<Self, UriProblem> {
        let wrong = |why: String, nearest: Option<String>| UriProblem { why, nearest };
        let Some((scheme, rest)) = text.split_once("://") else {
            let near = nearest(text, ["qemu:///system", "qemu:///session", "xen:///system"]).map(str::to_owned);
            let near = near.or_else(|| word(text, &SCOPES).map(|scope| format!("qemu:///{scope}")));
            return Err(wrong("it has no \"://\"".to_owned(), near));
        };
        let (driver_word, way_word) = scheme.split_once('+').unwrap_or((scheme, "unix"));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, scope) = place.split_once('/').unwrap_or((place, ""));
        let driver = match driver_word {
            "qemu" => Driver::Qemu,
            "xen" => Driver::Xen,
            other if OTHERS.contains(&other) => {
                let why = format!("bakeoff makes no machines with libvirt's driver \"{other}\"");
                return Err(wrong(why, Some(format!("qemu:///{}", word(scope, &SCOPES).unwrap_or("system")))));
            }
            other => {
                let near = word(other, &DRIVERS).map(|driver| text.replacen(other, driver, 1));
                return Err(wrong(format!("libvirt has no driver \"{other}\""), near));
            }
        };
        // "qemu+ssh://host/system" names a host; so does "qemu://host/system", which would use TLS.
        let way = match (way_word, host) {
            ("unix", "") => Way::Socket,
            ("unix", host) => {
                let near = format!("{driver_word}+ssh://{host}/{}", word(scope, &SCOPES).unwrap_or("system"));
                return Err(wrong(format!("another host ({host}) is reached through ssh only"), Some(near)));
            }
            ("ssh", "") => return Err(wrong("it names no host".to_owned(), None)),
            ("ssh", host) => ssh(host).ok_or_else(|| wrong(format!("\"{host}\" is no host"), None))?,
            (other, _) => {
                let near = word(other, &WAYS).unwrap_or("ssh");
                let why = format!("libvirt is reached by a socket or through ssh, not by \"{other}\"");
                return Err(wrong(why, Some(text.replacen(&format!("+{other}"), &format!("+{near}"), 1))));
            }
        };
        if !SCOPES.contains(&scope) || (driver == Driver::Xen && scope == "session") {
            let near = if driver == Driver::Xen { Some("system") } else { word(scope, &SCOPES) };
            let near =
                near.map(|near| format!("{scheme}://{host}/{near}{}{query}", if query.is_empty() { "" } else { "?" }));
            return Err(wrong(format!("it ends in \"{scope}\" instead of \"system\" or \"session\""), near));
        }
        let socket = socket(query).map_err(|why| wrong(why, None))?;
        Ok(Self { text: text.to_owned(), driver, is_session: scope == "session", way, socket })
    }

    /// The URI as libvirtd itself knows it: how it was reached is no part of that.
    pub fn at_the_daemon(&self) -> String {
        let driver = match self.driver {
            Driver::Qemu => "qemu",
            Driver::Xen => "xen",
        };
        format!("{driver}:///{}", if self.is_session { "session" } else { "system" })
    }

    pub fn is_here(&self) -> bool {
        self.way == Way::Socket
    }
}

fn word<'a>(text: &str, known: &[&'a str]) -> Option<&'a str> {
    nearest(text, known.iter().copied())
}

/// "user@host:22". A name that begins with a hyphen would be an option for ssh.
fn ssh(text: &str) -> Option<Way> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "@.-_:[]".contains(letter);
    let is_host = !host.is_empty() && !host.starts_with('-') && !host.ends_with('@') && host.chars().all(is_name);
    is_host.then(|| Way::Ssh { host: host.to_owned(), port })
}

/// The only parameter that is known.
fn socket(query: &str) -> Result<Option<PathBuf>, String> {
    let mut socket = None;
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("socket", path)) if path.starts_with('/') => socket = Some(PathBuf::from(path)),
            Some(("socket", path)) => return Err(format!("its socket \"{path}\" is no absolute path")),
            _ => return Err(format!("\"{part}\" is not known; the only parameter is socket=/PATH")),
        }
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(text: &str) -> Option<String> {
        Uri::parse(text).unwrap_err().nearest
    }

    #[test]
    fn each_form_is_understood() {
        let system = Uri::parse("qemu:///system").unwrap();
        assert!(system.is_here() && !system.is_session && system.socket.is_none());
        assert!(Uri::parse("qemu:///session").unwrap().is_session);
        let own = Uri::parse("qemu+unix:///system?socket=/tmp/own/libvirt-sock").unwrap();
        assert_eq!(own.socket.as_deref(), Some(std::path::Path::new("/tmp/own/libvirt-sock")));
        assert_eq!(own.at_the_daemon(), "qemu:///system");
        let far = Uri::parse("qemu+ssh://root@far.example:2222/session").unwrap();
        assert_eq!(far.way, Way::Ssh { host: "root@far.example".to_owned(), port: Some(2222) });
        assert!(!far.is_here());
        assert_eq!(Uri::parse("xen:///system").unwrap().driver, Driver::Xen);
    }

    #[test]
    fn what_is_not_understood_has_a_right_neighbour() {
        for (wrong, right) in [
            ("qemu:///sytem", "qemu:///system"),
            ("qemu:/system", "qemu:///system"),
            ("qeum:///system", "qemu:///system"),
            ("system", "qemu:///system"),
            ("qemu+shs://root@far/system", "qemu+ssh://root@far/system"),
            ("qemu+tls://far/system", "qemu+ssh://far/system"),
            ("qemu://far/system", "qemu+ssh://far/system"),
            ("lxc:///system", "qemu:///system"),
            ("xen:///session", "xen:///system"),
        ] {
            assert_eq!(near(wrong).as_deref(), Some(right), "{wrong}");
        }
        for nothing in ["", "http://far/system", "qemu+ssh:///system", "qemu+ssh://-oProxyCommand=x/system"] {
            assert_eq!(near(nothing), None, "{nothing}");
        }
        assert!(Uri::parse("qemu:///system?socket=relative").unwrap_err().why.contains("absolute"));
        assert!(Uri::parse("qemu:///system?no_verify=1").unwrap_err().why.contains("socket=/PATH"));
    }
}
