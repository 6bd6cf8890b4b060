//! The plan of a run, decided completely before anything starts (`plan.json`).

use crate::ablation::Ablation;
use crate::durability::DurabilityPlan;
use crate::precision::Precision;
use crate::settings::{MachineException, Settings};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Nobody waits for a run with more trials, and a mistake in a sweep is easily made.
pub const MOST_TRIALS: u64 = 10_000;

/// A study after every override is applied: cells, and the order in which their trials run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub format: u32,
    pub question: String,
    /// Name of the study, from its file name; part of the run's folder name.
    pub study: String,
    pub seed: u64,
    /// The number so far: a run that asks for a precision adds some.
    pub blocks: u32,
    /// Whether each contender is compared with itself. Absent from plans that compare contenders with each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
    /// Whether it was only rehearsed: no machine and no server existed, and no figure means anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// The share by which throughputs may differ and still be called equivalent. Absent if the study gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Codes of findings that the study accepts, each with its reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accept: BTreeMap<String, String>,
    /// How the durability of each cell is audited. Absent if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<DurabilityPlan>,
    /// The single changes whose effects the study asks for. Absent if it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Ablation>,
    /// The texts of recipes that are not bakeoff's own, by the image that a cell names. Absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recipes: BTreeMap<String, String>,
    #[serde(deserialize_with = "cells")]
    pub cells: Vec<Cell>,
    pub trials: Vec<PlannedTrial>,
    /// What a reader of numbers must know about the plan's workloads, once for each kind of workload.
    #[serde(default)]
    pub workloads: Vec<WorkloadNote>,
}

/// The origin of a workload and its deviations from it; printed in every report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkloadNote {
    /// The workload's name in a study file, for example `order-entry`.
    pub kind: String,
    /// What it is derived from, and which numbers its own must not be compared with.
    pub notice: String,
    /// One sentence each.
    pub deviations: Vec<String>,
}

/// One combination of contender, scenario and sweep values, with every key of the study decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Stable within a plan, counted from 0.
    pub id: u32,
    pub contender: String,
    /// Whether this contender is the baseline.
    pub baseline: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Swept keys and the values they take in this cell, in the order of the study.
    #[serde(default)]
    pub sweep: Map<String, Value>,
    pub settings: Settings,
}

impl Cell {
    /// What distinguishes this cell from others of its contender, for headings ("1x2, workload.warehouses = 50").
    pub fn coordinates(&self) -> String {
        let swept = self.sweep.iter().map(|(key, value)| format!("{key} = {value}"));
        self.scenario.iter().cloned().chain(swept).collect::<Vec<_>>().join(", ")
    }

    /// How many machines run side by side in each trial.
    pub fn machines(&self) -> u32 {
        self.settings.machine().count
    }

    /// How many databases each machine has.
    pub fn instances(&self) -> u16 {
        self.settings.engine().instances
    }

    /// Whether each machine's databases are those of one server.
    pub fn shares_server(&self) -> bool {
        self.settings.engine().shared_server
    }

    /// The number of the machine that is not measured but stands beside the measured ones, if there is one.
    pub fn bystander(&self) -> Option<u32> {
        self.exception().filter(|exception| exception.is_bystander()).map(|exception| exception.number)
    }

    /// The one of several machines that differs, if there is one.
    pub fn exception(&self) -> Option<&MachineException> {
        self.settings.machine().exception.as_ref()
    }
}

/// Reads cells one by one, so that an error names its cell.
fn cells<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Cell>, D::Error> {
    let cell = |(place, cell): (usize, Value)| {
        serde_json::from_value(cell).map_err(|error| D::Error::custom(format!("cells[{place}]: {error}")))
    };
    Vec::deserialize(deserializer)?.into_iter().enumerate().map(cell).collect()
}

/// One execution of a cell. Trials are listed in the order in which they run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Counted from 1; names the folder `trials/0001`.
    pub id: u32,
    /// Counted from 1. A block holds each cell once, in shuffled order.
    pub block: u32,
    pub cell: u32,
    /// Seed of everything random in this trial. All cells of a block share it, so that they face the same inputs.
    pub seed: u64,
    /// The one of its contender's several hosts that it runs on. Absent if there are not several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}
