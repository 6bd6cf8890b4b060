//! Checks that a server takes the sessions that a load opens, before anything is loaded.

use driver::plan::{DrivePlan, Pacing};
use engines::server::ServerShape;
use record::settings::key::KIND;
use serde_json::{Map, Value};
use workloads::catalog::AnyWorkload;

/// For each database, sessions that ask about its counters and about waits.
const OURS: u32 = 2;

/// The parts of a cell that decide how many sessions there are and may be.
#[derive(Clone, Copy)]
pub struct Sizing<'a> {
    pub engine: &'a str,
    pub table: &'a Map<String, Value>,
    pub machine: &'a Map<String, Value>,
    pub load: &'a Map<String, Value>,
    pub workload: &'a Map<String, Value>,
    /// Databases, each with an equal share of the clients.
    pub instances: u64,
    pub shares_server: bool,
}

/// The key of `[load]` that asks for more sessions than a server takes, what was found, and what is expected.
pub fn problem(of: Sizing<'_>) -> Option<(&'static str, String, String)> {
    let engine = engines::catalog::entry(of.engine)?;
    let number = |name: &str| u32::try_from(of.machine.get(name)?.as_u64()?).ok();
    let shape = ServerShape { vcpus: number("vcpus")?, memory_bytes: of.machine.get("memory")?.as_u64()? };
    let own = of.table.iter().filter(|(name, _)| engine.keys.iter().any(|key| key.name == *name));
    let own = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    let most = (engine.most_sessions)(&own, &shape)?;
    let (key, asked) = ["sessions", "clients"].into_iter().find_map(|key| Some((key, of.load.get(key)?.as_u64()?)))?;
    let workload = made(of.workload)?;
    let instances = u32::try_from(of.instances.max(1)).ok()?;
    let on_each = if of.shares_server { instances } else { 1 };
    let fits = |clients: u32| {
        let plan = DrivePlan::timed(Pacing::Clients { clients: clients.div_ceil(instances) }, 0, 1_000, 1);
        let of_database = driver::sessions_opened(workload.actors(), &plan).saturating_add(OURS);
        of_database.saturating_mul(on_each) <= most
    };
    let asked = u32::try_from(asked).ok()?;
    let whose = if on_each < instances { "each server" } else { "the server" };
    (!fits(asked)).then(|| {
        let room = (0..asked).rev().find(|clients| fits(*clients)).unwrap_or(0);
        let why = format!("{whose} takes {most} sessions, with those of bakeoff; raise engine.max_connections");
        (key, format!("found {asked}"), format!("at most {room}: {why}"))
    })
}

fn made(workload: &Map<String, Value>) -> Option<AnyWorkload> {
    let mut table = workload.clone();
    let kind = table.shift_remove(KIND)?;
    AnyWorkload::from_table(kind.as_str()?, &table).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    /// For a workload that opens no further sessions.
    fn told(engine: &str, table: Value, load: Value, (instances, shares_server): (u64, bool)) -> Option<String> {
        let (table, load) = (object(table), object(load));
        let machine = object(json!({ "vcpus": 2, "memory": 1 << 30 }));
        let workload = object(json!({ "kind": "sysbench-oltp" }));
        let decided = Sizing {
            engine,
            table: &table,
            machine: &machine,
            load: &load,
            workload: &workload,
            instances,
            shares_server,
        };
        let (key, found, expected) = problem(decided)?;
        Some(format!("{key}: {found}; expected {expected}"))
    }

    #[test]
    fn a_server_that_takes_fewer_sessions_than_are_asked_for_is_found_before_it_starts() {
        let one = |engine, table, load| told(engine, table, load, (1, false));
        let (sized, stock) = (|| json!({ "profile": "sized" }), || json!({ "profile": "stock" }));
        assert_eq!(one("postgres", sized(), json!({ "clients": 126 })), None);
        assert_eq!(
            one("postgres", sized(), json!({ "clients": 300 })).unwrap(),
            "clients: found 300; expected at most 126: the server takes 128 sessions, with those of bakeoff; raise engine.max_connections"
        );
        assert!(one("mariadb", stock(), json!({ "clients": 151 })).is_some());
        assert!(one("postgres", stock(), json!({ "clients": 100 })).is_some());
        let many = json!({ "profile": "sized", "max_connections": 400, "shared_server": false });
        assert_eq!(one("postgres", many, json!({ "clients": 300 })), None);
        assert_eq!(one("postgres", sized(), json!({ "terminals": 5_000, "sessions": 64 })), None);
        assert!(one("postgres", sized(), json!({ "arrivals": 10, "sessions": 128 })).is_some());
        assert_eq!(one("postgres", sized(), json!({ "clients": "peak" })), None, "the climb ends there");
        assert_eq!(one("sqlite", json!({}), json!({ "clients": 5_000 })), None);
    }

    #[test]
    fn databases_share_the_clients_and_perhaps_the_server() {
        let sized = || json!({ "profile": "sized" });
        let asked = || json!({ "clients": 200 });
        assert_eq!(told("mariadb", sized(), asked(), (2, false)), None);
        assert!(told("mariadb", sized(), asked(), (2, true)).is_some());
    }

    #[test]
    fn sessions_for_work_in_the_background_count() {
        let workload = object(json!({ "kind": "order-entry", "warehouses": 40 }));
        let (table, machine) =
            (object(json!({ "profile": "sized" })), object(json!({ "vcpus": 2, "memory": 1 << 30 })));
        let fits = |clients: u32| {
            let load = object(json!({ "clients": clients }));
            let (table, machine, load, workload) = (&table, &machine, &load, &workload);
            let decided =
                Sizing { engine: "postgres", table, machine, load, workload, instances: 1, shares_server: false };
            problem(decided).is_none()
        };
        assert!(fits(112) && !fits(113), "112 clients and 14 sessions in the background");
    }
}
