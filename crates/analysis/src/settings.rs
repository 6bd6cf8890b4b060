//! Effective database settings side by side, as read back from the running servers.

use crate::groups;
use crate::validity;
use record::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Between a server's version and the name of its profile.
pub(crate) const PROFILE: &str = ", profile ";

/// Settings that say where a server is, and nothing about how it works.
pub(crate) const PLACES: [&str; 17] = [
    "bind_address",
    "config_file",
    "data_directory",
    "datadir",
    "external_pid_file",
    "hba_file",
    "hostname",
    "ident_file",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "listen_addresses",
    "log_error",
    "pid_file",
    "port",
    "server_id",
    "socket",
    "unix_socket_directories",
];

/// Settings of all contenders under the same scenario and swept values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsComparison {
    pub coordinates: String,
    /// Contenders whose servers reported settings, in the order of the columns.
    pub contenders: Vec<String>,
    /// Engine, version and profile of each, as one text.
    pub servers: Vec<String>,
    pub settings: Vec<SettingRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingRow {
    pub name: String,
    /// One value per contender; several joined if its trials differ; `None` if it has no such setting.
    pub values: Vec<Option<String>>,
    /// Always false for a setting that only says where the server is.
    pub differs: bool,
}

pub fn all(run: &Run) -> Vec<SettingsComparison> {
    let groups = groups::of_plan(&run.plan).into_iter();
    let compared = groups.map(|group| {
        let cells = group.cells.iter().map(|cell| (cell.contender.clone(), of_cell(run, cell.id)));
        let known: Vec<(String, Seen)> = cells.filter(|(_, seen)| !seen.servers.is_empty()).collect();
        side_by_side(group.coordinates, &known)
    });
    compared.filter(|comparison| !comparison.contenders.is_empty()).collect()
}

/// Everything that the servers of a cell's trials reported, usually the same each time.
#[derive(Default)]
struct Seen {
    servers: BTreeSet<String>,
    values: BTreeMap<String, BTreeSet<String>>,
}

fn of_cell(run: &Run, cell: u32) -> Seen {
    let mut seen = Seen::default();
    for server in validity::trials_of(run, cell).filter_map(|trial| trial.record.server.as_ref()) {
        seen.servers.insert(format!("{} {}{PROFILE}{}", server.engine, server.version, server.profile));
        for (name, value) in &server.effective {
            seen.values.entry(name.clone()).or_default().insert(value.clone());
        }
    }
    seen
}

fn side_by_side(coordinates: String, known: &[(String, Seen)]) -> SettingsComparison {
    let names: BTreeSet<&String> = known.iter().flat_map(|(_, seen)| seen.values.keys()).collect();
    let row = |name: &String| {
        let values: Vec<Option<String>> = known.iter().map(|(_, seen)| seen.values.get(name).map(joined)).collect();
        let differs = !PLACES.contains(&name.as_str()) && values.windows(2).any(|pair| pair[0] != pair[1]);
        SettingRow { name: name.clone(), values, differs }
    };
    SettingsComparison {
        coordinates,
        contenders: known.iter().map(|(contender, _)| contender.clone()).collect(),
        servers: known.iter().map(|(_, seen)| joined(&seen.servers)).collect(),
        settings: names.into_iter().map(row).collect(),
    }
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().cloned().collect::<Vec<_>>().join(" | ")
}
