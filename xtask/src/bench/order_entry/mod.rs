//! Order entry over TCP of this host: the ways in which bakeoff executes its transactions, and the peers that are installed.
//!
//! New orders are counted in the database and CPU time in /proc, alike for all contestants. Costs are for a new order with its
//! share of the other transactions. The data are in memory, so that this host's disk is no part of it. At the end there is
//! a link that delays, between our driver and the server.

mod contestant;
mod outside;
mod relay;

use super::RaceGround;
use super::bar::{Bar, BarSize, median, spread, verdict};
use super::driver::server::{Product, RaceServer};
use crate::process;
use anyhow::{Context, ensure};
use contestant::{ContestantTurn, OrderContestant, WRITERS};
use outside::{MarkedTurn, TurnMark, execute};
use relay::Relay;
use std::time::{Duration, Instant};

const CLIENTS: [u32; 3] = [4, 16, 64];
/// Clients over the link.
const DISTANT: u32 = 16;
/// How long the link holds up each direction.
const DELAY: Duration = Duration::from_micros(500);
/// Work before the measured time, and after it.
const AROUND_S: u32 = 2;
const LOAD_LIMIT: Duration = Duration::from_mins(30);
const ALLOWANCE: Duration = Duration::from_mins(2);
/// bakeoff's exit code if the driver was disturbed too much for a study. Here that is part of what is measured.
const INVALID: i32 = 4;

/// How much is done.
#[derive(Clone, Copy)]
struct Extent {
    warehouses: u32,
    rounds: u32,
    seconds: u32,
}

pub fn race(ground: &RaceGround, warehouses: u32, rounds: u32, seconds: u32, only: &str) -> anyhow::Result<()> {
    ensure!(rounds > 0 && seconds > 0, "a race has at least one round of one second");
    let (ground, _emptied) = ground.in_memory()?;
    let ground = &ground;
    let extent = Extent { warehouses, rounds, seconds };
    let contestants = OrderContestant::that_run();
    let mut bars = Vec::new();
    for product in [Product::Postgres, Product::Mariadb] {
        let near = CLIENTS.map(|clients| (format!("{}, {clients} clients", product.name()), clients));
        let far = format!("{}, {DISTANT} clients, 0.5 ms away", product.name());
        let near: Vec<_> = near.into_iter().filter(|(name, _)| name.contains(only)).collect();
        if near.is_empty() && !far.contains(only) {
            continue;
        }
        let server = RaceServer::on_tcp(ground, product)?;
        let port = server.port.parse().context("the server's port")?;
        bars.extend(load(ground, &server, port, &contestants, extent)?);
        for (name, clients) in near {
            let place = RacePlace { name, clients, port, is_far: false };
            bars.extend(compare(ground, &server, &place, &contestants, extent)?);
        }
        if far.contains(only) {
            let port = Relay::start(port, DELAY)?.port();
            let place = RacePlace { name: far, clients: DISTANT, port, is_far: true };
            bars.extend(compare(ground, &server, &place, &OrderContestant::OURS, extent)?);
        }
        server.stop()?;
    }
    verdict(&bars)
}

/// Where and with how many clients.
struct RacePlace {
    name: String,
    clients: u32,
    port: u16,
    is_far: bool,
}

/// Loads the rows of ours and of each peer, with the time that each takes.
fn load(
    ground: &RaceGround,
    server: &RaceServer,
    port: u16,
    contestants: &[OrderContestant],
    extent: Extent,
) -> anyhow::Result<Option<Bar>> {
    println!("\n{}, loading {} warehouses with {WRITERS} connections\n", server.product.name(), extent.warehouses);
    let timed = |contestant: OrderContestant| -> anyhow::Result<f64> {
        let mut command = contestant.load(ground, server, port, extent.warehouses);
        let begin = Instant::now();
        process::run(&mut command, LOAD_LIMIT, |_| Ok(())).with_context(|| format!("loading {}", contestant.name()))?;
        let seconds = begin.elapsed().as_secs_f64();
        println!("{}: {seconds:.1} s", contestant.name());
        Ok(seconds)
    };
    let ours = timed(OrderContestant::Procedures)?;
    if !contestants.contains(&OrderContestant::GoTpc) {
        return Ok(None);
    }
    execute(server, &server.database, &format!("CREATE DATABASE {}", OrderContestant::GoTpc.database(server)))?;
    let found = timed(OrderContestant::GoTpc)? / ours;
    let what = format!("{}: time of go-tpc to load, of ours", server.product.name());
    // On MariaDB a limit was never set.
    let is_limited = server.product == Product::Postgres;
    Ok(is_limited.then_some(Bar { what, found, asked: BarSize::AtLeast(4.0) }))
}

/// Turns of one contestant, one for each round.
struct RaceTurns {
    contestant: OrderContestant,
    samples: Vec<MarkedTurn>,
    /// For a new order, as our driver counts them.
    round_trips: Vec<f64>,
}

fn compare(
    ground: &RaceGround,
    server: &RaceServer,
    place: &RacePlace,
    contestants: &[OrderContestant],
    extent: Extent,
) -> anyhow::Result<Vec<Bar>> {
    println!("\n{}\n", place.name);
    let turns =
        |contestant: &OrderContestant| RaceTurns { contestant: *contestant, samples: vec![], round_trips: vec![] };
    let mut all: Vec<RaceTurns> = contestants.iter().map(turns).collect();
    for round in 0..extent.rounds {
        for turn in 0..all.len() {
            // Each contestant is first, second and last equally often.
            let number = (turn + round as usize) % all.len();
            let turns = &mut all[number];
            let sample = turns.take(ground, server, place, extent, round + 1)?;
            println!(
                "round {}: {}: {:.0} NOPM, {:.0} µs of the driver's CPU and {:.0} µs of the server's for a new order",
                round + 1,
                turns.contestant.name(),
                sample.new_orders_per_min,
                sample.driver_us,
                sample.server_us
            );
        }
    }
    print(&all);
    Ok(bars(place, &all))
}

impl RaceTurns {
    fn take(
        &mut self,
        ground: &RaceGround,
        server: &RaceServer,
        place: &RacePlace,
        extent: Extent,
        seed: u32,
    ) -> anyhow::Result<MarkedTurn> {
        let turn = ContestantTurn {
            warehouses: extent.warehouses,
            clients: place.clients,
            port: place.port,
            seconds: extent.seconds + 2 * AROUND_S,
            seed,
        };
        let database = self.contestant.database(server);
        let begin = Duration::from_secs(AROUND_S.into());
        let end = begin + Duration::from_secs(extent.seconds.into());
        let (mut first, mut last) = (None, None);
        let mut command = self.contestant.work(ground, server, &turn);
        let finished = process::run_allowing(&[0, INVALID], &mut command, end + ALLOWANCE, |elapsed| {
            if elapsed >= begin && first.is_none() {
                first = Some(TurnMark::now(server, database)?);
            }
            if elapsed >= end && last.is_none() {
                last = Some(TurnMark::now(server, database)?);
            }
            Ok(())
        })?;
        let marks = first.zip(last);
        let (first, last) = marks.with_context(|| format!("it ended too early:\n{}", finished.output))?;
        let sample = first.until(last)?;
        self.samples.push(sample);
        if OrderContestant::OURS.contains(&self.contestant) {
            self.round_trips.push(round_trips(&finished.output)?);
        }
        Ok(sample)
    }

    fn all(&self, figure: fn(&MarkedTurn) -> f64) -> Vec<f64> {
        self.samples.iter().map(figure).collect()
    }

    /// A figure as shares of another's in the same rounds.
    fn of(&self, other: &Self, figure: fn(&MarkedTurn) -> f64) -> Vec<f64> {
        self.samples.iter().zip(&other.samples).map(|(ours, theirs)| figure(ours) / figure(theirs)).collect()
    }
}

/// Round trips for a new order with its share, from the last line of `bakeoff drive --json`.
fn round_trips(said: &str) -> anyhow::Result<f64> {
    let last = said.lines().last().context("drive said nothing")?;
    let said: serde_json::Value = serde_json::from_str(last).with_context(|| format!("this is not JSON: {last}"))?;
    let number = |value: &serde_json::Value| value.as_f64().context("drive says how much it did");
    let orders = number(&said["throughput"])? * number(&said["driver"]["measured_ms"])? / 60_000.0;
    Ok(number(&said["driver"]["work"]["round_trips"])? / orders)
}

fn print(all: &[RaceTurns]) {
    println!("\n| | NOPM | of plain | driver µs | server µs | server, of plain | round trips |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let plain = &all[0];
    for turns in all {
        let range = |values: Vec<f64>| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            format!("{:.0} ({least:.0} to {most:.0})", median(values))
        };
        let round_trips = match turns.round_trips.as_slice() {
            [] => "not counted".to_owned(),
            counted => format!("{:.1}", median(counted.to_vec())),
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {round_trips} |",
            turns.contestant.name(),
            range(turns.all(|sample| sample.new_orders_per_min)),
            spread(turns.of(plain, |sample| sample.new_orders_per_min)),
            range(turns.all(|sample| sample.driver_us)),
            range(turns.all(|sample| sample.server_us)),
            spread(turns.of(plain, |sample| sample.server_us)),
        );
    }
}

fn bars(place: &RacePlace, all: &[RaceTurns]) -> Vec<Bar> {
    let find = |contestant: OrderContestant| all.iter().find(|turns| turns.contestant == contestant);
    let bar = |what: &str, found: f64, asked: BarSize| Bar { what: format!("{}: {what}", place.name), found, asked };
    let nopm = |sample: &MarkedTurn| sample.new_orders_per_min;
    let mut bars = Vec::new();
    let Some(plain) = find(OrderContestant::Plain) else { return bars };
    if let Some(pipelined) = find(OrderContestant::Pipelined) {
        let trips = median(pipelined.round_trips.clone());
        bars.push(bar("round trips for a new order, pipelined", trips, BarSize::AtMost(12.0)));
        let least = match place.clients {
            _ if place.is_far => Some(4.0),
            4 => Some(1.7),
            64 => Some(2.0),
            _ => None,
        };
        let found = median(pipelined.of(plain, nopm));
        bars.extend(least.map(|least| bar("NOPM pipelined, of plain", found, BarSize::AtLeast(least))));
        if let Some(peer) = find(OrderContestant::GoTpc) {
            bars.push(bar("NOPM pipelined, of go-tpc", median(pipelined.of(peer, nopm)), BarSize::AtLeast(2.0)));
        }
    }
    if let Some(called) = find(OrderContestant::Procedures).filter(|_| !place.is_far) {
        let driver = median(called.all(|sample| sample.driver_us));
        bars.push(bar("µs of the driver's CPU for a new order, procedures", driver, BarSize::AtMost(80.0)));
        let server = median(called.of(plain, |sample| sample.server_us));
        bars.push(bar("the server's CPU with procedures, of plain", server, BarSize::AtMost(0.6)));
        if place.clients == 4 {
            bars.push(bar("NOPM with procedures, of plain", median(called.of(plain, nopm)), BarSize::AtLeast(2.2)));
        }
    }
    bars
}
