//! Golden plans: the decided form of studies.

use crate::fixture::{STUDY, against_itself, catalogs, host, image, plan, plus, typed, with};
use insta::assert_snapshot;
use record::phase::Phase;
use record::plan::{Cell, Plan};
use record::precision::Precision;
use record::trial::{ArrivalProcess, Pacing};
use serde_json::{Value, json};
use settings::{Bytes, TimeSpan};
use std::rc::Rc;
use study::{Against, Catalogs, OfferedWork, PeakLimits, Placement, Storage, StudyFiles, TypedCell};

/// The order of trials, one block per line.
fn order(plan: &Plan) -> String {
    let block = |block: u32| {
        let trials = plan.trials.iter().filter(|trial| trial.block == block).collect::<Vec<_>>();
        let cells = trials.iter().map(|trial| format!("{}:{}", trial.id, trial.cell)).collect::<Vec<_>>();
        format!("block {block}, seed {}: {}", trials[0].seed, cells.join(" "))
    };
    (1..=plan.blocks).map(block).collect::<Vec<_>>().join("\n")
}

fn heading(cell: &Cell) -> String {
    let baseline = if cell.baseline { " (baseline)" } else { "" };
    format!("{} {}{baseline}: {}", cell.id, cell.contender, cell.coordinates())
}

fn headings(plan: &Plan) -> String {
    plan.cells.iter().map(heading).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plan_holds_every_decided_value() {
    let plan = plan(STUDY);
    assert_eq!((plan.study.as_str(), plan.seed, plan.blocks), ("x", 7, 2));
    assert_eq!(plan.workloads.iter().map(|note| note.kind.as_str()).collect::<Vec<_>>(), ["orders"]);
    assert_snapshot!(serde_json::to_string_pretty(&plan.cells[1]).unwrap(), @r#"
    {
      "id": 1,
      "contender": "vm",
      "baseline": false,
      "sweep": {},
      "settings": {
        "machine": {
          "count": 1,
          "vcpus": 2,
          "memory": 1073741824,
          "kernel": "debian-12",
          "image": "server",
          "disk": {
            "size": 21474836480,
            "storage": "file"
          },
          "oversubscribe": false,
          "pinning": "auto"
        },
        "platform": {
          "kind": "vm",
          "accelerator": "auto",
          "disk": {
            "adapter": "virtio-blk",
            "cache": "writeback"
          }
        },
        "engine": {
          "kind": "server",
          "profile": "sized",
          "instances": 1,
          "shared_server": false
        },
        "workload": {
          "kind": "orders",
          "warehouses": 2
        },
        "load": {
          "placement": "inside",
          "clients": 4,
          "warmup": 3000,
          "measure": 10000,
          "shards": 0,
          "retries": 10,
          "telemetry": true
        }
      }
    }
    "#);
}

#[test]
fn the_order_of_trials_is_the_same_for_ever() {
    let text = plus("[sweep]\n\"workload.warehouses\" = [1, 2, 3]\n").replace("blocks = 2", "blocks = 4");
    assert_snapshot!(order(&plan(&text)), @r"
    block 1, seed 4566298534525: 1:2 2:1 3:5 4:0 5:3 6:4
    block 2, seed 2083632223789828: 7:3 8:5 9:0 10:4 11:1 12:2
    block 3, seed 8120809799804224: 13:0 14:4 15:5 16:2 17:3 18:1
    block 4, seed 7521130021786874: 19:2 20:3 21:5 22:4 23:1 24:0
    ");
}

#[test]
fn another_contender_or_another_block_changes_no_seed() {
    let seeds = |plan: &Plan| {
        let mut seeds = plan.trials.iter().map(|trial| (trial.block, trial.seed)).collect::<Vec<_>>();
        seeds.dedup();
        seeds
    };
    let two = seeds(&plan(STUDY));
    let three = seeds(&plan(&plus("[[contender]]\nname = \"other\"\nplatform = { kind = \"vm\" }\n")));
    let longer = seeds(&plan(&with("blocks = 2", "blocks = 9")));
    assert_eq!(two, three);
    assert_eq!(two, longer[..2]);
    assert_ne!(two, seeds(&plan(&with("seed = 7", "seed = 8"))));
}

#[test]
fn contenders_scenarios_and_sweeps_are_crossed_in_the_order_of_the_study() {
    let text = plus(
        r#"
[[scenario]]
name = "small"
set = { "machine.vcpus" = 1 }

[[scenario]]
name = "large"
set = { "machine.vcpus" = 3, machine = { memory = "2GiB" } }

[sweep]
"workload.warehouses" = [1, 10]
"load.clients" = [4, 8]
"#,
    );
    let plan = plan(&text);
    assert_snapshot!(headings(&plan), @r"
    0 native (baseline): small, workload.warehouses = 1, load.clients = 4
    1 native (baseline): small, workload.warehouses = 1, load.clients = 8
    2 native (baseline): small, workload.warehouses = 10, load.clients = 4
    3 native (baseline): small, workload.warehouses = 10, load.clients = 8
    4 native (baseline): large, workload.warehouses = 1, load.clients = 4
    5 native (baseline): large, workload.warehouses = 1, load.clients = 8
    6 native (baseline): large, workload.warehouses = 10, load.clients = 4
    7 native (baseline): large, workload.warehouses = 10, load.clients = 8
    8 vm: small, workload.warehouses = 1, load.clients = 4
    9 vm: small, workload.warehouses = 1, load.clients = 8
    10 vm: small, workload.warehouses = 10, load.clients = 4
    11 vm: small, workload.warehouses = 10, load.clients = 8
    12 vm: large, workload.warehouses = 1, load.clients = 4
    13 vm: large, workload.warehouses = 1, load.clients = 8
    14 vm: large, workload.warehouses = 10, load.clients = 4
    15 vm: large, workload.warehouses = 10, load.clients = 8
    ");
    let large = plan.cells[6].settings.tables();
    assert_eq!(large["machine"]["vcpus"], json!(3));
    assert_eq!(large["machine"]["memory"], json!(2_u64 << 30));
    assert_eq!(large["workload"]["warehouses"], json!(10));
    assert_eq!(large["load"]["clients"], json!(4));
}

#[test]
fn the_first_contender_is_the_baseline_unless_another_is_marked() {
    assert_eq!(plan(STUDY).cells.iter().map(|cell| cell.baseline).collect::<Vec<_>>(), [true, false]);
    let marked = plan(&plus("baseline = true\n"));
    assert_eq!(marked.cells.iter().map(|cell| cell.baseline).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_table_of_another_kind_starts_anew_and_one_of_the_same_kind_is_merged() {
    let base = "[platform]\nkind = \"vm\"\naccelerator = \"tcg\"\ndisk = { adapter = \"nvme\" }\n";
    let text = STUDY.replace("cache = \"writeback\"", "cache = \"none\"") + base;
    let plan = plan(&text);
    assert_eq!(plan.cells[0].settings.tables()["platform"], json!({ "kind": "native" }));
    let merged = json!({ "kind": "vm", "accelerator": "tcg", "disk": { "adapter": "nvme", "cache": "none" } });
    assert_eq!(plan.cells[1].settings.tables()["platform"], merged);
}

#[test]
fn kinds_can_be_swept() {
    let text = plus("[sweep]\n\"engine.kind\" = [\"server\", \"sqlite\"]\n");
    let engines = plan(&text).cells.iter().map(|cell| cell.settings.tables()["engine"].clone()).collect::<Vec<Value>>();
    let server = json!({ "kind": "server", "profile": "sized", "instances": 1, "shared_server": false });
    let sqlite = json!({ "kind": "sqlite", "page": 4096, "instances": 1, "shared_server": false });
    assert_eq!(engines, [server.clone(), sqlite.clone(), server, sqlite]);
}

#[test]
fn tables_are_swept_like_values() {
    let text = plus("[sweep]\n\"machine.disk\" = [{ size = \"1GiB\" }, { size = \"2GiB\" }]\n");
    let sizes = plan(&text)
        .cells
        .iter()
        .map(|cell| cell.settings.tables()["machine"]["disk"]["size"].clone())
        .collect::<Vec<_>>();
    assert_eq!(sizes, [json!(1_u64 << 30), json!(2_u64 << 30), json!(1_u64 << 30), json!(2_u64 << 30)]);
}

#[test]
fn the_image_follows_the_engine_unless_it_is_given() {
    let image = |text: &str| plan(text).cells[0].settings.tables()["machine"]["image"].clone();
    assert_eq!(image(STUDY), "server");
    assert_eq!(image(&with("\"server\"", "\"sqlite\"")), "micro");
    assert_eq!(image(&with("vcpus = 2", "vcpus = 2\nimage = \"micro\"")), "micro");
}

#[test]
fn the_version_that_an_engine_asks_for_decides_the_image_of_each_contender() {
    let set = "platform = { kind = \"native\" }\nset = { \"engine.version\" = \"9\" }";
    let plan = plan(&with("platform = { kind = \"native\" }", set));
    let decided = |at: usize| {
        let tables = plan.cells[at].settings.tables();
        (tables["machine"]["image"].clone(), tables["engine"].get("version").cloned())
    };
    assert_eq!(decided(0), (json!("server-9"), Some(json!("9"))));
    assert_eq!(decided(1), (json!("server"), None));
    let differing = plan.cells[1].settings.differing(&plan.cells[0].settings);
    let keys: Vec<&str> = differing.iter().map(|one| one.key.as_str()).collect();
    for key in ["engine.version", "machine.image"] {
        assert!(keys.contains(&key), "{keys:?}");
    }
    // What is loaded for one version is not given to another.
    let engine = |at: usize| typed(&plan).typed()[at].engine.chosen.settings.get("version").cloned();
    assert_eq!((engine(0), engine(1)), (Some(json!("9")), None));
}

#[test]
fn a_recipe_of_the_studys_own_folder_is_in_its_plan() {
    let own = |folder: &str| match folder {
        "mine" => Ok(vec![image("server", Some("9.4")), image("unused", None)]),
        _ => Err("no such folder".to_owned()),
    };
    let catalogs = Catalogs { recipes: StudyFiles(Rc::new(own)), ..catalogs() };
    let text = with("seed = 7", "seed = 7\nrecipes = \"mine\"");
    let text = text.replace("kind = \"server\"", "kind = \"server\"\nversion = \"9\"");
    let plan = study::plan("x", &text, Against::Baseline, &catalogs, &host()).unwrap();
    let expected = [("server".to_owned(), "about = 'server'".to_owned())].into_iter().collect();
    assert_eq!(plan.recipes, expected, "the newest of that version, and only what is used");
    let recipe = typed(&plan).typed()[0].recipe().unwrap();
    assert_eq!((recipe.name.as_str(), recipe.text.as_str()), ("server", "about = 'server'"));
}

#[test]
fn more_vcpus_than_the_host_has_can_be_allowed() {
    let text = STUDY
        .replace("vcpus = 2", "vcpus = 5\noversubscribe = true")
        .replace("kind = \"vm\", disk = { cache = \"writeback\" }", "kind = \"native\"");
    assert_eq!(plan(&text).cells[1].settings.tables()["machine"]["vcpus"], 5);
}

#[test]
fn a_cell_is_read_back_in_types() {
    let disk = "vcpus = 2\ndisk = { storage = \"device\", device = \"/dev/sdb\" }";
    let plan = typed(&plan(&with("vcpus = 2", disk)));
    let TypedCell { machine, load, platform, .. } = &plan.typed()[1];
    assert_eq!((machine.vcpus, machine.memory_bytes), (2, Bytes(1 << 30)));
    assert_eq!((machine.disk.storage, machine.disk.device.as_deref()), (Storage::Device, Some("/dev/sdb")));
    let offered = OfferedWork::Paced(Pacing::Clients { clients: 4 });
    assert_eq!((load.placement, load.offered, load.warmup_ms), (Placement::Inside, offered, TimeSpan(3000)));
    assert!(format!("{platform:?}").contains("cache: Writeback"), "{platform:?}");
}

#[test]
fn the_estimate_adds_up() {
    let plan = typed(&plan(STUDY));
    let estimate = study::estimate(&plan);
    assert_eq!((estimate.measuring_ms, estimate.driving_ms), (40_000, 52_000));
    let of_cell =
        |cell: &TypedCell| Phase::OF_A_TRIAL.map(|phase| study::expected_ms(phase, &cell.load)).iter().sum::<u64>();
    let phases = plan.typed().iter().map(of_cell).sum::<u64>();
    assert_eq!(estimate.total_ms, estimate.preparing_ms + 2 * phases);
}

#[test]
fn the_estimate_of_the_longest_plan_does_not_overflow() {
    let values = (1..=500).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let text = STUDY.replace("blocks = 2", "blocks = 10").replace("\"10s\"", "\"24h\"");
    let plan = plan(&format!("{text}[sweep]\n\"workload.warehouses\" = [{values}]\n"));
    assert_eq!(plan.trials.len(), 10_000);
    assert_eq!(study::estimate(&typed(&plan)).measuring_ms, 10_000 * 24 * 3_600_000);
}

fn offered(text: &str) -> Vec<OfferedWork> {
    typed(&plan(text)).typed().iter().map(|cell| cell.load.offered).collect()
}

#[test]
fn whatever_makes_work_due_is_decided_with_all_that_belongs_to_it() {
    let of = |load: &str| offered(&with("clients = 4", load))[0];
    let paced = |pacing| OfferedWork::Paced(pacing);
    assert_eq!(of("terminals = 2000"), paced(Pacing::Terminals { terminals: 2000, sessions: 64 }));
    assert_eq!(of("terminals = 20"), paced(Pacing::Terminals { terminals: 20, sessions: 20 }));
    assert_eq!(of("terminals = 2000\nsessions = 7"), paced(Pacing::Terminals { terminals: 2000, sessions: 7 }));
    let arrivals = |per_second, process, sessions| paced(Pacing::Arrivals { per_second, process, sessions });
    assert_eq!(of("arrivals = \"30000/min\""), arrivals(500.0, ArrivalProcess::Poisson, 64));
    assert_eq!(
        of("arrivals = \"5/s\"\nprocess = \"uniform\"\nsessions = 3"),
        arrivals(5.0, ArrivalProcess::Uniform, 3)
    );
    let limits = |max_clients, p99_limit_ms| PeakLimits { max_clients, error_limit: 0.01, p99_limit_ms };
    assert_eq!(of("clients = \"peak\""), OfferedWork::Peak(limits(128, None)));
    let written = "clients = \"peak\"\npeak = { max_clients = 16, p99_limit = \"200ms\" }";
    assert_eq!(of(written), OfferedWork::Peak(limits(16, Some(TimeSpan(200)))));
}

#[test]
fn what_others_may_use_is_decided_with_its_repeats_and_what_they_cost_at_most() {
    let of = |written: &str| {
        let plan = typed(&plan(&with("clients = 4", &format!("clients = 4\n{written}"))));
        let limit = plan.typed()[0].load.other_load;
        let estimate = study::estimate(&plan);
        let each_once = estimate.total_ms - estimate.preparing_ms;
        (limit.map(|limit| (limit.max_other_cpu.0, limit.max_repeats)), estimate.repeating_ms / each_once)
    };
    assert_eq!(of(""), (None, 0));
    assert_eq!(of("max_other_cpu = \"5%\""), (Some((0.05, 3)), 3));
    assert_eq!(of("max_other_cpu = \"0.7 %\"\nmax_repeats = 1"), (Some((0.007, 1)), 1));
}

#[test]
fn an_override_by_another_pacing_takes_the_place_of_the_first() {
    let scenarios = r#"
[[scenario]]
name = "closed"
set = { "load.clients" = 8 }

[[scenario]]
name = "open"
set = { "load.arrivals" = "100/s" }

[[scenario]]
name = "users"
set = { "load.terminals" = 100 }
"#;
    let base = plus(scenarios).replace("clients = 4", "arrivals = \"9/s\"\nprocess = \"uniform\"\nsessions = 5");
    let [closed, open, users] = offered(&base)[..3] else { panic!("three scenarios") };
    assert_eq!(closed, OfferedWork::Paced(Pacing::Clients { clients: 8 }));
    let same_kind = Pacing::Arrivals { per_second: 100.0, process: ArrivalProcess::Uniform, sessions: 5 };
    assert_eq!(open, OfferedWork::Paced(same_kind), "the same way of pacing keeps the rest of the base");
    assert_eq!(users, OfferedWork::Paced(Pacing::Terminals { terminals: 100, sessions: 64 }));
}

#[test]
fn a_wish_for_precision_is_decided_with_its_limits() {
    let of = |written: &str| {
        let plan = plan(&with("blocks = 2", written));
        (plan.blocks, plan.precision)
    };
    let wish = Precision { half_width: 0.01, least_blocks: 10, max_blocks: 100, time_limit_ms: None, ended: None };
    assert_eq!(of("precision = \"1%\""), (10, Some(wish)));
    let limited = Precision { least_blocks: 12, max_blocks: 30, time_limit_ms: Some(7_200_000), ..wish };
    assert_eq!(of("precision = \"1 %\"\nblocks = 12\nmax_blocks = 30\ntime_limit = \"2h\""), (12, Some(limited)));
    assert_eq!(of("precision = \"1%\"\nblocks = 200").1.map(|wish| wish.max_blocks), Some(200));
    assert_eq!(of("blocks = 3"), (3, None));
}

#[test]
fn a_plan_that_has_grown_is_the_plan_that_would_have_been() {
    let text = plus("[sweep]\n\"workload.warehouses\" = [1, 2, 3]\n");
    let longer = typed(&plan(&text.replace("blocks = 2", "blocks = 7")));
    assert_eq!(typed(&plan(&text)).grown(7).plan(), longer.plan());
}

#[test]
fn an_aa_study_doubles_each_contender_and_keeps_contenders_apart() {
    let plan = against_itself(STUDY);
    assert_eq!((plan.study.as_str(), plan.aa), ("x-aa", true));
    assert_eq!(plan.question, "A/A study: does each contender equal itself? Asked of: What does a vm cost?");
    assert_snapshot!(headings(&plan), @r"
    0 native (baseline): native against itself
    1 native (again): native against itself
    2 vm (baseline): vm against itself
    3 vm (again): vm against itself
    ");
    assert_snapshot!(order(&plan), @r"
    block 1, seed 4566298534525: 1:1 2:3 3:0 4:2
    block 2, seed 2083632223789828: 5:2 6:1 7:3 8:0
    ");
    assert_eq!(plan.cells[2].settings, plan.cells[3].settings);
    let alone = &STUDY[..STUDY.rfind("[[contender]]").unwrap()];
    let sweep = "[sweep]\n\"workload.warehouses\" = [1, 2]\n";
    assert_snapshot!(headings(&against_itself(&format!("{alone}{sweep}"))), @r"
    0 native (baseline): workload.warehouses = 1
    1 native (again): workload.warehouses = 1
    2 native (baseline): workload.warehouses = 2
    3 native (again): workload.warehouses = 2
    ");
    assert_eq!(against_itself(&alone.replace("blocks = 2", "precision = \"1%\"")).blocks, 10, "now there is a ratio");
}
