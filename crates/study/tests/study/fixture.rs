//! Catalogs of a few invented entries, so that these tests do not depend on real ones, and a study to vary.

use images::{KernelChoice, Recipe};
use machines::machine::MachineError;
use platforms::capabilities::{Capabilities, ImageUse, of_an_image};
use platforms::entry::PlatformSettings;
use platforms::huge_pages::HugePages;
use platforms::order::MachineRequest;
use platforms::placement::UsableCpus;
use platforms::platform::{OpenOrder, Platform};
use record::plan::{Plan, WorkloadNote};
use serde_json::{Map, Value};
use settings::{Holds, Key, Problem};
use std::sync::Arc;
use study::{Against, Catalogs, FindingCode, Host, Kind, StudyFiles, TypedPlan};

/// A host with four CPUs and no known topology.
pub fn host() -> Host {
    Host {
        topology: UsableCpus::flat(&[0, 1, 2, 3]),
        memory_bytes: 8 << 30,
        huge_pages: HugePages::default(),
        kernel: KernelChoice::DEBIAN_12,
    }
}

const ENGINE: &[Key] = &[Key {
    name: "profile",
    holds: Holds::Choice(&["sized", "stock"]),
    default: Some("sized"),
    meaning: "named settings",
}];

const EMBEDDED: &[Key] =
    &[Key { name: "page", holds: Holds::Size { min: 512, max: 65536 }, default: Some("4KiB"), meaning: "" }];

const WORKLOAD: &[Key] =
    &[Key { name: "warehouses", holds: Holds::Integer { min: 1, max: 5000 }, default: None, meaning: "how many" }];

const DISK: &[Key] = &[
    Key { name: "adapter", holds: Holds::Choice(&["virtio-blk", "nvme"]), default: Some("virtio-blk"), meaning: "" },
    Key { name: "cache", holds: Holds::Choice(&["none", "writeback"]), default: Some("none"), meaning: "" },
];

const VM: &[Key] = &[
    Key { name: "accelerator", holds: Holds::Choice(&["auto", "kvm", "tcg"]), default: Some("auto"), meaning: "" },
    Key { name: "disk", holds: Holds::Table(DISK), default: Some("{}"), meaning: "" },
];

/// The table of an invented platform, the native one or the vm.
#[derive(Debug)]
struct Invented {
    is_vm: bool,
    table: Map<String, Value>,
}

impl PlatformSettings for Invented {
    fn can(&self) -> Capabilities {
        of_an_image(ImageUse::Tree)
    }

    /// The vm takes at most three vCPUs, refuses some combinations of its keys, and has no nvme disk with one kernel.
    fn check(&self, asked: &MachineRequest<'_>) -> Vec<Problem> {
        let problem = |path: &str, found: String, expected: &str| Problem {
            path: path.to_owned(),
            found,
            expected: expected.to_owned(),
            nearest: None,
        };
        let mut problems = Vec::new();
        if !self.is_vm {
            return problems;
        }
        let table = &self.table;
        if asked.vcpus > 3 {
            problems.push(problem("", format!("found {} vCPUs", asked.vcpus), "at most 3 in a vm"));
        }
        if table["disk"]["adapter"] == "nvme" && *asked.kernel == KernelChoice::DEBIAN_12_GENERIC {
            problems.push(problem("disk.adapter", "found \"nvme\"".to_owned(), "kernel = \"debian-12\""));
        }
        if table["accelerator"] == "tcg" && asked.is_reached_from_outside {
            problems.push(problem("accelerator", "found \"tcg\"".to_owned(), "load from inside"));
        }
        if table["disk"]["adapter"] == "nvme" && table["disk"]["cache"] == "writeback" {
            problems.push(problem("disk.cache", "found \"writeback\"".to_owned(), "\"none\" with the adapter nvme"));
        }
        problems
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        Err(MachineError::Unavailable { why: "it is invented".to_owned() })
    }
}

/// The invented workload cannot have 4999 warehouses.
fn check_workload(kind: &str, table: &Map<String, Value>, _: Option<&str>) -> Result<WorkloadNote, Vec<Problem>> {
    let (path, found) = ("warehouses".to_owned(), "found 4999".to_owned());
    if table["warehouses"] == 4999 {
        return Err(vec![Problem { path, found, expected: "another number".to_owned(), nearest: None }]);
    }
    Ok(WorkloadNote { kind: kind.to_owned(), notice: "Invented.".to_owned(), deviations: Vec::new() })
}

/// The invented data take 1 MiB for each warehouse.
fn data_bytes(_: &str, _: &str, table: &Map<String, Value>) -> Option<u64> {
    Some(table.get("warehouses")?.as_u64()? << 20)
}

/// A recipe, with the version of the invented server that is in it, if it says so.
pub fn image(name: &str, version: Option<&str>) -> Recipe {
    let engine = version.map(|_| "server".to_owned());
    let (name, version, text) = (name.to_owned(), version.map(str::to_owned), format!("about = '{name}'"));
    Recipe { name, engine, version, text, ..Recipe::default() }
}

pub fn catalogs() -> Catalogs {
    let kind = |kind, keys| Kind { kind, meaning: "an invented entry", keys, remote: false, own_phases: false };
    Catalogs {
        engines: vec![Kind { remote: true, ..kind("server", ENGINE) }, kind("sqlite", EMBEDDED)],
        workloads: vec![kind("orders", WORKLOAD)],
        platforms: vec![kind("native", &[]), kind("vm", VM)],
        images: vec![image("server", None), image("server-9", Some("9.2")), image("micro", None)],
        recipes: StudyFiles::none(),
        files: StudyFiles::none(),
        codes: [("host-busy", true), ("check-violated", false)]
            .map(|(name, acceptable)| FindingCode { name, acceptable })
            .to_vec(),
        check_workload,
        platform_settings: |kind, table| Some(Ok(Arc::new(Invented { is_vm: kind == "vm", table: table.clone() }))),
        data_bytes,
    }
}

/// A study without problems. Tests add to it or replace a part of it.
pub const STUDY: &str = r#"question = "What does a vm cost?"
seed = 7
blocks = 2

[machine]
vcpus = 2
memory = "1GiB"

[engine]
kind = "server"

[workload]
kind = "orders"
warehouses = 2

[load]
clients = 4
warmup = "3s"
measure = "10s"

[[contender]]
name = "native"
platform = { kind = "native" }

[[contender]]
name = "vm"
platform = { kind = "vm", disk = { cache = "writeback" } }
"#;

/// The study with `old` replaced by `new`; `old` must occur in it.
pub fn with(old: &str, new: &str) -> String {
    assert!(STUDY.contains(old), "{old} is not in the study");
    STUDY.replacen(old, new, 1)
}

/// The study with `text` at its end.
pub fn plus(text: &str) -> String {
    format!("{STUDY}{text}")
}

pub fn plan(text: &str) -> record::plan::Plan {
    study::plan("x", text, Against::Baseline, &catalogs(), &host())
        .unwrap_or_else(|problems| panic!("{}", study::render(&problems, "x.toml")))
}

/// The plan of an A/A study.
pub fn against_itself(text: &str) -> record::plan::Plan {
    study::plan("x", text, Against::Itself, &catalogs(), &host())
        .unwrap_or_else(|problems| panic!("{}", study::render(&problems, "x.toml")))
}

/// Every problem of `text`, as a user sees it.
pub fn problems(text: &str) -> String {
    match study::plan("x", text, Against::Baseline, &catalogs(), &host()) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => study::render(&problems, "x.toml"),
    }
}

/// A plan of invented kinds with its cells in types: those of the real kinds that take the same keys.
pub fn typed(plan: &Plan) -> TypedPlan {
    let text = serde_json::to_string(plan).expect("a plan is JSON");
    let mut text = text.replace(r#""kind":"lookups","rows""#, r#""kind":"order-entry","warehouses""#);
    text = text.replace(r#","think":2000"#, "");
    for (invented, real) in [("server", "postgres"), ("orders", "order-entry"), ("vm", "qemu")] {
        text = text.replace(&format!(r#""kind":"{invented}""#), &format!(r#""kind":"{real}""#));
    }
    let real = serde_json::from_str(&text).expect("only kinds differ");
    TypedPlan::read(real, platforms::catalog::settings).expect("real kinds take the same keys")
}
