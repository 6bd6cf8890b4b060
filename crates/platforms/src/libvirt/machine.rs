//! From an order to a running domain whose guest has greeted us, and the actual value of each requested property.

use super::connect::{self, Carrier, LibvirtConnection};
use super::domain::{Console, DomainOrder, Hypervisor, data_target};
use super::rpc::CREATE_LIMIT;
use super::rpc::procedures::Uuid;
use super::running::{Keeper, RunningDomain};
use super::settings::{LibvirtSettings, Numa};
use super::uri::{Driver, Uri};
use super::watch::{self, Observed};
use super::{live, process};
use crate::order::{Launched, MachineOrder, Reached, UNBOUND_MEMORY};
use crate::placement::cpu_list;
use crate::qemu::accelerator::{self, Choice};
use crate::qemu::boot::{guest_kernel, initramfs};
use crate::qemu::command::{Accelerator, GuestDisk, USER_NETWORK_GUEST, drivers, guest_address};
use crate::qemu::decided::{self, AskedGuest};
use crate::qemu::error::{failing, unavailable};
use crate::qemu::machine::{ONLY_FROM_HOST, can_be_reached, data_disk, parts_of_host, probe};
use crate::qemu::monitor::Monitor as _;
use crate::qemu::monitor::QmpError;
use crate::qemu::patience::start_limit;
use crate::qemu::placed::{self, MemoryBinding, VcpuPinning};
use crate::qemu::settings::{GuestNetwork, WantedAccelerator};
use crate::qemu::watch::NodeNames;
use crate::rights;
use machines::adopted::Adopted;
use machines::limits::OPEN_FILES;
use machines::link::{AgentLink, LinkError};
use machines::machine::{Decisions, LaunchFacts, Machine, MachineError, WatchedMachine};
use machines::token::random_bytes;
use machines::transport::Transport;
use rustix::process::{getegid, geteuid};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A socket's address holds no longer path.
const LONGEST_SOCKET: usize = 107;
/// QEMU ends within this after it closed its connections.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

pub struct LibvirtMachine {
    link: AgentLink,
    /// Our end of the agent's stream, kept to close the connection.
    agent: UnixStream,
    _carrier: Option<Carrier>,
    running: RunningDomain,
    /// Its QEMU, if that runs on this host.
    _process: Option<Adopted>,
    facts: LaunchFacts,
    /// By the guest's ports.
    addresses: BTreeMap<u16, SocketAddr>,
    data: Option<GuestDisk>,
    target: &'static str,
    nodes: NodeNames,
    cpus: Vec<usize>,
}

pub fn start(
    settings: &LibvirtSettings,
    order: &MachineOrder,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    let uri = Uri::parse(&settings.uri)
        .map_err(|problem| unavailable(format!("uri = \"{}\" is none: {}", settings.uri, problem.why)))?;
    can_be_had(settings, &uri, order)?;
    let mut connection = connect::connect(&uri, CREATE_LIMIT).map_err(|error| unavailable(error.to_string()))?;
    if uri.driver == Driver::Xen {
        return Err(unavailable(format!(
            "the images have no drivers for Xen's disks and channels, and {} is Xen",
            uri.text
        )));
    }
    let choice = choose(settings, &uri, order, &mut connection)?;
    let limit = start_limit(choice.accelerator, settings.start_limit);
    let domain = domain_order(settings.clone(), &uri, order, choice.accelerator)?;
    let running = RunningDomain::make(connection, &uri, &domain, &order.scratch)?;
    launched();
    let greeted = greeted(running, &domain, limit)?;
    let control = |error| failing("asking QEMU", error);
    let mut decided = decide(&greeted.running, &domain, &choice, order)?;
    let addresses = addresses(&mut greeted.running.keeper(), &domain, &order.reached).map_err(control)?;
    let nodes = node_names(&mut greeted.running.keeper()).map_err(control)?;
    if let Some(limit) = disk_limit(&mut greeted.running.keeper(), &domain).map_err(control)? {
        decided.insert("disk limit".to_owned(), limit);
    }
    let command_line = match greeted.running.pid() {
        Some(pid) => process::words(pid).map_err(|error| failing("reading QEMU's command line", error))?,
        None => vec![uri.text.clone(), domain.name.clone()],
    };
    let Greeted { link, agent, carrier, running } = greeted;
    Ok(Box::new(LibvirtMachine {
        link,
        agent,
        _carrier: carrier,
        _process: running.pid().map(Adopted::new),
        running,
        facts: LaunchFacts { command_line, decided, listens_on: ONLY_FROM_HOST },
        addresses,
        target: data_target(domain.settings.disk.adapter).0,
        data: domain.data,
        nodes,
        cpus: order.place.vcpu_cpus().to_vec(),
    }))
}

/// Checks everything that is known before anybody is asked.
fn can_be_had(settings: &LibvirtSettings, uri: &Uri, order: &MachineOrder) -> Result<(), MachineError> {
    can_be_reached(settings.network, &order.reached)?;
    let socket = agent_socket(order);
    if socket.as_os_str().len() > LONGEST_SOCKET {
        return Err(unavailable(format!(
            "the path of the agent's socket, {}, is longer than the {LONGEST_SOCKET} bytes that a socket's may have; a \
             cache with a shorter path (BAKEOFF_CACHE) helps",
            socket.display()
        )));
    }
    if uri.is_here() { parts_of_host(&settings.of_qemu(), order) } else { Ok(()) }
}

fn agent_socket(order: &MachineOrder) -> std::path::PathBuf {
    order.scratch.join("agent")
}

fn choose(
    settings: &LibvirtSettings,
    uri: &Uri,
    order: &MachineOrder,
    connection: &mut LibvirtConnection,
) -> Result<Choice, MachineError> {
    if uri.is_here() {
        return accelerator::choose(settings.accelerator, &probe(&settings.of_qemu(), order)?);
    }
    let tcg = |why: &str| Choice { accelerator: Accelerator::Tcg, why: why.to_owned() };
    if settings.accelerator == WantedAccelerator::Tcg {
        return Ok(tcg("as asked"));
    }
    let offers = connection.client.capabilities().map_err(|error| failing("asking libvirt what it can do", error))?;
    if offers.contains("<domain type='kvm'") {
        let why = "as libvirt at the other host offers it".to_owned();
        return Ok(Choice { accelerator: Accelerator::Kvm, why });
    }
    let why = "libvirt at the other host offers no KVM";
    if settings.accelerator == WantedAccelerator::Kvm { Err(unavailable(why.to_owned())) } else { Ok(tcg(why)) }
}

fn domain_order(
    settings: LibvirtSettings,
    uri: &Uri,
    order: &MachineOrder,
    accelerator: Accelerator,
) -> Result<DomainOrder, MachineError> {
    let image = order.image()?;
    let (place, pins) = (&order.place, settings.pin && order.place.is_pinned);
    let emulator_cpus = match settings.emulator_cpus.as_str() {
        "auto" => placed::unpinned_cpus(place, settings.pin).to_vec(),
        list => cpu_list::parse(list).map_err(|why| unavailable(format!("emulator_cpus: {why}")))?,
    };
    let random = random_bytes().map_err(|error| failing("drawing a UUID", error))?;
    // Without rights of root, libvirt has no other user to choose, and no control groups.
    let is_privileged = !uri.is_session;
    Ok(DomainOrder {
        name: format!("bakeoff-{}-{}", std::process::id(), order.name),
        uuid: Uuid::of_random(random),
        hypervisor: Hypervisor::Qemu(accelerator),
        vcpus: order.vcpus,
        memory_bytes: order.memory_bytes,
        cpus: place.vcpu_cpus().to_vec(),
        pins: pins.then(|| place.cpus.clone()),
        emulator_cpus,
        bound_to: place.bound_to.clone(),
        quota: order.cpu_quota.filter(|_| is_privileged).map(|share| order.cpu_time(share)),
        runs_as: is_privileged.then(|| (geteuid().as_raw(), getegid().as_raw())),
        kernel: guest_kernel(image)?.file.clone(),
        initramfs: initramfs(image, &order.agent, &drivers(image.root_disk.is_some(), &settings.of_qemu()))?,
        console: if uri.is_here() { Console::Pipes(order.scratch.join("console")) } else { Console::Unread },
        agent: agent_socket(order),
        root: image.root_disk.clone(),
        data: Some(data_disk(&order.data)?),
        tuning: order.mounting.tuning.clone(),
        open_files: Some(rights::open_files()).filter(|files| *files < OPEN_FILES),
        settings,
    })
}

struct Greeted {
    link: AgentLink,
    agent: UnixStream,
    carrier: Option<Carrier>,
    running: RunningDomain,
}

/// Waits until the agent inside greets.
fn greeted(mut running: RunningDomain, domain: &DomainOrder, limit: Duration) -> Result<Greeted, MachineError> {
    let (agent, carrier) = match connect::to_socket(&running.uri, &domain.agent) {
        Ok(connected) => connected,
        Err(error) => return Err(ended_or(&mut running, failing("connecting to the agent", error))),
    };
    let share = || agent.try_clone().map_err(|error| failing("sharing a socket", error));
    let (reader, writer) = (share()?, share()?);
    match Transport::pipe(reader, writer).connect(limit) {
        Ok(link) => Ok(Greeted { link, agent, carrier, running }),
        Err(LinkError::TooSlow(_)) => {
            Err(MachineError::Silent { what: running.what(), limit_s: limit.as_secs(), console: running.console() })
        }
        Err(error) if error.is_end() => Err(ended_or(&mut running, error.into())),
        Err(error) => Err(error.into()),
    }
}

/// If the domain ended, that explains more than the broken connection.
fn ended_or(running: &mut RunningDomain, error: MachineError) -> MachineError {
    if running.wait(EXIT_LIMIT) { running.ended() } else { error }
}

/// The actual value of each requested property, read back from QEMU, libvirt and the host.
fn decide(
    running: &RunningDomain,
    domain: &DomainOrder,
    choice: &Choice,
    order: &MachineOrder,
) -> Result<Decisions, MachineError> {
    let (control, asking) = (|error| failing("asking QEMU", error), |error| failing("asking libvirt", error));
    let mut keeper = running.keeper();
    let (libvirt, qemu) = keeper.versions().map_err(asking)?;
    let xml = keeper.xml().map_err(asking)?;
    let words = running.pid().and_then(|pid| process::words(pid).ok()).unwrap_or_default();
    let cpu = words.iter().position(|word| word == "-cpu").and_then(|at| words.get(at + 1));
    let path = domain.data.as_ref().map(|data| data.path.to_string_lossy().into_owned());
    let asked = AskedGuest {
        version: &qemu,
        accelerator: choice.accelerator,
        why: &choice.why,
        cpu: cpu.unwrap_or(&domain.settings.cpu),
        huge_pages: domain.settings.huge_pages,
        disk: domain.settings.disk,
        data: domain.data.as_ref(),
        // libvirt puts a node for the format above the one for the file.
        is_file_node: &|node| node["drv"] != "raw" && node["file"].as_str() == path.as_deref(),
    };
    let mut decided = decided::read_back(&mut *keeper, &asked).map_err(control)?;
    decided.insert("libvirt".to_owned(), Ok(format!("{libvirt}, at {}", running.uri.text)));
    decided.extend(live::of_libvirt(&xml));
    if let Some(pid) = running.pid() {
        let pinning = if domain.pins.is_some() { VcpuPinning::Theirs } else { VcpuPinning::None };
        let policy = match domain.settings.numa {
            Numa::Strict => "bind",
            other => other.name(),
        };
        let binding = MemoryBinding { to: &domain.bound_to, policy };
        placed::settle(pid, &mut *keeper, &order.place, pinning, binding, &mut decided).map_err(control)?;
        decided.extend(live::confinement(pid));
    } else {
        decided.extend(live::placed_elsewhere(&xml));
        decided.insert("place".to_owned(), Ok(order.place.number.to_string()));
        if domain.bound_to.is_empty() {
            decided.insert("memory node".to_owned(), Ok(UNBOUND_MEMORY.to_owned()));
        }
    }
    if order.cpu_quota.is_some() {
        let quota = match (domain.quota, running.pid()) {
            (None, _) => Err(format!("libvirt has no control groups at {}", running.uri.text)),
            (Some(_), Some(pid)) => live::quota(pid),
            (Some(time), None) => Ok(time.to_string()),
        };
        decided.insert("CPU quota".to_owned(), quota);
    }
    Ok(decided)
}

/// The block nodes on which the guest's disks are, and the names of their counters.
fn node_names(keeper: &mut Keeper) -> Result<NodeNames, QmpError> {
    let answer = keeper.execute("query-blockstats", json!({}))?;
    let name = |device: &Value| {
        let label = if is_data(device) { "data" } else { "root" };
        Some((device["node-name"].as_str()?.to_owned(), label.to_owned()))
    };
    Ok(answer.as_array().into_iter().flatten().filter_map(name).collect())
}

fn is_data(device: &Value) -> bool {
    device["qdev"].as_str().is_some_and(|path| path.split('/').any(|part| part == super::domain::DATA_ALIAS))
}

/// The limits of the data disk, as QEMU has them; `None` if none was asked for.
fn disk_limit(keeper: &mut Keeper, domain: &DomainOrder) -> Result<Option<Result<String, String>>, QmpError> {
    if !domain.settings.disk.is_limited() {
        return Ok(None);
    }
    let answer = keeper.execute("query-block", json!({}))?;
    let disk = answer.as_array().and_then(|devices| devices.iter().find(|device| is_data(device)));
    let Some(disk) = disk else { return Ok(Some(Err("QEMU has no such disk".to_owned()))) };
    let inserted = &disk["inserted"];
    let limits = json!({ "iops-total": inserted["iops"], "bps-total": inserted["bps"] });
    Ok(Some(Ok(decided::limit_words(&limits))))
}

/// The address at which each of the guest's ports is reached. QEMU's own network stack forwards a port of the host that
/// the host chooses.
fn addresses(
    keeper: &mut Keeper,
    domain: &DomainOrder,
    Reached { address: ours, ports }: &Reached,
) -> Result<BTreeMap<u16, SocketAddr>, QmpError> {
    let mut addresses = BTreeMap::new();
    for port in ports.iter().copied() {
        let address = match domain.settings.network {
            GuestNetwork::User => {
                let forward = format!("hostfwd_add tcp:{ours}:0-{}:{port}", USER_NETWORK_GUEST.address);
                let said = keeper.execute("human-monitor-command", json!({ "command-line": forward }))?;
                if let Some(why) = said.as_str().map(str::trim).filter(|said| !said.is_empty()) {
                    return Err(QmpError::Refused { asked: forward, why: why.to_owned() });
                }
                Some(SocketAddr::from((*ours, keeper.forwarded_port(port)?)))
            }
            GuestNetwork::Tap => guest_address(&domain.settings.of_qemu()).map(|guest| (guest.address, port).into()),
            GuestNetwork::None => None,
        };
        addresses.extend(address.map(|address| (port, address)));
    }
    Ok(addresses)
}

impl Machine for LibvirtMachine {
    fn link(&mut self) -> &mut AgentLink {
        &mut self.link
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        self.addresses.get(&port).copied()
    }

    fn watched(&mut self) -> WatchedMachine {
        let observed = Observed {
            process: self.running.pid(),
            data: self.data.as_ref(),
            target: self.target,
            nodes: self.nodes.clone(),
            cpus: &self.cpus,
        };
        watch::of(&self.running.keeper, observed)
    }

    fn console(&self) -> String {
        self.running.console()
    }

    fn stop(self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        let Self { agent, mut running, .. } = *self;
        // The agent may be gone already.
        let _ = agent.shutdown(Shutdown::Both);
        if !running.wait_for_power_off(limit) {
            let what = format!("{}, asked to power off,", running.what());
            return Err(MachineError::Silent { what, limit_s: limit.as_secs(), console: running.console() });
        }
        let has_crashed = running.reason().is_some_and(|reason| reason == "crashed" || reason == "failed");
        let ended = if has_crashed { Err(running.ended()) } else { Ok(()) };
        running.release();
        ended
    }

    fn cut(self: Box<Self>) -> Result<(), MachineError> {
        let Self { mut running, .. } = *self;
        running.end()
    }
}
