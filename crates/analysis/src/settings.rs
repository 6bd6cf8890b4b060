//! Effective database settings side by side, as read back from the running servers.

use crate::gathered::{joined, text};
use crate::groups::{self, Group};
use crate::validity;
use record::plan::Cell;
use record::run::Run;
use record::trial::ServerFacts;
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
    let compared = groups::of_plan(&run.plan).into_iter().map(|group| side_by_side(run, group));
    compared.filter(|comparison| !comparison.contenders.is_empty()).collect()
}

fn side_by_side(run: &Run, Group { coordinates, cells }: Group<'_>) -> SettingsComparison {
    let servers = |cell: &Cell| validity::trials_of(run, cell.id).filter_map(|trial| trial.record.server.as_ref());
    let known: Vec<&Cell> = cells.into_iter().filter(|cell| servers(cell).next().is_some()).collect();
    let effective = |cell: &&Cell| joined(servers(cell).flat_map(|server| server.effective.clone()), " | ");
    let seen: Vec<BTreeMap<String, String>> = known.iter().map(effective).collect();
    let names: BTreeSet<&String> = seen.iter().flat_map(BTreeMap::keys).collect();
    let row = |name: &String| {
        let values: Vec<Option<String>> = seen.iter().map(|values| values.get(name).cloned()).collect();
        let differs = !PLACES.contains(&name.as_str()) && values.windows(2).any(|pair| pair[0] != pair[1]);
        SettingRow { name: name.clone(), values, differs }
    };
    let product = |server: &ServerFacts| format!("{} {}{PROFILE}{}", server.engine, server.version, server.profile);
    SettingsComparison {
        coordinates,
        contenders: known.iter().map(|cell| cell.contender.clone()).collect(),
        servers: known.iter().map(|cell| text(servers(cell).map(product), " | ")).collect(),
        settings: names.into_iter().map(row).collect(),
    }
}
