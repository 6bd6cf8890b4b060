//! What is read from outside of the contestants, so that all of them are counted alike.

use crate::bench::driver::server::{Product, RaceServer};
use crate::process::{cpu_of, descendants};
use anyhow::{Context, ensure};
use std::process::Command;
use std::time::Instant;

/// The state at one moment of a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnMark {
    at: Instant,
    orders: f64,
    driver_s: f64,
    server_s: f64,
}

/// What happened between two marks.
#[derive(Debug, Clone, Copy)]
pub struct MarkedTurn {
    pub new_orders_per_min: f64,
    pub driver_us: f64,
    pub server_us: f64,
}

impl TurnMark {
    /// New orders are what the order numbers of all districts grow by, so those that were rolled back do not count.
    pub fn now(server: &RaceServer, database: &str) -> anyhow::Result<Self> {
        let orders = number(server, database, "SELECT SUM(d_next_o_id) FROM district")?;
        let agent = server.agent()?;
        let of_server = descendants(agent)?;
        let ours = descendants(std::process::id())?;
        let drivers = ours.iter().filter(|process| **process != agent && !of_server.contains(process));
        // A process that has ended was waited for by another one of the list, which has its time.
        let sum = |processes: &mut dyn Iterator<Item = &u32>| processes.filter_map(|id| cpu_of(*id).ok()).sum();
        Ok(Self {
            at: Instant::now(),
            orders,
            driver_s: sum(&mut drivers.into_iter()),
            server_s: sum(&mut of_server.iter()),
        })
    }

    pub fn until(self, end: Self) -> anyhow::Result<MarkedTurn> {
        let orders = end.orders - self.orders;
        ensure!(orders > 0.0, "no order was entered");
        Ok(MarkedTurn {
            new_orders_per_min: orders / end.at.duration_since(self.at).as_secs_f64() * 60.0,
            driver_us: (end.driver_s - self.driver_s) * 1e6 / orders,
            server_us: (end.server_s - self.server_s) * 1e6 / orders,
        })
    }
}

/// Executes SQL with the product's own client.
pub fn execute(server: &RaceServer, database: &str, sql: &str) -> anyhow::Result<String> {
    let mut command = match server.product {
        Product::Postgres => {
            let mut psql = Command::new("psql");
            psql.env("PGPASSWORD", &server.password).args(["-X", "-A", "-t", "-q", "-d", database, "-c", sql]);
            psql
        }
        Product::Mariadb => {
            let mut mariadb = Command::new("mariadb");
            mariadb.args(["--no-defaults", "-N", "-B", "-D", database, "-e", sql]);
            mariadb.env("MYSQL_PWD", &server.password);
            mariadb
        }
    };
    let of_port = if server.product == Product::Postgres { "-p" } else { "-P" };
    let of_user = if server.product == Product::Postgres { "-U" } else { "-u" };
    command.args(["-h", "127.0.0.1", of_port, &server.port, of_user, &server.user]);
    let output = command.output().context("starting the product's client")?;
    ensure!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn number(server: &RaceServer, database: &str, sql: &str) -> anyhow::Result<f64> {
    let text = execute(server, database, sql)?;
    text.parse().with_context(|| format!("{sql}: {text:?} is no number"))
}
