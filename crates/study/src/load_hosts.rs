//! `load.from`: the hosts that load comes from, and whether the rest of `[load]` suits them.

use crate::keys::PACINGS;
use platforms::host::settings::of_names;
use serde_json::{Map, Value};
use settings::Problem;
use std::net::IpAddr;

/// Keys that only load from other hosts has.
const COMPANIONS: [&str; 2] = ["ssh_options", "address"];

/// Problems of a checked `[load]`. Paths start at the top of the study.
pub fn problems(load: &Map<String, Value>) -> Vec<Problem> {
    let Some(from) = load.get("from").and_then(Value::as_array) else {
        let stray = COMPANIONS.iter().filter(|name| load.contains_key(**name));
        return stray.map(|name| problem(name, "given".to_owned(), "this key only beside from")).collect();
    };
    let hosts: Vec<&str> = from.iter().filter_map(Value::as_str).collect();
    let mut problems = Vec::new();
    if !is_outside(load) {
        problems.push(problem("from", "given".to_owned(), "this key only beside placement = \"outside\""));
    }
    if hosts.is_empty() {
        problems.push(problem("from", "found []".to_owned(), "at least one host"));
    }
    problems.extend(of_names("load.from", &hosts));
    let address = load.get("address").and_then(Value::as_str);
    if let Some(address) = address.filter(|address| address.parse::<IpAddr>().is_err()) {
        problems.push(problem("address", format!("found \"{address}\""), "an IP address"));
    }
    problems.extend(too_few(load, hosts.len()));
    problems
}

/// Each host needs at least one client, and one session.
fn too_few(load: &Map<String, Value>, hosts: usize) -> Option<Problem> {
    let names = || PACINGS.iter().chain(["sessions"].iter());
    let few = |name: &&&str| load.get(**name).and_then(Value::as_u64).is_some_and(|count| count < hosts as u64);
    // Arrivals are a rate, of which each host takes a part.
    let name = names().filter(|name| **name != "arrivals").find(few)?;
    let found = format!("found {}", load.get(*name)?);
    Some(problem(name, found, &format!("at least {hosts}, one for each host of from")))
}

fn problem(name: &str, found: String, expected: &str) -> Problem {
    Problem::new(format!("load.{name}"), found, expected)
}

/// Whether the load comes over the network.
pub fn is_outside(load: &Map<String, Value>) -> bool {
    load.get("placement").and_then(Value::as_str) == Some("outside")
}

#[cfg(test)]
mod tests {
    use super::problems;
    use serde_json::json;

    fn told(load: &serde_json::Value) -> Vec<String> {
        problems(load.as_object().unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn hosts_are_named_once_and_have_something_to_do() {
        assert!(told(&json!({ "placement": "inside", "clients": 1 })).is_empty());
        assert!(
            told(&json!({ "placement": "outside", "clients": 2, "from": ["a", "b"], "address": "::1" })).is_empty()
        );
        let told = told(&json!({
            "placement": "inside", "clients": 2, "from": ["a", "a", "-x", "b c"], "address": "here"
        }));
        insta::assert_snapshot!(told.join("\n"), @r#"
        load.from: given; expected this key only beside placement = "outside"
        load.from: found "a" twice; expected each host once
        load.from: found "-x"; expected a name that ssh knows, without spaces and not beginning with "-"
        load.from: found "b c"; expected a name that ssh knows, without spaces and not beginning with "-"
        load.address: found "here"; expected an IP address
        load.clients: found 2; expected at least 4, one for each host of from
        "#);
    }

    #[test]
    fn keys_of_other_hosts_need_other_hosts() {
        let told = told(&json!({ "placement": "outside", "clients": 1, "ssh_options": [], "address": "::1" }));
        assert_eq!(told.len(), 2);
        assert!(told.iter().all(|told| told.ends_with("given; expected this key only beside from")), "{told:?}");
    }
}
