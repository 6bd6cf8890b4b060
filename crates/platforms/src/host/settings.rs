//! The keys of a machine that already runs. Pure.

use crate::catalog::{Capabilities, DataHome, ImageUse};
use crate::order::MachineRequest;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Holds, Problem, keys, names};
use std::net::IpAddr;

keys! {
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    pub struct HostSettings {
        host: String, Holds::Text,
            "the machine, as ssh takes it: a name from your ssh configuration, user@name, or ssh://user@name:port";
        ssh_options: Vec<String> = "[]", Holds::Words, "further options for ssh, such as -J and a jump host";
        folder: String = "/var/tmp", Holds::Text,
            "a folder there, on the disk to be measured; bakeoff makes a folder of its own in it, and removes that at the end";
        server: ServerSource = "image", Holds::Choice(ServerSource::NAMES),
            "image copies the image's files there and runs their server; installed runs the server that is installed there";
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
    }
}

pub fn read(table: &Map<String, Value>) -> Result<HostSettings, Vec<Problem>> {
    settings::read(table, KEYS)
}

pub fn can(table: &Map<String, Value>) -> Capabilities {
    let is_installed = table.get("server").and_then(Value::as_str) == Some(ServerSource::Installed.name());
    let image = if is_installed { ImageUse::None } else { ImageUse::Tree };
    Capabilities { image, data: DataHome::Elsewhere, executes: true, starts_server: true }
}

/// Finds unsupported combinations.
pub fn check(table: &Map<String, Value>, request: &MachineRequest<'_>) -> Vec<Problem> {
    let settings = match read(table) {
        Ok(settings) => settings,
        Err(problems) => return problems,
    };
    let wrong = |path: &str, found: &str, expected: &str| Problem {
        path: path.to_owned(),
        found: format!("found \"{found}\""),
        expected: expected.to_owned(),
        nearest: None,
    };
    let mut problems = Vec::new();
    let HostSettings { host, folder, address, .. } = &settings;
    if host.starts_with('-') || host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        problems.push(wrong("host", host, "a name that ssh knows, without spaces and not beginning with \"-\""));
    }
    if !folder.starts_with('/') || folder.contains(['\n', '\0']) {
        problems.push(wrong("folder", folder, "an absolute path"));
    }
    if let Some(address) = address.as_deref().filter(|address| address.parse::<IpAddr>().is_err()) {
        problems.push(wrong("address", address, "an IP address"));
    }
    if request.count > 1 {
        let (path, expected) = ("kind".to_owned(), "a machine that is alone, because a host is one machine".to_owned());
        let found = format!("machine.count is {}", request.count);
        problems.push(Problem { path, found, expected, nearest: None });
    }
    problems
}
