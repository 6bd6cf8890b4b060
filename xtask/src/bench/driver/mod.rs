//! The load engine against pgbench and sysbench: the same statements on the same tables of the same server, in turn.
//!
//! It compares the driving process's CPU time per statement, and the number of statements. Alternatively, two versions
//! of the load engine are compared, which shows the cost of a change more precisely than two such races could.
//!
//! Every contestant gets two threads if it has the option, prepared statements, and uniformly drawn ids. Its CPU time
//! is that of the whole process, including connecting. Connections are Unix sockets, which cost all of them the same.

pub mod contestant;
mod omission;
pub mod scenario;
pub mod server;
mod summary;
mod terminals;

use super::RaceGround;
use super::bar::{self, Bar};
use contestant::{ContestantRun, RacePrograms};
use scenario::{SCENARIOS, Scenario};
use server::{Product, RaceServer};
use std::path::Path;
use summary::Rounds;

/// Rows of the one table that all contestants use.
const TABLE_ROWS: u32 = 100_000;

pub fn race(ground: &RaceGround, before: Option<&Path>, rounds: u32, seconds: u32, only: &str) -> anyhow::Result<()> {
    let wanted = |name: &str| name.contains(only);
    anyhow::ensure!(rounds > 0 && seconds > 0, "a race has at least one round of one second");
    let programs = RacePrograms { ground, before };
    programs.are_installed()?;
    let mut bars = Vec::new();
    for product in [Product::Postgres, Product::Mariadb] {
        let server = RaceServer::start(ground, product)?;
        contestant::load(ground, &server, TABLE_ROWS)?;
        for scenario in SCENARIOS.iter().filter(|scenario| scenario.product == product && wanted(&scenario.name())) {
            bars.extend(compare(programs, &server, scenario, rounds, seconds)?);
        }
        if product == Product::Postgres && wanted("PostgreSQL, terminals") {
            bars.extend(terminals::compare(programs, &server, rounds, seconds)?);
        }
        if product == Product::Postgres && before.is_none() && wanted("PostgreSQL, arrivals at a stopped server") {
            bars.extend(omission::compare(ground, &server, rounds)?);
        }
        server.stop()?;
    }
    bar::verdict(&bars)
}

fn compare(
    programs: RacePrograms<'_>,
    server: &RaceServer,
    scenario: &Scenario,
    count: u32,
    seconds: u32,
) -> anyhow::Result<Vec<Bar>> {
    println!("\n{}\n", scenario.name());
    let contestants = programs.that_run(scenario);
    let mut rounds = Rounds::new(&contestants);
    for number in 0..count {
        // Each contestant is first, second and last equally often.
        for turn in 0..contestants.len() {
            let contestant = contestants[(turn + number as usize) % contestants.len()];
            let run = ContestantRun { server, scenario, rows: TABLE_ROWS, seconds, seed: number + 1 };
            let sample = contestant.run(programs, &run)?;
            println!("round {}: {}", number + 1, sample.line(contestant.name()));
            rounds.add(contestant, sample);
        }
    }
    println!("\n{}", rounds.table());
    Ok(rounds.bars(scenario))
}
