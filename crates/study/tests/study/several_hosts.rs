//! Contenders with several hosts: where trials run, at what time, and what is wrong with such a study.

use crate::fixture::host;
use insta::assert_snapshot;
use platforms::capabilities::DataHome;
use record::plan::Plan;
use record::settings::Settings;
use serde_json::{Map, Value, json};
use study::{Against, Catalogs, TypedPlan, lanes};

fn study(load: &str, hosts: [&str; 2]) -> String {
    let contender = |name: &str, platform: &str| {
        format!("[[contender]]\nname = \"{name}\"\nplatform = {{ kind = \"host\", {platform} }}\n")
    };
    format!(
        "question = \"?\"\nblocks = 4\n[machine]\nvcpus = 1\nmemory = \"256MiB\"\n[engine]\nkind = \"postgres\"\n\
         [workload]\nkind = \"order-entry\"\nwarehouses = 1\n[load]\nclients = 4\nwarmup = \"1s\"\nmeasure = \"2s\"\n{load}\n{}{}",
        contender("old", hosts[0]),
        contender("new", hosts[1])
    )
}

const INSIDE: &str = "placement = \"inside\"";

fn planned(text: &str) -> Result<Plan, String> {
    let plan = study::plan("x", text, Against::Baseline, &Catalogs::standard(), &host());
    plan.map_err(|problems| study::render(&problems, "x.toml"))
}

/// "old 1 on a, 2 on b": the blocks of a contender.
fn places(plan: &Plan) -> String {
    let of = |name: &str| {
        let cell = plan.cells.iter().find(|cell| cell.contender == name).expect("a contender");
        let own = plan.trials.iter().filter(|trial| trial.cell == cell.id);
        let mut own: Vec<String> =
            own.map(|trial| format!("{} on {}", trial.block, trial.host.as_deref().unwrap_or("-"))).collect();
        own.sort();
        format!("{name} {}", own.join(", "))
    };
    format!("{}\n{}", of("old"), of("new"))
}

#[test]
fn each_block_runs_on_the_next_host_and_hosts_do_not_wait_for_each_other() {
    let own = "hosts = [\"a\", \"b\"]";
    let plan = planned(&study(INSIDE, [own, "hosts = [\"c\", \"d\"]"])).unwrap();
    assert_snapshot!(places(&plan), @r"
    old 1 on a, 2 on b, 3 on a, 4 on b
    new 1 on c, 2 on d, 3 on c, 4 on d
    ");
    let typed = |plan: &Plan| TypedPlan::read(plan.clone(), platforms::catalog::settings).unwrap();
    let of = |plan: &Plan| lanes(&typed(plan), &plan.trials).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(of(&plan), [2, 2, 2, 2]);
    let apart_ms = study::estimate(&typed(&plan)).driving_ms;
    let same = planned(&study(INSIDE, [own, own])).unwrap();
    assert_eq!(of(&same), [4, 4], "a host runs one trial at a time");
    assert_eq!(study::estimate(&typed(&same)).driving_ms, 2 * apart_ms);
    let here = planned(&study("placement = \"outside\"", [own, own])).unwrap();
    assert_eq!(of(&here), [8], "this host drives one trial at a time");
    let elsewhere = planned(&study("placement = \"outside\"\nfrom = [\"x\", \"y\"]", [own, own])).unwrap();
    assert_eq!(of(&elsewhere), [4, 4]);
    let one = planned(&study(INSIDE, ["host = \"a\"", "host = \"b\""])).unwrap();
    assert_eq!((of(&one), one.trials[0].host.clone()), (vec![8], None));
}

#[test]
fn what_hosts_cannot_be() {
    let told = |hosts| planned(&study(INSIDE, hosts)).unwrap_err();
    let five = "hosts = [\"a\", \"b\", \"c\", \"d\", \"e\"]";
    let problems = [
        told(["", "host = \"a\""]),
        told(["hosts = [\"a\", \"a\", \"-b\"]", "host = \"a\", hosts = [\"b\"]"]),
        told([five, five]),
        told(["hosts = [\"a\", \"b\"]", "hosts = [\"c\", \"d\", \"e\"]"]),
        told(["hosts = [\"a\", \"b\"]", "hosts = [\"b\", \"a\"]"]),
        told(["hosts = [\"a\", \"b\"]", "host = \"c\""]),
    ];
    assert_snapshot!(problems.join("\n"), @r#"
    x.toml:18: platform.host: missing; expected a name that ssh knows; or hosts, several of them (contender old)
    x.toml:18: platform.hosts: found "a" twice; expected each host once (contender old)
    x.toml:18: platform.hosts: found "-b"; expected a name that ssh knows, without spaces and not beginning with "-" (contender old)
    x.toml:21: platform.hosts: given; expected either host or hosts (contender new)
    x.toml:2: blocks: found 4; expected at least 5, so that each host of "old" is measured
    x.toml: platform.hosts: found c, d, e of "new"; expected the hosts of the baseline "old" in the same order, or as many others: a, b
    x.toml: platform.hosts: found b, a of "new"; expected the hosts of the baseline "old" in the same order, or as many others: a, b
    x.toml: platform.hosts: missing in "new"; expected the hosts of the baseline "old" in the same order, or as many others: a, b
    "#);
}

/// Readers of a record know no platform.
#[test]
fn records_and_platforms_agree_on_which_machines_are_elsewhere() {
    for entry in platforms::catalog::PLATFORMS {
        let needed = json!({ "url": "https://a", "template": "a" });
        let is_key = |(name, _): &(&String, &Value)| entry.keys.iter().any(|key| key.name == *name);
        let table: Map<String, Value> = needed
            .as_object()
            .unwrap()
            .iter()
            .filter(is_key)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let is_elsewhere = (entry.read)(&table).unwrap().can().data == DataHome::Elsewhere;
        let settings: Settings = serde_json::from_value(json!({ "platform": { "kind": entry.kind } })).unwrap();
        assert_eq!(settings.is_elsewhere(), is_elsewhere, "{}", entry.kind);
    }
}
