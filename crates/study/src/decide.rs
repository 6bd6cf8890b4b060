//! Decides one cell at a time: checks every table against its keys, fills in every default, normalises every unit.

use crate::ablation::Wrong;
use crate::catalogs::{Catalogs, Kind};
use crate::cells::Draft;
use crate::host::Host;
use crate::image::{self, ImageWish};
use crate::keys::{
    ENGINE, LOAD, MACHINE, MAX_REPEATS_DEFAULT, OFFERED, PACINGS, PEAK_WORD, SESSIONS_DEFAULT, load_keys,
};
use crate::overrides::Tables;
use crate::problems::{Flaw, below, quoted};
use crate::room::in_gib;
use crate::side_by_side;
use crate::{data_size, disk, load_hosts, sessions};
use engines::programs::VERSION;
use platforms::capabilities::{DataHome, ImageUse};
use platforms::entry::PlatformSettings;
use platforms::order::MachineRequest;
use record::plan::{Cell, WorkloadNote};
use record::settings::Settings;
use record::settings::key::{EXCEPTION_WORKLOAD, KIND};
use serde_json::{Map, Value};
use settings::{Bytes, nearest};
use std::sync::Arc;

/// Decides every cell, and collects what a reader of the results must know about the workloads. Problems that only some
/// contenders have name them.
pub fn decide(
    drafts: &[Draft],
    catalogs: &Catalogs,
    host: &Host,
    problems: &mut Vec<Flaw>,
) -> (Vec<Cell>, Vec<WorkloadNote>) {
    let mut cells = Vec::new();
    let mut notes: Vec<WorkloadNote> = Vec::new();
    let mut told: Vec<Flaw> = Vec::new();
    for (id, draft) in (0..).zip(drafts) {
        let mut deciding = Deciding::new(&draft.tables, catalogs, host);
        // Tables with problems were reported key by key and are missing here, so only correct tables are read.
        let settings = Settings::try_from(deciding.cell()).unwrap_or_else(|error| {
            deciding.tell(&error.key, error.why, "what this build reads of a plan");
            Settings::default()
        });
        deciding.problems.append(&mut deciding.refused);
        merge(&mut told, deciding.problems, &draft.contender);
        for note in deciding.notes {
            if notes.iter().all(|other| other.kind != note.kind) {
                notes.push(note);
            }
        }
        cells.push(Cell {
            id,
            contender: draft.contender.clone(),
            baseline: draft.baseline,
            scenario: draft.scenario.clone(),
            sweep: draft.sweep.clone(),
            settings,
        });
    }
    problems.extend(told.into_iter().map(|problem| of_some(problem, drafts)));
    (cells, notes)
}

/// Adds a contender's problems to those found so far; several contenders with the same problem share one entry.
fn merge(told: &mut Vec<Flaw>, problems: Vec<Flaw>, contender: &str) {
    for problem in problems {
        let same = |other: &&mut Flaw| {
            let contenders = problem.contenders.clone();
            Flaw { contenders, ..(**other).clone() } == problem
        };
        match told.iter_mut().find(same) {
            Some(other) if other.contenders.iter().any(|name| name == contender) => {}
            Some(other) => other.contenders.push(contender.to_owned()),
            None => told.push(Flaw { contenders: vec![contender.to_owned()], ..problem }),
        }
    }
}

/// A problem of all contenders is one of the study, so it names none.
fn of_some(problem: Flaw, drafts: &[Draft]) -> Flaw {
    let all = drafts.iter().all(|draft| problem.contenders.contains(&draft.contender));
    Flaw { contenders: if all { Vec::new() } else { problem.contenders }, ..problem }
}

/// What is wrong with a contender's tables.
pub fn wrong(tables: &Tables, catalogs: &Catalogs, host: &Host) -> Wrong {
    let mut deciding = Deciding::new(tables, catalogs, host);
    deciding.cell();
    Wrong { mistakes: deciding.problems, refused: deciding.refused }
}

struct Deciding<'a> {
    tables: &'a Tables,
    catalogs: &'a Catalogs,
    host: &'a Host,
    problems: Vec<Flaw>,
    /// What the platform refuses.
    refused: Vec<Flaw>,
    /// A note for each workload; that of the exception is last.
    notes: Vec<WorkloadNote>,
}

impl<'a> Deciding<'a> {
    fn new(tables: &'a Tables, catalogs: &'a Catalogs, host: &'a Host) -> Self {
        Self { tables, catalogs, host, problems: Vec::new(), refused: Vec::new(), notes: Vec::new() }
    }

    /// The decided tables. A table with a problem is missing, and nothing that depends on it is checked.
    fn cell(&mut self) -> Map<String, Value> {
        let catalogs = self.catalogs;
        let engine = self.kind("engine", &catalogs.engines);
        let engine_table = engine.and_then(|entry| self.entry("engine", entry, ENGINE));
        let platform = self.kind("platform", &catalogs.platforms);
        let platform_table = platform.and_then(|entry| self.entry("platform", entry, &[]));
        let settings = platform.zip(platform_table.as_ref()).and_then(|(kind, table)| self.settings(kind, table));
        let host = match &settings {
            Some(settings) => Some(self.host).filter(|_| settings.can().data != DataHome::Elsewhere),
            None => Some(self.host).filter(|_| platform.is_none()),
        };
        let is_image_used = settings.as_ref().is_some_and(|settings| settings.can().image != ImageUse::None);
        let version = engine_table.as_ref().and_then(|table| table.get(VERSION)?.as_str());
        let machine = self.table("machine", MACHINE).and_then(|mut table| {
            if let Some(engine) = engine {
                self.image(&mut table, engine, version, is_image_used);
            }
            self.machine(table, host)
        });
        let runs_already = settings.as_ref().is_some_and(|settings| settings.running_server().is_some());
        let engine_table = engine_table.map(|table| if runs_already { self.as_it_runs(engine) } else { table });
        let workload = self.workload("workload", engine);
        let exception_workload = self.exception_workload(engine);
        for (path, table) in [("workload", &workload), (EXCEPTION_WORKLOAD, &exception_workload)] {
            if let (Some(machine), Some(engine), Some(table)) = (&machine, engine, table) {
                self.data_fits(machine, (engine, instances(engine_table.as_ref())), path, table);
            }
        }
        let machine = machine.map(|table| with_exception_workload(table, exception_workload));
        let load = match self.with_own_phases("workload") {
            Some(kind) => self.load_without_offer(kind),
            None => self.table("load", LOAD).and_then(|table| self.offered(table)),
        };
        if let (Some(load), Some(engine)) = (&load, engine) {
            self.placement_fits(load, engine);
            self.take("", load_hosts::problems(load));
        }
        if let (Some(machine), Some(load)) = (&machine, &load) {
            self.take("", side_by_side::load_problems(machine, load));
        }
        if let (Some(machine), Some(load), Some(table)) = (&machine, &load, &engine_table) {
            self.take(
                "",
                side_by_side::instances_problems(instances(Some(table)), shares_server(table), machine, load),
            );
        }
        if let (Some(machine), Some(load), Some(entry), Some(table), Some(workload), false) =
            (&machine, &load, engine, &engine_table, &workload, runs_already)
        {
            let (instances, shares_server) = (instances(Some(table)), shares_server(table));
            let engine = entry.kind;
            self.sessions_fit(sessions::Sizing { engine, table, machine, load, workload, instances, shares_server });
        }
        if let (Some(entry), Some(table)) = (engine, &engine_table)
            && !entry.remote
            && shares_server(table)
        {
            let expected = format!("false, because {} has no server that could have several databases", entry.kind);
            self.tell("engine.shared_server", "found true", expected);
        }
        if let (Some(machine), Some(load), Some(kind), Some(settings)) = (&machine, &load, platform, &settings) {
            self.platform_fits(machine, load, kind, settings.as_ref());
        }
        let platform = platform.zip(platform_table).map(|(entry, table)| with_kind(entry, table));
        let engine = engine.zip(engine_table).map(|(entry, table)| with_kind(entry, table));
        let parts = [("machine", machine), ("platform", platform), ("engine", engine), ("workload", workload)];
        let parts = parts.into_iter().chain([("load", load)]);
        parts.filter_map(|(name, table)| Some((name.to_owned(), Value::Object(table?)))).collect()
    }

    fn tell(&mut self, path: &str, found: impl Into<String>, expected: impl Into<String>) {
        self.problems.push(Flaw::new(self.tables.line(path), path, found, expected));
    }

    /// The catalog entry for a table.
    fn kind<'k>(&mut self, part: &str, kinds: &'k [Kind]) -> Option<&'k Kind> {
        let path = below(part, KIND);
        let words = || kinds.iter().map(|entry| entry.kind);
        let written = match (self.tables.get(part), self.tables.get(&path)) {
            (Some(table), _) if !table.is_object() => {
                self.tell(part, format!("found {table}"), format!("a table with a kind: {}", quoted(words())));
                return None;
            }
            (_, None) => {
                self.tell(&path, "missing", quoted(words()));
                return None;
            }
            (_, Some(written)) => written,
        };
        let entry = written.as_str().and_then(|word| kinds.iter().find(|entry| entry.kind == word));
        if entry.is_none() {
            let problem = Flaw::new(self.tables.line(&path), &path, format!("found {written}"), quoted(words()));
            self.problems.push(problem.with_nearest(written.as_str().and_then(|word| nearest(word, words()))));
        }
        entry
    }

    /// The table of a catalog entry, without its kind; `common` are keys that all entries of the catalog have.
    fn entry(&mut self, part: &str, entry: &Kind, common: &[settings::Key]) -> Option<Map<String, Value>> {
        let mut table = self.tables.get(part)?.as_object()?.clone();
        table.shift_remove(KIND);
        let keys = [entry.keys, common].concat();
        let read = &*self.catalogs.files.0;
        let table = settings::with_texts(&table, &keys, read).map_err(|problems| self.take(part, problems)).ok()?;
        self.checked(part, &table, &keys)
    }

    fn table(&mut self, part: &str, keys: &[settings::Key]) -> Option<Map<String, Value>> {
        match self.tables.get(part) {
            Some(Value::Object(table)) => self.checked(part, table, keys),
            None => self.checked(part, &Map::new(), keys),
            Some(other) => {
                self.tell(part, format!("found {other}"), "a table");
                None
            }
        }
    }

    fn checked(
        &mut self,
        part: &str,
        table: &Map<String, Value>,
        keys: &[settings::Key],
    ) -> Option<Map<String, Value>> {
        settings::check_written(table, keys).map_err(|problems| self.take(part, problems)).ok()
    }

    fn take(&mut self, part: &str, problems: Vec<settings::Problem>) {
        for problem in problems {
            let line = self.tables.line(&below(part, &problem.path));
            self.problems.push(Flaw::from_table(part, line, problem));
        }
    }

    /// Decides the image of the machine.
    fn image(&mut self, machine: &mut Map<String, Value>, engine: &Kind, version: Option<&str>, is_used: bool) {
        let named = machine.get("image").and_then(Value::as_str);
        match image::choose(ImageWish { engine, version, named, is_used }, &self.catalogs.images) {
            Ok(name) => drop(machine.insert("image".to_owned(), Value::from(name))),
            Err(misfit) => {
                let line = self.tables.line(misfit.path);
                self.problems.push(misfit.in_line(line));
            }
        }
    }

    /// Checks of `[machine]` that keys alone cannot make, which concern the host's size. `host` is `None` if the machine is
    /// not on this host.
    fn machine(&mut self, mut table: Map<String, Value>, host: Option<&Host>) -> Option<Map<String, Value>> {
        let number = |table: &Map<String, Value>, name: &str| table.get(name).and_then(Value::as_u64);
        let vcpus = number(&table, "vcpus")?;
        let oversubscribe = table.get("oversubscribe") == Some(&Value::Bool(true));
        if let Some(cpus) = host.map(Host::cpus).filter(|cpus| vcpus > *cpus as u64 && !oversubscribe) {
            let expected = format!("at most {cpus}, the CPUs of this host, or machine.oversubscribe = true");
            self.tell("machine.vcpus", format!("found {vcpus}"), expected);
        }
        let memory = number(&table, "memory")?;
        if let Some(host) = host.filter(|host| memory > host.memory_bytes) {
            let expected = format!("at most {}, the memory of this host", in_gib(host.memory_bytes));
            self.tell("machine.memory", format!("found {}", Bytes(memory)), expected);
        }
        self.take("", disk::problems(&table));
        let kernel = self.host.kernel_of(&table).map_err(|problem| self.take("", vec![problem])).ok()?;
        table.insert("kernel".to_owned(), Value::from(kernel.to_string()));
        let table = settings::check(&table, MACHINE).ok()?;
        self.take("", side_by_side::machine_problems(&table, host));
        Some(table)
    }

    /// Checked here because loading data that do not fit may take hours before it fails.
    fn data_fits(
        &mut self,
        machine: &Map<String, Value>,
        (engine, instances): (&Kind, u64),
        path: &str,
        workload: &Map<String, Value>,
    ) {
        const SIZE: &str = "machine.disk.size";
        let disk_bytes = machine.get("disk").and_then(|disk| disk.get("size")).and_then(Value::as_u64);
        let mut table = workload.clone();
        let kind = table.shift_remove(KIND);
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        let data_bytes = (self.catalogs.data_bytes)(engine.kind, kind, &table);
        let (Some(disk_bytes), Some(data_bytes)) = (disk_bytes, data_bytes) else { return };
        let times = if instances == 1 { String::new() } else { format!(", {instances} times") };
        let whose = format!("{path} on {}{times}", engine.kind);
        if let Some(expected) = data_size::misfit(disk_bytes, data_bytes.saturating_mul(instances), &whose) {
            self.tell(SIZE, format!("found {}", Bytes(disk_bytes)), expected);
        }
    }

    fn platform_fits(
        &mut self,
        machine: &Map<String, Value>,
        load: &Map<String, Value>,
        kind: &Kind,
        settings: &dyn PlatformSettings,
    ) {
        let number = |name: &str| machine.get(name).and_then(Value::as_u64).unwrap_or_default();
        let home = settings.can().data;
        self.take("", disk::tuning_problems(machine, kind.kind, home));
        let Ok(kernel) = self.host.kernel_of(machine) else { return };
        let places = if home == DataHome::Elsewhere { Vec::new() } else { side_by_side::places(machine, self.host) };
        let asked = MachineRequest {
            count: u32::try_from(number("count")).unwrap_or(u32::MAX),
            vcpus: u32::try_from(number("vcpus")).unwrap_or(u32::MAX),
            memory_bytes: number("memory"),
            kernel: &kernel,
            is_reached_from_outside: load_hosts::is_outside(load),
            places: &places,
            huge_pages: &self.host.huge_pages,
            isolated: self.host.topology.isolated(),
        };
        self.refuse(settings.check(&asked));
    }

    /// The settings in a platform's checked table.
    fn settings(&mut self, kind: &Kind, table: &Map<String, Value>) -> Option<Arc<dyn PlatformSettings>> {
        (self.catalogs.platform_settings)(kind.kind, table)?.map_err(|problems| self.refuse(problems)).ok()
    }

    fn refuse(&mut self, problems: Vec<settings::Problem>) {
        for problem in problems {
            let line = self.tables.line(&below("platform", &problem.path));
            self.refused.push(Flaw::from_table("platform", line, problem));
        }
    }

    /// The decided table of the workload at `path`.
    fn workload(&mut self, path: &str, engine: Option<&Kind>) -> Option<Map<String, Value>> {
        let catalogs = self.catalogs;
        let entry = self.kind(path, &catalogs.workloads)?;
        let table = self.entry(path, entry, &[])?;
        match (catalogs.check_workload)(entry.kind, &table, engine.map(|engine| engine.kind)) {
            Ok(note) => self.notes.push(note),
            Err(problems) => self.take(path, problems),
        }
        Some(with_kind(entry, table))
    }

    /// The exception's own workload, if it has one. A value that is no table is reported with the keys of `[machine]`.
    fn exception_workload(&mut self, engine: Option<&Kind>) -> Option<Map<String, Value>> {
        self.tables.get(EXCEPTION_WORKLOAD)?.as_object()?;
        if let Some(kind) = self.with_own_phases(EXCEPTION_WORKLOAD) {
            let expected = "a workload without phases of its own".to_owned();
            self.tell(&below(EXCEPTION_WORKLOAD, KIND), format!("found \"{kind}\""), expected);
            return None;
        }
        self.workload(EXCEPTION_WORKLOAD, engine)
    }

    /// Exactly one key makes work due. Its companion keys get their defaults, and those of other pacings are refused.
    /// The kind of the workload at this path, if it has phases of its own.
    fn with_own_phases(&self, path: &str) -> Option<&'static str> {
        let kind = self.tables.get(&below(path, KIND))?.as_str()?;
        self.catalogs.workloads.iter().find(|entry| entry.kind == kind && entry.own_phases).map(|entry| entry.kind)
    }

    /// The load of a workload that has phases of its own.
    fn load_without_offer(&mut self, kind: &str) -> Option<Map<String, Value>> {
        let paths = OFFERED.map(|name| below("load", name));
        let given: Vec<&String> = paths.iter().filter(|path| self.tables.get(path).is_some()).collect();
        for path in &given {
            let expected = format!("no such key, because {kind} has phases of its own");
            self.tell(path, "given", expected);
        }
        if !given.is_empty() {
            return None;
        }
        let keys = load_keys(true);
        let load = self.table("load", &keys).map(|table| self.with_repeats(table))?;
        settings::check(&load, &keys).ok()
    }

    /// Adds how often a disturbed trial may be repeated, if a limit says what disturbs it.
    fn with_repeats(&mut self, mut load: Map<String, Value>) -> Map<String, Value> {
        let is_limited = load.contains_key("max_other_cpu");
        self.refuse_stray(&load, "max_repeats", is_limited, "max_other_cpu");
        if is_limited {
            load.entry("max_repeats").or_insert(Value::from(MAX_REPEATS_DEFAULT));
        }
        load
    }

    fn offered(&mut self, load: Map<String, Value>) -> Option<Map<String, Value>> {
        let given = PACINGS.into_iter().filter(|name| load.contains_key(*name)).collect::<Vec<_>>();
        let pacing = match given.as_slice() {
            [only] => *only,
            [] => {
                let example = "clients = 16, clients = \"peak\", terminals = 2000 or arrivals = \"500/s\"";
                self.tell("load.clients", "missing", example);
                return None;
            }
            [first, others @ ..] => {
                for other in others {
                    let line = self.tables.line(&below("load", first));
                    let place = line.map(|line| format!(" in line {line}")).unwrap_or_default();
                    let expected = format!("only one of {}; {first} is given{place}", PACINGS.join(", "));
                    self.tell(&below("load", other), "given too", expected);
                }
                return None;
            }
        };
        let peak = load.get("clients").and_then(Value::as_str) == Some(PEAK_WORD);
        self.refuse_stray(&load, "process", pacing == "arrivals", "arrivals");
        self.refuse_stray(&load, "sessions", pacing != "clients", "terminals or arrivals");
        self.refuse_stray(&load, "peak", peak, "clients = \"peak\"");
        self.refuse_stray(&load, "transactions", pacing == "clients" && !peak, "a number of clients");
        if load.contains_key("transactions") && load.get("warmup") != Some(&Value::from(0)) {
            self.tell("load.warmup", "given", "\"0s\", because transactions are counted from the first one on");
        }
        let mut load = self.with_repeats(load);
        let terminals = load.get("terminals").and_then(Value::as_u64);
        if let (Some(terminals), Some(sessions)) = (terminals, load.get("sessions").and_then(Value::as_u64))
            && sessions > terminals
        {
            let expected = format!("at most {terminals}, the number of terminals");
            self.tell("load.sessions", format!("found {sessions}"), expected);
        }
        let mut fill = |name: &str, value: Value| {
            load.entry(name).or_insert(value);
        };
        match pacing {
            "arrivals" => {
                fill("process", Value::from("poisson"));
                fill("sessions", Value::from(SESSIONS_DEFAULT));
            }
            "terminals" => fill("sessions", Value::from(SESSIONS_DEFAULT.min(terminals.unwrap_or(u64::MAX)))),
            _ if peak => fill("peak", Value::Object(Map::new())),
            _ => {}
        }
        settings::check(&load, LOAD).ok()
    }

    fn refuse_stray(&mut self, load: &Map<String, Value>, name: &str, belongs: bool, to: &str) {
        if load.contains_key(name) && !belongs {
            self.tell(&below("load", name), "given", format!("this key only beside {to}"));
        }
    }

    /// The engine's table where the server runs already: no setting can be given to it.
    fn as_it_runs(&mut self, engine: Option<&Kind>) -> Map<String, Value> {
        let given = self.tables.get("engine").and_then(Value::as_object);
        let given: Vec<String> = given.into_iter().flat_map(Map::keys).filter(|name| *name != KIND).cloned().collect();
        for name in given {
            let expected = "no such key, because the server of this contender runs already, with its own settings";
            self.tell(&below("engine", &name), "given", expected);
        }
        if let Some(engine) = engine.filter(|engine| !engine.remote) {
            let expected = "an engine with a server, because platform.server = \"running\"";
            self.tell(&below("engine", KIND), format!("found \"{}\"", engine.kind), expected);
        }
        Map::new()
    }

    fn sessions_fit(&mut self, decided: sessions::Sizing<'_>) {
        if let Some((key, found, expected)) = sessions::problem(decided) {
            self.tell(&below("load", key), found, expected);
        }
    }

    fn placement_fits(&mut self, load: &Map<String, Value>, engine: &Kind) {
        if load_hosts::is_outside(load) && !engine.remote {
            let expected = format!("\"inside\"; sessions of {} cannot come from outside the machine", engine.kind);
            self.tell("load.placement", "found \"outside\"", expected);
        }
    }
}

/// Puts the decided workload into `machine.exception`, since the keys of `[machine]` do not cover a workload's table.
fn with_exception_workload(mut machine: Map<String, Value>, decided: Option<Map<String, Value>>) -> Map<String, Value> {
    if let (Some(Value::Object(exception)), Some(decided)) = (machine.get_mut("exception"), decided) {
        exception.insert("workload".to_owned(), Value::Object(decided));
    }
    machine
}

/// `engine.shared_server` of a checked table.
fn shares_server(engine: &Map<String, Value>) -> bool {
    engine.get("shared_server").and_then(Value::as_bool).unwrap_or(false)
}

/// `engine.instances` of a checked table.
fn instances(engine: Option<&Map<String, Value>>) -> u64 {
    engine.and_then(|table| table.get("instances")).and_then(Value::as_u64).unwrap_or(1)
}

fn with_kind(entry: &Kind, table: Map<String, Value>) -> Map<String, Value> {
    [(KIND.to_owned(), Value::from(entry.kind))].into_iter().chain(table).collect()
}
