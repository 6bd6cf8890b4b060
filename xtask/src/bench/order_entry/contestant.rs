//! The contestants, how each loads its data, and how each is started.

use crate::bench::RaceGround;
use crate::bench::driver::server::{Product, RaceServer};
use std::process::Command;

/// Deliveries are inline, so that each client does all of its work itself, as the peers' clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderContestant {
    Plain,
    Pipelined,
    Procedures,
    GoTpc,
}

/// Peers that nothing here can start, because no registry has them.
pub const NOT_RACED: [&str; 2] = ["HammerDB", "BenchBase"];
const GO_TPC: &str = "go-tpc";
/// The database of a peer that loads its own data.
const OF_PEER: &str = "peer";
/// Connections that load, for each contestant.
pub const WRITERS: &str = "2";

impl OrderContestant {
    pub const OURS: [Self; 3] = [Self::Plain, Self::Pipelined, Self::Procedures];

    /// Ours, and the peers that are installed. The names of the others are printed.
    pub fn that_run() -> Vec<Self> {
        let is_installed = Command::new(GO_TPC).arg("--help").output().is_ok();
        for name in NOT_RACED.into_iter().chain((!is_installed).then_some(GO_TPC)) {
            println!("skipped: {name}, which is not installed");
        }
        Self::OURS.into_iter().chain(is_installed.then_some(Self::GoTpc)).collect()
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "bakeoff, plain",
            Self::Pipelined => "bakeoff, pipelined",
            Self::Procedures => "bakeoff, procedures",
            Self::GoTpc => GO_TPC,
        }
    }

    /// The database with its rows.
    pub fn database(self, server: &RaceServer) -> &str {
        match self {
            Self::GoTpc => OF_PEER,
            _ => &server.database,
        }
    }

    /// The command that loads it. The three of ours share their rows, and the procedures are loaded with them.
    pub fn load(self, ground: &RaceGround, server: &RaceServer, port: u16, warehouses: u32) -> Command {
        if self == Self::GoTpc {
            let mut command = go_tpc(server, warehouses);
            command.args(["prepare", "--no-check", "-T", WRITERS]);
            return command;
        }
        let mut command = Self::Procedures.drive(ground, &server.url_at(port), warehouses);
        command.args(["--steps", "load", "--writers", WRITERS]);
        command
    }

    /// The command that works for so many seconds at this TCP port.
    pub fn work(self, ground: &RaceGround, server: &RaceServer, turn: &ContestantTurn) -> Command {
        let (clients, seconds) = (turn.clients.to_string(), format!("{}s", turn.seconds));
        if self == Self::GoTpc {
            let mut command = go_tpc(server, turn.warehouses);
            command.args(["run", "-T", &clients, "--time", &seconds]);
            return command;
        }
        let mut command = self.drive(ground, &server.url_at(turn.port), turn.warehouses);
        command.args(["--clients", &clients, "--warmup", "0s", "--time", &seconds, "--seed", &turn.seed.to_string()]);
        command
    }

    fn drive(self, ground: &RaceGround, url: &str, warehouses: u32) -> Command {
        let way = match self {
            Self::Pipelined => "statements=pipelined",
            Self::Procedures => "transactions=procedures",
            Self::Plain | Self::GoTpc => "statements=plain",
        };
        let mut command = Command::new(&ground.bakeoff);
        command.args(["drive", "order-entry", url, "--json", "--set", &format!("warehouses={warehouses}")]);
        command.args(["--set", "delivery=inline", "--set", way]);
        command
    }
}

/// One turn of a contestant.
pub struct ContestantTurn {
    pub warehouses: u32,
    pub clients: u32,
    pub port: u16,
    pub seconds: u32,
    pub seed: u32,
}

fn go_tpc(server: &RaceServer, warehouses: u32) -> Command {
    let mut command = Command::new(GO_TPC);
    let driver = match server.product {
        Product::Postgres => "postgres",
        Product::Mariadb => "mysql",
    };
    command.args(["tpcc", "-d", driver, "-H", "127.0.0.1", "-P", &server.port, "-U", &server.user]);
    command.args(["-p", &server.password, "-D", OF_PEER, "--warehouses", &warehouses.to_string()]);
    if server.product == Product::Postgres {
        command.args(["--conn-params", "sslmode=disable"]);
    }
    command
}
