//! Which contenders a finding with values for each of them is about.

use super::{ContenderValue, FactDiffers, SharedValue, TableSums, UnequalWork, What};
use std::collections::BTreeSet;

impl What {
    /// Whether it is about these contenders together. A finding without values for each contender is.
    pub(crate) fn concerns(&self, contenders: &BTreeSet<&str>) -> bool {
        let apart = |facts: &[FactDiffers]| facts.iter().any(|fact| are_apart(&fact.values, contenders));
        match self {
            Self::SettingsDiffer { settings } => apart(settings),
            Self::SystemsDiffer { facts } => apart(facts),
            Self::StorageDiffers { values, .. }
            | Self::MachinesDiffer { values, .. }
            | Self::DurabilityDiffers { values }
            | Self::SendingDiffers { values } => are_apart(values, contenders),
            Self::ServersDiffer { servers } => have_several(servers, contenders),
            Self::LoadedDataDiffer { tables } => tables.iter().any(|table| is_unlike(table, contenders)),
            Self::WorkUnequal { work } | Self::DiskWorkUnequal { work } => {
                let both =
                    |one: &UnequalWork| [&one.baseline, &one.contender].map(|name| contenders.contains(name.as_str()));
                work.iter().any(|one| both(one) == [true; 2])
            }
            Self::HostBusyBesideOne { loud, quiet, .. } | Self::HostDiskBusyBesideOne { loud, quiet, .. } => {
                [loud, quiet].into_iter().any(|name| contenders.contains(name.as_str()))
            }
            _ => true,
        }
    }
}

fn are_apart(values: &[SharedValue], contenders: &BTreeSet<&str>) -> bool {
    let has_it = |value: &&SharedValue| value.contenders.iter().any(|name| contenders.contains(name.as_str()));
    values.iter().filter(has_it).count() > 1
}

fn have_several(values: &[ContenderValue], contenders: &BTreeSet<&str>) -> bool {
    let of_them = values.iter().filter(|one| contenders.contains(one.contender.as_str()));
    of_them.map(|one| &one.value).collect::<BTreeSet<_>>().len() > 1
}

fn is_unlike(table: &TableSums, contenders: &BTreeSet<&str>) -> bool {
    let lacks_it = table.without.iter().any(|name| contenders.contains(name.as_str()));
    let has_it = table.sums.iter().any(|one| contenders.contains(one.contender.as_str()));
    lacks_it && has_it || have_several(&table.sums, contenders)
}
