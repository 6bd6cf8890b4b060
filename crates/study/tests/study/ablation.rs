//! `[ablation]`: single changes to a contender, and what is wrong with them.

use crate::fixture::{STUDY, plan, problems};
use insta::assert_snapshot;
use record::ablation::{Ablation, Direction};
use record::plan::Plan;

/// The study with an ablation of this contender and these changes.
fn ablation(of: &str, changes: &[(&str, &str)]) -> String {
    let change = |(name, set): &(&str, &str)| format!("[[ablation.change]]\nname = \"{name}\"\nset = {{ {set} }}\n");
    let changes: String = changes.iter().map(change).collect();
    format!("{STUDY}\n[ablation]\nof = \"{of}\"\n{changes}")
}

const CHANGES: [(&str, &str); 3] = [
    ("kvm", "\"platform.accelerator\" = \"kvm\""),
    ("uncached", "\"platform.disk.cache\" = \"none\""),
    ("more warehouses", "\"workload.warehouses\" = 9"),
];

fn cells(plan: &Plan) -> String {
    let cell = |cell: &record::plan::Cell| {
        let settings = cell.settings.tables();
        let baseline = if cell.baseline { " (baseline)" } else { "" };
        let (platform, workload) = (&settings["platform"], &settings["workload"]);
        format!("{}{baseline}: {platform}, {}", cell.contender, workload["warehouses"])
    };
    plan.cells.iter().map(cell).collect::<Vec<_>>().join("\n")
}

fn asked(plan: &Plan) -> &Ablation {
    plan.ablation.as_ref().expect("an ablation")
}

#[test]
fn each_change_is_a_contender() {
    let plan = plan(&ablation("vm", &CHANGES));
    assert_snapshot!(cells(&plan), @r#"
    native: {"kind":"native"}, 2
    vm (baseline): {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 2
    kvm: {"kind":"vm","accelerator":"kvm","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 2
    uncached: {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"none"}}, 2
    more warehouses: {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 9
    "#);
    assert_eq!((asked(&plan).of.as_str(), asked(&plan).direction), ("vm", Direction::AddOne));
    let changes = &asked(&plan).changes;
    assert!(changes.iter().all(|change| change.skipped.is_none() && change.contender == change.name));
    assert_eq!(changes[1].set["platform.disk.cache"], "none");
}

#[test]
fn each_change_is_left_out_of_all() {
    let text = ablation("vm", &CHANGES).replace("of = \"vm\"", "of = \"vm\"\ndirection = \"leave-one-out\"");
    assert_snapshot!(cells(&plan(&text)), @r#"
    native: {"kind":"native"}, 2
    vm: {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 2
    vm with all (baseline): {"kind":"vm","accelerator":"kvm","disk":{"adapter":"virtio-blk","cache":"none"}}, 9
    without kvm: {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"none"}}, 9
    without uncached: {"kind":"vm","accelerator":"kvm","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 9
    without more warehouses: {"kind":"vm","accelerator":"kvm","disk":{"adapter":"virtio-blk","cache":"none"}}, 2
    "#);
}

#[test]
fn what_the_platform_cannot_make_is_skipped_with_the_reason() {
    let changes = [("nvme", "\"platform.disk.adapter\" = \"nvme\""), CHANGES[2]];
    let of_vm = plan(&ablation("vm", &changes));
    assert_snapshot!(asked(&of_vm).changes[0].skipped.as_deref().unwrap(), @r#"platform.disk.cache: found "writeback"; expected "none" with the adapter nvme"#);
    assert_snapshot!(cells(&of_vm), @r#"
    native: {"kind":"native"}, 2
    vm (baseline): {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 2
    more warehouses: {"kind":"vm","accelerator":"auto","disk":{"adapter":"virtio-blk","cache":"writeback"}}, 9
    "#);
    let of_native = plan(&ablation("native", &[CHANGES[0], CHANGES[1], CHANGES[2]]));
    let skipped = asked(&of_native).changes.iter().map(|change| change.skipped.as_deref().unwrap_or("made"));
    assert_snapshot!(skipped.collect::<Vec<_>>().join("\n"), @r#"
    the platform native has no platform.accelerator
    the platform native has no platform.disk
    made
    "#);
}

#[test]
fn what_is_wrong_with_an_ablation_is_told() {
    assert_snapshot!(problems(&ablation("vn", &CHANGES)), @r#"x.toml:30: ablation.of: found "vn"; expected "native" or "vm"; did you mean "vm"?"#);
    assert_snapshot!(problems(&ablation("vm", &[])), @r#"x.toml:29: ablation.change: missing; expected at least one [[ablation.change]] table"#);
    assert_snapshot!(problems(&ablation("vm", &[("typo", "\"platform.disk.cash\" = \"none\"")])), @r#"x.toml:33: platform.disk.cash: unknown key; expected one of adapter, cache (contender typo)"#);
    assert_snapshot!(problems(&ablation("vm", &[("much", "\"workload.warehouses\" = 0")])), @r#"x.toml:33: workload.warehouses: found 0; expected a whole number from 1 to 5000 (contender much)"#);
    assert_snapshot!(problems(&ablation("vm", &[("native", "\"workload.warehouses\" = 9")])), @r#"x.toml:31: ablation.change.name: found "native"; expected a name that no contender has; the one in line 21 has it"#);
    assert_snapshot!(problems(&ablation("vm", &[CHANGES[0], CHANGES[0]])), @r#"x.toml:35: ablation.change.name: found "kvm"; expected a name of its own; the ablation.change in line 31 has this one"#);
    assert_snapshot!(problems(&ablation("vm", &[("nothing", "")])), @r#"x.toml:31: ablation.change: "nothing" changes nothing; expected keys of a contender that it changes, such as set = { "platform.huge_pages" = true }"#);
    let twice = ablation("vm", &[CHANGES[0], ("tcg", "\"platform.accelerator\" = \"tcg\"")]);
    plan(&twice);
    assert_snapshot!(problems(&twice.replace("[ablation]", "[ablation]\ndirection = \"leave-one-out\"")), @r#"x.toml:37: ablation.change.platform.accelerator: changed twice; expected keys that no other change sets, because of direction = "leave-one-out"; "kvm" in line 32 does"#);
    let other = ablation("vm", &CHANGES).replace("name = \"native\"", "name = \"native\"\nbaseline = true");
    assert_snapshot!(problems(&other), @r#"x.toml:21: contender.baseline: found true for "native"; expected no baseline, because changes are compared with "vm""#);
    assert_snapshot!(problems(&ablation("vm", &CHANGES).replace("of = \"vm\"", "off = \"vm\"")), @r#"x.toml:30: ablation.off: unknown key; expected one of of, direction; did you mean "of"?"#);
    assert_snapshot!(problems(&format!("ablation = 5\n{STUDY}")), @r#"x.toml:1: ablation: found 5; expected a table with [[ablation.change]] tables"#);
}
