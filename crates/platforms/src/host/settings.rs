//! The keys of a machine that already runs. Pure.

use crate::order::MachineRequest;
use serde::Deserialize;
use settings::{Holds, Problem, keys, names};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Where the binary of a host that only drives load is.
const LOAD_FOLDER: &str = "/var/tmp";

keys! {
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    pub struct HostSettings {
        host: Option<String> = "", Holds::Text,
            "the machine, as ssh takes it: a name from your ssh configuration, user@name, or ssh://user@name:port";
        hosts: Vec<String> = "[]", Holds::Words,
            "several machines of one kind, in place of host: each block runs on the next one, and machines that nobody else \
             needs run their blocks at the same time";
        ssh_options: Vec<String> = "[]", Holds::Words, "further options for ssh, such as -J and a jump host";
        folder: String = "/var/tmp", Holds::Text,
            "a folder there, on the disk to be measured; bakeoff makes a folder of its own in it, and removes that at the end";
        server: ServerSource = "image", Holds::Choice(ServerSource::NAMES),
            "image copies the image's files there and runs their server; installed runs the server that is installed there; \
             running uses one that runs there already, with its own settings";
        database: Option<String> = "", Holds::Text,
            "the database of a server that runs already, as it is reached from that host: postgres://user@127.0.0.1/name or \
             mysql://user@127.0.0.1/name. Give its password as you give it to bakeoff drive";
        address: Option<String> = "", Holds::Text,
            "the address at which the load generator reaches the server, for load.placement = \"outside\"; unless given, the one \
             that ssh reaches";
    }
}

names! {
    /// Where the database server comes from.
    pub enum ServerSource {
        Image => "image",
        Installed => "installed",
        Running => "running",
    }
}

impl HostSettings {
    /// The machine, as ssh takes it. Of several, a trial has one.
    pub fn name(&self) -> &str {
        self.host.as_deref().unwrap_or_default()
    }

    /// Of a host that only drives load.
    pub fn of_load(host: &str, ssh_options: &[String]) -> Self {
        Self {
            host: Some(host.to_owned()),
            hosts: Vec::new(),
            ssh_options: ssh_options.to_vec(),
            folder: LOAD_FOLDER.to_owned(),
            server: ServerSource::Installed,
            database: None,
            address: None,
        }
    }
}

/// Whether a URL has a password before its host or among its parameters.
fn has_password(url: &str) -> bool {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let account = address.rsplit_once('@').map_or("", |(account, _)| account);
    let account = account.split_once("://").map_or(account, |(_, account)| account);
    account.contains(':') || parameters.split('&').any(|parameter| parameter.starts_with("password="))
}

/// A contender has one host or several.
fn which_hosts(host: &str, hosts: &[String]) -> Vec<Problem> {
    let (path, named) =
        if hosts.is_empty() { ("host", vec![host]) } else { ("hosts", hosts.iter().map(String::as_str).collect()) };
    match (host.is_empty(), hosts.is_empty()) {
        (true, true) => vec![Problem::new("host", "missing", "a name that ssh knows; or hosts, several of them")],
        (false, false) => vec![Problem::new("hosts", "given", "either host or hosts")],
        _ => of_names(path, &named),
    }
}

/// Problems of names of hosts, which stand at `path` of a table or a study.
pub fn of_names(path: &str, names: &[&str]) -> Vec<Problem> {
    let problem = |found: String, expected: &str| Some(Problem::new(path, found, expected));
    let mut seen = BTreeSet::new();
    let of_name = |name: &str| {
        if name.is_empty() || name.starts_with('-') || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            let expected = "a name that ssh knows, without spaces and not beginning with \"-\"";
            return problem(format!("found \"{name}\""), expected);
        }
        if seen.insert(name.to_owned()) { None } else { problem(format!("found \"{name}\" twice"), "each host once") }
    };
    names.iter().copied().filter_map(of_name).collect()
}

/// Finds unsupported combinations.
pub fn check(settings: &HostSettings, request: &MachineRequest<'_>) -> Vec<Problem> {
    let wrong = |path: &str, found: &str, expected: &str| Problem::new(path, format!("found \"{found}\""), expected);
    let mut problems = Vec::new();
    let HostSettings { host, hosts, folder, address, .. } = settings;
    problems.extend(which_hosts(host.as_deref().unwrap_or_default(), hosts));
    if !folder.starts_with('/') || folder.contains(['\n', '\0']) {
        problems.push(wrong("folder", folder, "an absolute path"));
    }
    let database = match (settings.server, settings.database.as_deref()) {
        (ServerSource::Running, None) => {
            Some(("missing", "the database of the server that runs there, such as postgres://bench@127.0.0.1/bench"))
        }
        // It is not repeated: it would be shown.
        (ServerSource::Running, Some(url)) if has_password(url) => Some((
            "found a password in it",
            "a URL without a password, because records keep it; give the password by PGPASSWORD, MYSQL_PWD or the \
             client's own file",
        )),
        (ServerSource::Image | ServerSource::Installed, Some(_)) => {
            Some(("given", "this key only beside server = \"running\""))
        }
        _ => None,
    };
    problems.extend(database.map(|(found, expected)| Problem::new("database", found, expected)));
    if let Some(address) = address.as_deref().filter(|address| address.parse::<IpAddr>().is_err()) {
        problems.push(wrong("address", address, "an IP address"));
    }
    if request.count > 1 {
        let expected = "a machine that is alone, because a host is one machine";
        problems.push(Problem::new("kind", format!("machine.count is {}", request.count), expected));
    }
    problems
}
