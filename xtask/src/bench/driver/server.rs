//! A server of our own for the race, started as in a trial, and its address in each contestant's form.

use super::super::RaceGround;
use super::super::conversation::TimedConversation;
use crate::process::descendants;
use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where Debian keeps PostgreSQL's programs, psql among them.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
/// The shape for which the server is configured.
const VCPUS: u32 = 2;
const MEMORY_BYTES: u64 = 4 << 30;
/// Room for the largest race, its administration and the server's own reserve.
const CONNECTIONS: u32 = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    Postgres,
    Mariadb,
}

impl Product {
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mariadb => "MariaDB",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mariadb => "mariadb",
        }
    }
}

pub struct RaceServer {
    pub product: Product,
    /// Folder or file of the socket, as the product's clients take it.
    pub host: String,
    pub port: String,
    pub user: String,
    pub database: String,
    /// For sessions over TCP.
    pub password: String,
    pub conversation: TimedConversation,
    folder: PathBuf,
}

impl RaceServer {
    pub fn start(ground: &RaceGround, product: Product) -> anyhow::Result<Self> {
        Self::listening(ground, product, None)
    }

    /// The server also listens on a TCP port of this host.
    pub fn on_tcp(ground: &RaceGround, product: Product) -> anyhow::Result<Self> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        Self::listening(ground, product, Some(free.context("looking for a free port")?))
    }

    fn listening(ground: &RaceGround, product: Product, listen: Option<SocketAddr>) -> anyhow::Result<Self> {
        let folder = ground.folder.join(product.kind());
        std::fs::create_dir_all(folder.join("data")).with_context(|| format!("making {}", folder.display()))?;
        let mut conversation = TimedConversation::start(ground, &folder)?;
        let reply = conversation.ask(&json!({
            "request": "start-server",
            "engine": { "kind": product.kind(), "settings": defaults(ground, product)? },
            "shape": { "vcpus": VCPUS, "memory_bytes": MEMORY_BYTES },
            "listen": listen,
        }))?;
        let [host, port, user, database, password] =
            ["host", "port", "user", "database", "password"].map(|key| conversation.of_endpoint(&reply, key));
        Ok(Self { product, host, port, user, database, password, conversation, folder })
    }

    /// The server's address in bakeoff's form.
    pub fn url(&self) -> String {
        let host = self.host.replace('/', "%2F");
        // PostgreSQL's port is part of its socket's name; MariaDB's socket is a file without a port.
        let address = match self.product {
            Product::Postgres => format!("postgres://{}@{host}:{}", self.user, self.port),
            Product::Mariadb => format!("mariadb://{}@{host}", self.user),
        };
        format!("{address}/{}", self.database)
    }

    /// The same server at a TCP port of this host, in bakeoff's form.
    pub fn url_at(&self, port: u16) -> String {
        let (scheme, more) = match self.product {
            Product::Postgres => ("postgres", "?sslmode=disable"),
            Product::Mariadb => ("mariadb", "?ssl-mode=DISABLED"),
        };
        format!("{scheme}://{}:{}@127.0.0.1:{port}/{}{more}", self.user, self.password, self.database)
    }

    /// The process that started it.
    pub fn agent(&self) -> anyhow::Result<u32> {
        self.conversation.process_id().context("the agent is a process of ours")
    }

    /// Sends a signal to every process of the server.
    pub fn signal(&self, name: &str) -> anyhow::Result<()> {
        let processes = descendants(self.agent()?)?;
        ensure!(!processes.is_empty(), "the server has no processes");
        let ids = processes.iter().map(u32::to_string);
        // A backend may end between the listing and the signal, which `kill` then mentions.
        Command::new("kill").arg(format!("-{name}")).args(ids).status().context("starting kill")?;
        Ok(())
    }

    /// Starts psql on a script; psql stops at the first error.
    pub fn psql(&self, script: &Path) -> anyhow::Result<Child> {
        Command::new(PathBuf::from(PROGRAMS).join("psql"))
            .args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--host", &self.host, "--port", &self.port])
            .args(["--username", &self.user, "--dbname", &self.database, "--file"])
            .arg(script)
            .stdin(Stdio::null())
            .spawn()
            .context("starting psql")
    }

    /// Runs scripts in parallel and waits for all of them.
    pub fn run(&self, scripts: &[PathBuf]) -> anyhow::Result<()> {
        let started: Vec<Child> = scripts.iter().map(|script| self.psql(script)).collect::<anyhow::Result<_>>()?;
        for mut process in started {
            ensure!(process.wait().context("waiting for psql")?.success(), "psql failed");
        }
        Ok(())
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.conversation.end()?;
        std::fs::remove_dir_all(&self.folder).with_context(|| format!("removing {}", self.folder.display()))
    }
}

/// The engine's settings as a study without any would get them, with room for all connections.
fn defaults(ground: &RaceGround, product: Product) -> anyhow::Result<Value> {
    let study = format!(
        "question = \"none\"\n[machine]\nvcpus = {VCPUS}\nmemory = \"{MEMORY_BYTES}\"\n\
         [engine]\nkind = \"{}\"\nmax_connections = {CONNECTIONS}\n\
         [workload]\nkind = \"order-entry\"\n[load]\nclients = 1\nwarmup = \"0s\"\nmeasure = \"1s\"\n\
         [[contender]]\nname = \"none\"\nplatform = {{ kind = \"native\" }}\n",
        product.kind()
    );
    let file = ground.folder.join("settings.toml");
    std::fs::write(&file, study).with_context(|| format!("writing {}", file.display()))?;
    let plan = told(Command::new(&ground.bakeoff).args(["plan", "--json"]).arg(&file))?;
    let listed = told(Command::new(&ground.bakeoff).args(["list", "--json", product.kind()]))?;
    // Other keys of the table belong to the study.
    let names: Vec<&str> =
        listed[0]["keys"].as_array().into_iter().flatten().filter_map(|key| key["name"].as_str()).collect();
    let mut settings: Map<String, Value> =
        plan["cells"][0]["settings"]["engine"].as_object().context("the plan has an engine")?.clone();
    settings.retain(|name, _| names.contains(&name.as_str()));
    Ok(Value::Object(settings))
}

/// What a command prints as JSON.
fn told(command: &mut Command) -> anyhow::Result<Value> {
    let output = command.output().context("starting bakeoff")?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| format!("reading what {command:?} printed"))
}
