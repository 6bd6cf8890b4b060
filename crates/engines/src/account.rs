//! The account that a server runs under. PostgreSQL refuses to run as root, and MariaDB needs an option for it.
//!
//! This reads `/etc/passwd` itself: the C library's lookups load code at run time, which a static binary cannot.

use crate::server::ServerError;
use machines::process::Launch;
use std::fs;
use std::path::Path;

const PASSWORD_FILE: &str = "/etc/passwd";

/// The account to change to, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// We are not root, so the server runs under our own account.
    Ours,
    Other {
        user: u32,
        group: u32,
    },
}

impl Account {
    /// If we are root, the first of `names` that exists.
    pub fn choose(names: &[&str]) -> Result<Self, ServerError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Ours);
        }
        let doing = format!("looking for the account {} in {PASSWORD_FILE}", names.join(" or "));
        let file = fs::read_to_string(PASSWORD_FILE);
        let file = file.map_err(|source| ServerError::Io { doing: doing.clone(), source })?;
        let account = names.iter().find_map(|name| find(&file, name));
        account.ok_or_else(|| ServerError::Io { doing, source: std::io::ErrorKind::NotFound.into() })
    }

    pub fn own(self, path: &Path) -> Result<(), ServerError> {
        let Self::Other { user, group } = self else { return Ok(()) };
        std::os::unix::fs::chown(path, Some(user), Some(group)).map_err(|source| ServerError::Io {
            doing: format!("giving {} to the server's account", path.display()),
            source,
        })
    }

    pub fn run(self, launch: Launch) -> Launch {
        match self {
            Self::Ours => launch,
            Self::Other { user, group } => launch.account(user, group),
        }
    }
}

/// The entry `name` of a password file: name, password, user, group, and fields that do not matter here.
fn find(file: &str, name: &str) -> Option<Account> {
    file.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let user = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        Some(Account::Other { user, group })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_that_very_name_is_found() {
        let file = "root:x:0:0:root:/root:/bin/bash\npostgresql:x:7:7::/:\npostgres:x:101:104:admin:/var/lib:/bin/sh\n";
        assert_eq!(find(file, "postgres"), Some(Account::Other { user: 101, group: 104 }));
        assert_eq!(find(file, "mysql"), None);
        assert_eq!(find("postgres:x:none:104::/:\n", "postgres"), None);
    }
}
