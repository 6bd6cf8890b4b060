//! Who is there: an agent, and the list of all.

use crate::arguments::fleet::{FleetAgentOptions, FleetStatusOptions};
use crate::display::{print, say};
use crate::exit::{EndedWith, Exit};
use crate::fleet::{build, connect, read};
use anyhow::{Context, Result};
use fleet::agent::{self, Me};
use fleet::bridge::SeenAgent;
use fleet::{AgentStarter, Build, FleetError};
use serde_json::json;
use std::fmt::Write as _;

/// A clock that is further off than this is reported.
const OFF_NS: u64 = 1_000_000_000;

pub fn agent(options: &FleetAgentOptions) -> Result<Exit> {
    let arrangement = read(&options.fleet.file)?;
    let name = options.name.clone().map_or_else(own_name, Ok)?;
    let me = Me { name, build: build()?, machine: platforms::host::there::machine() };
    let served = agent::serve(&arrangement, &me, &mut |text| say(text));
    if let Some(folder) = &options.remove {
        std::fs::remove_dir_all(folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    match served {
        Ok(agent::AgentEnd::Asked | agent::AgentEnd::Signal) => Ok(Exit::Done),
        Ok(agent::AgentEnd::Alone) => {
            Err(EndedWith::host("the agent has ended, because its server stayed away").into())
        }
        Err(error @ (FleetError::Arrangement(_) | FleetError::Login { .. })) => {
            Err(EndedWith::bad_input(error.to_string()).into())
        }
        Err(error) => Err(EndedWith::host(error.to_string()).into()),
    }
}

fn own_name() -> Result<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").context("reading this host's name")?;
    Ok(name.trim().to_owned())
}

pub fn status(options: &FleetStatusOptions) -> Result<Exit> {
    let arrangement = read(&options.fleet.file)?;
    let seen = connect(&arrangement)?.roll_call()?;
    let ours = build()?;
    if options.json {
        print(&format!("{:#}\n", json!(seen.iter().map(|seen| as_json(seen, &ours)).collect::<Vec<_>>())));
        return Ok(Exit::Done);
    }
    if seen.is_empty() {
        say(&format!("no agent is in the fleet {}", arrangement.name));
        return Ok(Exit::Done);
    }
    print(&table(&seen, &ours)?);
    if let Some(AgentStarter::Ssh { hosts, .. }) = &arrangement.placement {
        let missing = missing(hosts, &seen);
        if !missing.is_empty() {
            print(&format!("! no agent is on {}\n", missing.join(", ")));
        }
    }
    Ok(Exit::Done)
}

/// Those of these hosts that have no agent.
pub fn missing<'a>(hosts: &'a [String], seen: &[SeenAgent]) -> Vec<&'a str> {
    let is_there = |host: &str| seen.iter().any(|seen| seen.present.name == host);
    hosts.iter().map(String::as_str).filter(|host| !is_there(host)).collect()
}

fn as_json(seen: &SeenAgent, ours: &Build) -> serde_json::Value {
    json!({
        "name": seen.present.name,
        "machine": seen.present.machine,
        "cpus": seen.present.cpus,
        "memory_bytes": seen.present.memory_bytes,
        "load": seen.present.load,
        "clock_offset_ns": seen.clock_offset_ns,
        "clock_error_ns": seen.clock_error_ns,
        "version": seen.present.build.version,
        "same_build": seen.present.build == *ours,
        "lines": seen.present.lines,
    })
}

fn table(seen: &[SeenAgent], ours: &Build) -> Result<String> {
    let widest = seen.iter().map(|seen| seen.present.name.len()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:<widest$}  {:>4}  {:>9}  {:>5}  {:>22}  {:>5}  version\n",
        "host", "CPUs", "memory", "load", "clock", "lines"
    );
    for SeenAgent { present, clock_offset_ns, clock_error_ns } in seen {
        let milliseconds = |ns: f64| ns / 1e6;
        let clock =
            format!("{:+.3} ± {:.3} ms", milliseconds(*clock_offset_ns as f64), milliseconds(*clock_error_ns as f64));
        let memory = study::roughly(present.memory_bytes);
        let version = if present.build == *ours {
            present.build.version.clone()
        } else {
            format!("{}: a different build; runs will refuse it", present.build)
        };
        writeln!(
            text,
            "{:<widest$}  {:>4}  {memory:>9}  {:>5.2}  {clock:>22}  {:>5}  {version}",
            present.name, present.cpus, present.load, present.lines
        )?;
    }
    for SeenAgent { present, clock_offset_ns, .. } in seen {
        if clock_offset_ns.unsigned_abs() > OFF_NS {
            let seconds = *clock_offset_ns as f64 / 1e9;
            writeln!(
                text,
                "! the time of day on {} is off by {seconds:+.1} s; runs do not depend on it",
                present.name
            )?;
        }
    }
    for (place, SeenAgent { present, .. }) in seen.iter().enumerate() {
        if let Some(other) = seen[..place].iter().find(|other| other.present.machine == present.machine) {
            writeln!(text, "! {} and {} refer to the same machine", other.present.name, present.name)?;
        }
    }
    Ok(text)
}
