//! `bakeoff init`: writes a first study, from flags or from answers to four questions.

use crate::arguments::{Compared, InitOptions};
use crate::display::{print, say};
use crate::exit::{EndedWith, Exit};
use crate::host;
use anyhow::{Context, Result};
use clap::ValueEnum;
use engines::version::ServerVersion;
use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write as _};
use std::path::Path;

const STANDARD_OUTPUT: &str = "-";
const SQLITE: &str = "sqlite";
/// The defaults.
const ENGINE: &str = "postgres";
const WAREHOUSES: u32 = 1;
const MINUTES: u32 = 5;

/// Seconds of a trial outside the load: starting, checking, stopping.
const AROUND_S: u32 = 15;
/// An interval needs three blocks; five make a useful one.
const FEWEST_BLOCKS: u32 = 5;

/// What the study should be.
struct Wish {
    engine: String,
    compared: Compared,
    warehouses: u32,
    minutes: u32,
}

pub fn init(options: &InitOptions) -> Result<Exit> {
    if options.file != Path::new(STANDARD_OUTPUT) && options.file.exists() {
        let file = options.file.display();
        return Err(EndedWith::bad_input(format!("{file} is there already; name another file")).into());
    }
    let InitOptions { engine, compare, warehouses, minutes, .. } = options;
    let nothing_said = engine.is_none() && compare.is_none() && warehouses.is_none() && minutes.is_none();
    let wish = if nothing_said && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        asked()?
    } else {
        Wish {
            engine: engine.clone().unwrap_or_else(|| ENGINE.to_owned()),
            compared: compare.unwrap_or(Compared::NativeVm),
            warehouses: warehouses.unwrap_or(WAREHOUSES),
            minutes: minutes.unwrap_or(MINUTES),
        }
    };
    let study = study(&wish)?;
    if options.file == Path::new(STANDARD_OUTPUT) {
        print(&study);
        return Ok(Exit::Done);
    }
    let file = options.file.display();
    let written = OpenOptions::new().write(true).create_new(true).open(&options.file);
    written.and_then(|mut new| new.write_all(study.as_bytes())).with_context(|| format!("writing {file}"))?;
    print(&format!(
        "{file} is written. Next:\n  bakeoff plan {file}    what it measures, how long, and any problem\n  bakeoff run {file}\n"
    ));
    Ok(Exit::Done)
}

fn asked() -> Result<Wish> {
    let compared = Compared::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let compared: Vec<String> = compared.map(|value| value.get_name().to_owned()).collect();
    let engines: Vec<String> = engines();
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    Ok(Wish {
        engine: ask("Which database", &engines.join(", "), ENGINE, |text| {
            engines.iter().find(|engine| *engine == text).cloned()
        })?,
        compared: ask("What is compared", &compared.join(", "), &compared[0], |text| {
            Compared::from_str(text, false).ok()
        })?,
        warehouses: ask("How many warehouses", "1 has about 100 MB of data", &WAREHOUSES.to_string(), number)?,
        minutes: ask(
            "How many minutes may it take",
            "more of them show smaller differences",
            &MINUTES.to_string(),
            number,
        )?,
    })
}

/// Asks until the answer is valid; an empty answer means the default.
fn ask<T>(question: &str, hint: &str, default: &str, read: impl Fn(&str) -> Option<T>) -> Result<T> {
    loop {
        let mut out = std::io::stderr();
        write!(out, "{question} ({hint}) [{default}]? ").and_then(|()| out.flush()).context("asking")?;
        let mut answer = String::new();
        if std::io::stdin().read_line(&mut answer).context("reading an answer")? == 0 {
            return Err(std::io::Error::from(ErrorKind::UnexpectedEof)).context("reading an answer");
        }
        let answer = answer.trim();
        match read(if answer.is_empty() { default } else { answer }) {
            Some(answer) => return Ok(answer),
            None => say(&format!("\"{answer}\" is none of these: {hint}")),
        }
    }
}

/// Engines that a machine of ours can run.
pub fn engines() -> Vec<String> {
    engines::catalog::ENGINES.iter().map(|entry| entry.kind.to_owned()).collect()
}

/// The versions of an engine's server that there are images of, the oldest first.
fn versions(engine: &str) -> Vec<ServerVersion> {
    let recipes = images::catalog(None).unwrap_or_default();
    let recipes = recipes.iter().filter(|recipe| recipe.engine.as_deref() == Some(engine));
    let mut versions: Vec<ServerVersion> =
        recipes.filter_map(|recipe| ServerVersion::asked(recipe.version.as_deref()?)).collect();
    versions.sort();
    versions
}

/// A contender for each version.
fn of_versions(engine: &str) -> Result<(u32, String)> {
    let versions = versions(engine);
    if versions.len() < 2 {
        let several: Vec<String> = engines().into_iter().filter(|engine| self::versions(engine).len() > 1).collect();
        let why =
            format!("there is one version of {engine}, and nothing to compare it with; of these there are more: ");
        return Err(EndedWith::bad_input(why + &several.join(", ")).into());
    }
    let contender = |(place, version): (usize, &ServerVersion)| {
        let baseline = if place == 0 { BASELINE } else { "" };
        format!(
            "\n[[contender]]\nname     = \"{engine}-{version}\"\nplatform = {{ kind = \"native\" }}\n\
             engine   = {{ version = \"{version}\" }}\n{baseline}"
        )
    };
    Ok((u32::try_from(versions.len())?, versions.iter().enumerate().map(contender).collect()))
}

fn study(wish: &Wish) -> Result<String> {
    let Wish { engine, compared, warehouses, minutes } = wish;
    let (question, (trials_of_a_block, contenders)) = match compared {
        Compared::NativeVm => ("What does a virtual machine cost this database?", (2, NATIVE_VM.to_owned())),
        Compared::DiskCache => {
            ("What does the disk's cache mode change for this database in a VM?", (2, DISK_CACHE.to_owned()))
        }
        Compared::Versions => ("What do newer versions change for this database?", of_versions(engine)?),
    };
    let (warmup, measure) = if *minutes < 10 { (3, 10) } else { (10, 30) };
    let each_s = trials_of_a_block * (warmup + measure + AROUND_S);
    let blocks = (minutes.saturating_mul(60) / each_s).max(FEWEST_BLOCKS);
    let memory = if engine == SQLITE { "1GiB" } else { "2GiB" };
    let disk = 4_u32.saturating_add(warehouses / 4);
    let vcpus = host::cpus().map_or(1, |cpus| cpus.len()).clamp(1, 2);
    Ok(format!(
        r#"# `bakeoff list load` and `bakeoff list ENTRY` show every key with its default.
question = "{question}"
blocks   = {blocks}              # each has one trial of each contender; more blocks show smaller differences

[machine]                  # the same for every contender
vcpus  = {vcpus}
memory = "{memory}"
disk   = {{ size = "{disk}GiB" }}

[engine]
kind = "{engine}"

[workload]
kind       = "order-entry" # derived from TPC-C; bakeoff list workload shows others
warehouses = {warehouses}              # about 100 MB of data each

[load]
placement = "inside"       # the load runs beside the server, without a network between them
clients   = 2              # each works without pauses
warmup    = "{warmup}s"
measure   = "{measure}s"
{contenders}"#
    ))
}

const BASELINE: &str = "baseline = true            # the others are compared with this one\n";

const NATIVE_VM: &str = r#"
[[contender]]
name     = "native"
platform = { kind = "native" }
baseline = true            # the others are compared with this one

[[contender]]
name     = "vm"            # accelerator = "kvm" refuses to run it emulated
platform = { kind = "qemu", accelerator = "auto" }
"#;

const DISK_CACHE: &str = r#"
[[contender]]
name     = "direct"
platform = { kind = "qemu", disk = { cache = "none" } }
baseline = true            # the others are compared with this one

[[contender]]
name     = "host-cache"    # the host's memory is a cache of the guest's disk
platform = { kind = "qemu", disk = { cache = "writeback" } }
"#;
