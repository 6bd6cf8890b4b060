//! Which crate may use which other crates: the table, and the check of `cargo metadata` against it.
//!
//! The record is the waist: what is left of it has effects and computes no statistic, and what is right of it is a
//! pure function of files. Tests may use any crate.

use super::finding::Breach;
use serde_json::Value;

/// Every crate with the crates it may use, from the bottom up.
const ALLOWED: &[(&str, &[&str])] = &[
    ("settings", &[]),
    ("histograms", &[]),
    ("record", &["histograms"]),
    ("trust", &[]),
    ("telemetry", &["record"]),
    ("machines", &["settings", "telemetry"]),
    ("fleet", &["machines"]),
    ("images", &["machines", "settings"]),
    ("disk", &["images", "machines", "telemetry"]),
    ("platforms", &["images", "machines", "settings", "telemetry", "trust"]),
    ("uring", &[]),
    ("engines", &["machines", "record", "settings", "trust", "uring"]),
    ("workloads", &["engines", "record", "settings"]),
    ("driver", &["engines", "record", "settings", "telemetry", "uring", "workloads"]),
    ("agent", &["driver", "engines", "machines", "record", "settings", "telemetry", "workloads"]),
    ("study", &["driver", "engines", "images", "machines", "platforms", "record", "settings", "workloads"]),
    (
        "trial",
        &[
            "agent",
            "disk",
            "driver",
            "engines",
            "images",
            "machines",
            "platforms",
            "record",
            "settings",
            "study",
            "telemetry",
            "workloads",
        ],
    ),
    ("analysis", &["record"]),
    ("report", &["analysis", "record"]),
    ("bakeoff", ANY),
    ("xtask", ANY),
];

const ANY: &[&str] = &["*"];

const TABLE: &str = "xtask/src/tidy/direction.rs";

/// `metadata` is the output of `cargo metadata --no-deps`.
pub fn check(metadata: &Value) -> Vec<Breach> {
    check_against(ALLOWED, metadata)
}

fn check_against(table: &[(&str, &[&str])], metadata: &Value) -> Vec<Breach> {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut findings = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = table.iter().find(|(listed, _)| *listed == name) else {
            let message = format!("the crate `{name}` is not in the table of directions; decide what it may use");
            findings.push(Breach::new(TABLE, 0, "direction", name, message));
            continue;
        };
        findings.extend(forbidden_edges(package, name, allowed, &names));
    }
    let absent = table.iter().map(|(name, _)| *name).filter(|name| !names.contains(name));
    findings.extend(absent.map(|name| {
        Breach::new(TABLE, 0, "direction", name, format!("the table of directions names `{name}`, which is no crate"))
    }));
    findings
}

fn forbidden_edges(package: &Value, name: &str, allowed: &[&str], ours: &[&str]) -> Vec<Breach> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let used = dependencies.filter(|dependency| dependency["kind"] != "dev").filter_map(|used| used["name"].as_str());
    let is_forbidden = |used: &&str| ours.contains(used) && !allowed.contains(used) && allowed != ANY;
    let path = manifest_path(package);
    let finding = |used: &str| {
        let message = format!("`{name}` may not use `{used}`: data moves one way (see the table in {TABLE})");
        Breach::new(&path, 0, "direction", used, message)
    };
    used.filter(is_forbidden).map(finding).collect()
}

/// The manifest's path relative to the project's root, as far as it can be determined.
fn manifest_path(package: &Value) -> String {
    let path = package["manifest_path"].as_str().unwrap_or_default();
    let start = path.find("/crates/").or_else(|| path.find("/xtask/"));
    start.map_or(path, |start| &path[start + 1..]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        let manifest = format!("/home/me/bakeoff/crates/{name}/Cargo.toml");
        json!({ "name": name, "manifest_path": manifest, "dependencies": dependencies })
    }

    const TABLE: &[(&str, &[&str])] = &[("low", &[]), ("high", &["low"]), ("top", ANY)];

    fn findings(packages: &[Value]) -> Vec<String> {
        check_against(TABLE, &json!({ "packages": packages })).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn edges_in_the_table_and_foreign_crates_are_fine() {
        let top = package("top", &[("high", None), ("low", None)]);
        let high = package("high", &[("low", None), ("serde", None)]);
        assert!(findings(&[package("low", &[]), high, top]).is_empty());
    }

    #[test]
    fn an_edge_against_the_direction_is_found_unless_for_tests() {
        let low = |kind| package("low", &[("high", kind)]);
        let rest = [package("high", &[]), package("top", &[])];
        let found = findings(&[&[low(None)], rest.as_slice()].concat());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/low/Cargo.toml: `low` may not use `high`"), "{}", found[0]);
        assert_eq!(findings(&[&[low(Some("build"))], rest.as_slice()].concat()).len(), 1);
        assert!(findings(&[&[low(Some("dev"))], rest.as_slice()].concat()).is_empty());
    }

    #[test]
    fn table_and_workspace_name_the_same_crates() {
        let found = findings(&[package("low", &[]), package("high", &[]), package("new", &[])]);
        assert!(found.iter().any(|finding| finding.contains("`new` is not in the table")), "{found:?}");
        assert!(found.iter().any(|finding| finding.contains("`top`, which is no crate")), "{found:?}");
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (position, (name, allowed)) in ALLOWED.iter().enumerate().filter(|(_, (_, allowed))| *allowed != ANY) {
            let below: Vec<&str> = ALLOWED[..position].iter().map(|(name, _)| *name).collect();
            assert!(allowed.iter().all(|used| below.contains(used)), "{name} uses a crate that is not above it");
        }
    }
}
