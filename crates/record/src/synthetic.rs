//! A made-up run with realistic noise, drawn from a seed, for tests of code that reads records. Nothing in it was measured.

pub mod consolidated;
pub mod neighbour;
pub mod stored;
pub mod telemetry;
pub mod waits;

use crate::FORMAT;
use crate::check::{CheckResult, Moment, Verdict};
use crate::clock::ClockReading;
use crate::facts::{DATA_CACHED_TWICE, Fact, Facts, MEMORY_LIMIT, PROCESSOR};
use crate::hlog;
use crate::host_state::{HostMemory, HostReading, HostState, PressureStalls, ProcessTimes};
use crate::intervals::{Interval, KindInterval, Measured, Span};
use crate::ladder::CpuTime;
use crate::looks::{DatabaseCounts, DeviceCounts, Look, Looks, Reading};
use crate::phase::Phase;
use crate::plan::{Cell, Plan, PlannedTrial, WorkloadNote};
use crate::run::{Run, StoredTrial};
use crate::settings::Settings;
use crate::telemetry::Side;
use crate::trial::{
    DriverFacts, KindTotals, MachineFacts, Metric, Outcome, Pacing, PhaseSpan, RunDelay, ServerFacts, Spread,
    Testimony, TrialRecord, Work,
};
use serde_json::{Map, json};
use std::collections::BTreeMap;

const CONTENDERS: [&str; 2] = ["native", "kvm"];
/// Name, transactions a second on the baseline, median service time in µs.
const KINDS: [(&str, f64, f64); 5] = [
    ("new-order", 90.0, 2_400.0),
    ("payment", 86.0, 900.0),
    ("order-status", 8.0, 500.0),
    ("delivery", 8.0, 6_500.0),
    ("stock-level", 8.0, 3_100.0),
];
/// The contenders' speed, as a share of the baseline's.
const SPEED: [f64; 2] = [1.0, 0.853];
const WARMUP_S: u64 = 8;
const MEASURED_S: u64 = 24;
const CLIENTS: u32 = 4;

/// A run of two contenders in which every trial completed.
pub fn run(blocks: u32) -> Run {
    let plan = plan(blocks);
    let trials = plan.trials.iter().map(|planned| trial(&plan, planned)).collect();
    Run { plan, host: host(), trials, durability: Vec::new(), dir: "runs/2026-11-21T12-00-00-quickstart".into() }
}

/// The same run with everything that can go wrong. It has five blocks, in which some trials failed, were skipped, are
/// invalid or were not reached, and a guest whose settings and clock differ.
pub fn troubled() -> Run {
    let mut run = run(5);
    let guest: Vec<usize> = (0..run.trials.len()).filter(|&index| run.trials[index].record.cell == 1).collect();
    empty(
        &mut run.trials[guest[0]],
        Outcome::Failed {
            phase: Phase::Load.to_string(),
            why: "the guest ended (exit status 1); the end of its console: Kernel panic - not syncing".to_owned(),
        },
    );
    empty(&mut run.trials[guest[1]], Outcome::Skipped { why: "kvm does not work here".to_owned() });
    run.trials[guest[2]].record.outcome = Outcome::Invalid { why: "the driver was the bottleneck".to_owned() };
    if let Some(finding) = run.trials[guest[3]].findings.first_mut() {
        finding.verdict = Verdict::Violated { seen: "warehouse 1 is 12.50 short".to_owned() };
    }
    for &index in &guest {
        let record = &mut run.trials[index].record;
        if let Some(server) = &mut record.server {
            server.effective.insert("synchronous".to_owned(), "1".to_owned());
        }
        if let Some(machine) = &mut record.machine {
            machine.clock.push(ClockReading { at: "end".to_owned(), offset_ns: 900_000_000, round_trip_ns: 80_000 });
        }
        if let Some(driver) = &mut record.driver {
            driver.work.statements += driver.work.statements / 10;
        }
    }
    run.trials.pop();
    run
}

fn empty(trial: &mut StoredTrial, outcome: Outcome) {
    trial.record.outcome = outcome;
    trial.record.driver = None;
    trial.record.server = None;
    trial.measured = None;
    trial.findings.clear();
    trial.telemetry.clear();
}

fn plan(blocks: u32) -> Plan {
    let cells = (0_u32..).zip(CONTENDERS).map(|(id, contender)| Cell {
        id,
        contender: contender.to_owned(),
        baseline: id == 0,
        scenario: None,
        sweep: Map::new(),
        settings: settings(contender),
    });
    // Every other block runs the guest first.
    let trial = |index: u32| {
        let (block, place) = (index / 2 + 1, index % 2);
        PlannedTrial { id: index + 1, block, cell: (place + block) % 2, seed: 1000 + u64::from(block), host: None }
    };
    Plan {
        format: FORMAT,
        question: "What does a KVM guest cost an order-entry database of equal shape?".to_owned(),
        study: "quickstart".to_owned(),
        seed: 20_261_121,
        blocks,
        aa: false,
        rehearsed: false,
        margin: None,
        accept: BTreeMap::new(),
        durability: None,
        ablation: None,
        recipes: BTreeMap::new(),
        precision: None,
        cells: cells.collect(),
        trials: (0..blocks * 2).map(trial).collect(),
        workloads: vec![WorkloadNote {
            kind: "order-entry".to_owned(),
            notice: "Order-entry is derived from TPC-C. Its results are not comparable with published TPC results."
                .to_owned(),
            deviations: vec![
                "Clients work back to back, without keying and think time.".to_owned(),
                "The measured window is shorter than two hours.".to_owned(),
            ],
        }],
    }
}

fn settings(contender: &str) -> Settings {
    let platform = if contender == "native" { json!({ "kind": "native" }) } else { guest_platform() };
    let tables = [
        ("machine", json!({ "count": 1, "vcpus": 2, "memory": 2_147_483_648_u64 })),
        ("platform", platform),
        ("engine", json!({ "kind": "sqlite", "profile": "sized" })),
        ("workload", json!({ "kind": "order-entry", "warehouses": 2 })),
        (
            "load",
            json!({ "placement": "inside", "clients": CLIENTS, "warmup": WARMUP_S * 1000, "measure": MEASURED_S * 1000 }),
        ),
    ];
    let tables: Map<_, _> = tables.into_iter().map(|(name, table)| (name.to_owned(), table)).collect();
    tables.try_into().unwrap_or_default()
}

fn guest_platform() -> serde_json::Value {
    json!({ "kind": "qemu", "accelerator": "kvm", "disk": { "adapter": "virtio-blk", "cache": "none", "aio": "io_uring" } })
}

fn facts(known: &[(&str, &str)]) -> Facts {
    known.iter().map(|(name, value)| ((*name).to_owned(), Fact::known(*value))).collect()
}

/// Gives every trial of a cell these columns on one side, replacing those with the same names.
pub fn sampled(run: &mut Run, cell: u32, side: Side, sources: &[telemetry::MadeUpColumn]) {
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
        let mut chance = Chance(u64::from(trial.record.id));
        let made = telemetry::series(side, sources, WARMUP_S + MEASURED_S + 1, &mut chance);
        let Some(series) = trial.telemetry.iter_mut().find(|series| series.side == side) else { continue };
        for (place, column) in made.columns.into_iter().enumerate() {
            let known = series.columns.iter().position(|known| known.name == column.name);
            let own = known.unwrap_or(series.columns.len());
            if known.is_none() {
                series.columns.push(column);
                series.samples.iter_mut().for_each(|sample| sample.values.push(None));
            }
            for (sample, made) in series.samples.iter_mut().zip(&made.samples) {
                sample.values[own] = made.values[place];
            }
        }
    }
}

fn host() -> Facts {
    let mut facts = facts(&[
        ("cpu.model", "AMD EPYC 7763 64-Core Processor"),
        ("cpu.threads", "2"),
        ("kernel.release", "6.1.0-25-amd64"),
        ("memory.total_bytes", "25269866496"),
        ("storage.file_system", "ext4"),
        ("system.distribution", "Debian GNU/Linux 12 (bookworm)"),
    ]);
    facts.insert("cpu.governor".to_owned(), Fact::unavailable("this kernel offers no frequency control"));
    facts
}

/// Uniform and normal numbers from a seed (splitmix64 and Box–Muller).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A record without facts about the machine and its work.
fn record(planned: &PlannedTrial, cell: &Cell) -> TrialRecord {
    let span = |phase: Phase| PhaseSpan { phase: phase.to_string(), length_ms: length_ms(phase) };
    let started = format!("2026-11-21T12:{:02}:00Z", planned.id);
    let begun = TrialRecord::begun(planned, &cell.contender, started, "bakeoff 0.1.0 (619ca8b)".to_owned());
    TrialRecord { phases: Phase::OF_A_TRIAL.map(span).to_vec(), ..begun }
}

fn trial(plan: &Plan, planned: &PlannedTrial) -> StoredTrial {
    let cell = &plan.cells[planned.cell as usize];
    let mut chance = Chance(planned.seed * 31 + u64::from(planned.cell));
    // The whole machine drifts a little from block to block, and each trial varies around that.
    let drift = 1.0 - 0.01 * f64::from(planned.block);
    let speed = SPEED[planned.cell as usize] * drift * (1.0 + 0.012 * chance.normal());
    let measured = series(&|_| speed, &mut chance);
    let driver = driver(&measured, &mut chance);
    let record = TrialRecord {
        machine: Some(machine(&cell.contender)),
        server: Some(server()),
        driver: Some(driver),
        host_state: Some(host_state(planned)),
        ..record(planned, cell)
    };
    let finished = record.driver.as_ref().map_or(0, |driver| driver.work.transactions);
    let per_second = finished as f64 / MEASURED_S as f64;
    let native = cell.contender == CONTENDERS[0];
    StoredTrial {
        record,
        measured: Some(measured),
        findings: findings(&mut chance),
        looks: Some(looks(speed)),
        telemetry: telemetry::of_trial(native, per_second, WARMUP_S + MEASURED_S + 1, &mut chance),
        machines: Vec::new(),
        instances: Vec::new(),
        bystander: None,
        damage: Vec::new(),
        disagreements: Vec::new(),
    }
}

fn length_ms(phase: Phase) -> u64 {
    match phase {
        Phase::WarmUp => WARMUP_S * 1000 + 20,
        Phase::Measure => MEASURED_S * 1000 + 30,
        Phase::Boot => 900,
        Phase::Load | Phase::Clone | Phase::Start | Phase::Climb | Phase::Check | Phase::ShutDown | Phase::Stop => 90,
    }
}

/// `speed` gives the speed of each second.
fn series(speed: &dyn Fn(u64) -> f64, chance: &mut Chance) -> Measured {
    let intervals = (0..WARMUP_S + MEASURED_S).map(|second| {
        // Caches fill during the first seconds.
        let warm = 1.0 - 0.5 * (-(second as f64) / 1.5).exp();
        let pace = speed(second) * warm * (1.0 + 0.03 * chance.normal());
        let kinds = (0_u16..).zip(KINDS).flat_map(|(kind, shape)| second_of(kind, shape, pace, chance));
        Interval { start_ms: second * 1000, length_ms: 1000, measured: second >= WARMUP_S, kinds: kinds.collect() }
    });
    let intervals = intervals.collect();
    Measured { kinds: KINDS.map(|(name, ..)| name.to_owned()).to_vec(), intervals }
}

/// Log-normal service times with a rare stall; responses wait a little longer than that.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn second_of(
    kind: u16,
    (_, per_second, median_us): (&str, f64, f64),
    pace: f64,
    chance: &mut Chance,
) -> Vec<KindInterval> {
    let count = (per_second * pace + per_second.sqrt() * 0.3 * chance.normal()).max(0.0).round() as u32;
    let (mut response, mut service) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let stall = if chance.uniform() < 0.004 { 12.0 } else { 1.0 };
        let service_us = median_us / pace * (0.45 * chance.normal()).exp() * stall;
        let response_us = service_us + (40.0 + 25.0 * chance.uniform());
        service.push(service_us as u64);
        response.push(response_us as u64);
    }
    let spans = [(Span::Response, response), (Span::Service, service)].into_iter().filter(|_| count > 0);
    spans.map(|(span, values_us)| KindInterval { kind, span, counts: hlog::counts_of(values_us) }).collect()
}

fn driver(measured: &Measured, chance: &mut Chance) -> DriverFacts {
    let finished = |index: usize| -> u64 {
        let parts = measured.intervals.iter().filter(|interval| interval.measured).flat_map(|interval| &interval.kinds);
        let parts = parts.filter(|part| usize::from(part.kind) == index && part.span == Span::Response);
        parts.map(KindInterval::count).sum()
    };
    let totals = KINDS.iter().enumerate().map(|(index, (kind, ..))| {
        let rolled_back = if index == 0 { finished(index) / 100 } else { 0 };
        let committed = finished(index) - rolled_back;
        KindTotals { kind: (*kind).to_owned(), committed, rolled_back, ..KindTotals::default() }
    });
    let kinds: Vec<KindTotals> = totals.collect();
    let transactions: u64 = kinds.iter().map(KindTotals::finished).sum();
    let [statements, rows_returned, rows_changed] = [26, 21, 14].map(|each| transactions * each);
    let work = Work { transactions, statements, rows_returned, rows_changed, ..Work::default() };
    // Four clients wait for answers. The rest of their time they think, as the workload may ask of them.
    let parts = measured.intervals.iter().filter(|interval| interval.measured).flat_map(|interval| &interval.kinds);
    let responses = parts.filter(|part| part.span == Span::Response).flat_map(|part| &part.counts);
    let waited_us: u64 = responses.map(|&(value_us, count)| value_us * u64::from(count)).sum();
    let busiest_shard = 0.31 + 0.02 * chance.uniform();
    DriverFacts {
        placement: "inside".to_owned(),
        warmup_ms: WARMUP_S * 1000,
        window_start_ns: Some(WARMUP_S * 1_000_000_000),
        measured_ms: MEASURED_S * 1000,
        clients: CLIENTS,
        pacing: Some(Pacing::Clients { clients: CLIENTS }),
        sessions: CLIENTS,
        shards: 2,
        metric: Metric {
            name: "NOPM".to_owned(),
            unit: "new orders per minute".to_owned(),
            per_ms: 60_000,
            counted: vec!["new-order".to_owned()],
        },
        tally: BTreeMap::from([("order_lines".to_owned(), kinds[0].finished() * 10)]),
        kinds,
        work,
        paused_ms: Some((u64::from(CLIENTS) * MEASURED_S * 1_000).saturating_sub(waited_us / 1_000)),
        testimony: Testimony {
            cpu_ns: statements * 8_400,
            lateness_p50_us: 31,
            lateness_p99_us: 180,
            lateness_max_us: 2_400,
            busiest_shard,
            run_delay: Some(RunDelay { share: 0.02, us_per_turn: 3.0, beside_database: Some(true) }),
            cpu_ns_per_statement: Some(8_400),
            response: Spread { p50_us: 1_200, p99_us: 9_000, max_us: 60_000 },
            service: Spread { p50_us: 1_150, p99_us: 8_900, max_us: 59_900 },
            session_wait: Spread { p50_us: 1, p99_us: 1, max_us: 1 },
            busy: vec![busiest_shard, 0.27],
            stalls: crate::trial::Stalls { throttled_ms: Some(0), ..crate::trial::Stalls::default() },
        },
        ..DriverFacts::default()
    }
}

/// Looks at the start and one second before the end of the measured window; a slower machine reads and writes less.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn looks(speed: f64) -> Looks {
    let look = |second: u64| {
        let after = |per_second: f64| (per_second * speed * second as f64) as u64;
        Look {
            at_ns: second * 1_000_000_000,
            took_ns: 4_000_000,
            database: Reading::Known(DatabaseCounts {
                meaning: "Reads and writes are pages of 4 KiB.".to_owned(),
                reads: Some(after(1_900.0)),
                hits: Some(after(32_000.0)),
                writes: Some(after(700.0)),
                log_bytes: Some(after(2_400_000.0)),
                checkpoints: None,
                data_bytes: Some(210_000_000 + second * 60_000),
                cache_bytes: Some(64 << 20),
            }),
            device: Reading::Known(DeviceCounts {
                device: "vdb".to_owned(),
                reads: after(400.0),
                read_bytes: after(400.0 * 8192.0),
                read_ms: after(60.0),
                writes: after(900.0),
                write_bytes: after(900.0 * 12_000.0),
                write_ms: after(500.0),
                busy_ms: after(380.0),
                flushes: Some(after(190.0)),
            }),
            cpu: Reading::Known(CpuTime { busy_ticks: second * 150, idle_ticks: second * 50, ..CpuTime::default() }),
            counters: BTreeMap::new(),
            waits: None,
        }
    };
    Looks { start: look(WARMUP_S), end: look(WARMUP_S + MEASURED_S - 1) }
}

/// A quiet host of two CPUs, on which others use about a hundredth of the time.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn host_state(planned: &PlannedTrial) -> HostState {
    let mut chance = Chance(u64::from(planned.id));
    let others_per_second = 2.0 + 0.2 * chance.uniform();
    let reading = |second: u64| HostReading {
        at_ns: second * 1_000_000_000,
        governor: Reading::Unavailable("the kernel offers no frequency scaling here".to_owned()),
        turbo: Reading::Known("on".to_owned()),
        mitigations: Reading::Known("vulnerable: none; mitigated: spectre_v1 (Mitigation: barriers)".to_owned()),
        frequency_khz: Reading::Known(3_200_000 + second * 10),
        cpu: Reading::Known(CpuTime { busy_ticks: second * 150, idle_ticks: second * 50, ..CpuTime::default() }),
        processes: Reading::Known(ProcessTimes {
            ours_ticks: second * 140,
            others_ticks: (second as f64 * others_per_second) as u64,
            kernel_ticks: second * 6,
            others_disk_bytes: Some(second * 9_000),
        }),
        memory: Reading::Known(HostMemory { available_bytes: 19_000_000_000, ..HostMemory::default() }),
        stalls: Reading::Known(PressureStalls { cpu_us: second * 40_000, memory_us: 0, io_us: second * 9_000 }),
    };
    HostState { start: reading(WARMUP_S), end: reading(WARMUP_S + MEASURED_S) }
}

fn machine(contender: &str) -> MachineFacts {
    let native = contender == "native";
    let words = if native {
        "bwrap --die-with-parent --bind /cache/images/micro / /bakeoff agent"
    } else {
        "qemu-system-x86_64 -machine q35,accel=kvm -cpu host -smp 2 -m 2048 -nodefaults -display none \
         -kernel /cache/images/micro/vmlinuz -append console=ttyS0 \
         -blockdev driver=file,node-name=data-file,filename=/cache/data.img,cache.direct=on,aio=io_uring \
         -device virtio-blk-pci,drive=data-file"
    };
    let mut decided = facts(&[
        ("data", "ext4 in an image file"),
        (DATA_CACHED_TWICE, "no"),
        ("host CPUs", "0,1"),
        (PROCESSOR, if native { "the host's own" } else { "virtual, a guest booted in 0.9 s" }),
    ]);
    if native {
        let why = "no cgroup could be made: permission denied";
        decided.insert(MEMORY_LIMIT.to_owned(), Fact::unavailable(why));
    } else {
        decided.insert("accelerator".to_owned(), Fact::known("kvm"));
    }
    let mut inside = host();
    if !native {
        inside.extend(facts(&[("kernel.release", "6.1.0-25-cloud-amd64"), ("memory.total_bytes", "2079338496")]));
    }
    let reading = |at: &str, offset_ns| ClockReading { at: at.to_owned(), offset_ns, round_trip_ns: 60_000 };
    MachineFacts {
        platform: if native { "native" } else { "qemu" }.to_owned(),
        command_line: words.split_whitespace().map(str::to_owned).collect(),
        image: "micro 1f6d2c9a".to_owned(),
        decided,
        inside,
        clock: vec![
            reading("after boot", -12_000),
            reading("before driving", -11_000),
            reading("after driving", 9_000),
        ],
    }
}

fn server() -> ServerFacts {
    let effective = [("cache_size", "-524288"), ("journal_mode", "wal"), ("synchronous", "2")];
    ServerFacts {
        engine: "sqlite".to_owned(),
        version: "3.51.1".to_owned(),
        profile: "sized".to_owned(),
        effective: effective.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
    }
}

fn findings(chance: &mut Chance) -> Vec<CheckResult> {
    let holds = |name: &str, rule: &str, seen: Option<String>| CheckResult {
        name: format!("order-entry/{name}"),
        rule: rule.to_owned(),
        moment: Moment::AfterTrial,
        verdict: Verdict::Holds { seen },
    };
    let lines = format!("mean {:.2}, allowed 9.80 to 10.20", 10.0 + 0.03 * chance.normal());
    let mut findings = vec![
        holds("consistency-01", "each warehouse's total is the sum of its districts' totals", None),
        holds("consistency-02", "each district's next order number is one above its newest order", None),
        holds("input-order-lines", "orders have ten lines on average", Some(lines)),
    ];
    for (table, sum) in
        [("stock", "200000 rows, checksum 50b91db7da4f671d"), ("warehouse", "2 rows, checksum 565623b66adbde1d")]
    {
        findings.push(CheckResult {
            name: CheckResult::checksum_name("order-entry", table),
            rule: format!("table {table} holds exactly the rows that the definition and the seed give"),
            moment: Moment::AfterLoad,
            verdict: Verdict::Holds { seen: Some(sum.to_owned()) },
        });
    }
    findings.push(CheckResult {
        name: "order-entry/input-rollbacks".to_owned(),
        rule: "one new order in a hundred is rolled back on purpose".to_owned(),
        moment: Moment::AfterTrial,
        verdict: Verdict::Undecided { why: "too few new orders to judge".to_owned() },
    });
    findings
}
