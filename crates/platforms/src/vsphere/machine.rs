//! A machine of the server while it is on: from power-on until its agent answers, and its end.

use super::calls;
use super::client::VsphereError;
use super::counters;
use super::keeper::{MadeMachine, VsphereKeeper};
use super::leftovers;
use super::request::Call;
use crate::order::Launched;
use machines::clock::monotonic_ns;
use machines::link::{AgentLink, LinkError};
use machines::machine::{Decisions, LaunchFacts, Machine, MachineError};
use machines::transport::Transport;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use telemetry::{LateSample, Series, late_series};

/// Pause between two looks at a machine that boots or shuts down.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// How long one attempt to reach the agent may take before the machine's address is asked for again.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(20);
/// The server has a sample some seconds after the step that it covers.
const LAST_SAMPLE_LIMIT: Duration = Duration::from_secs(45);
const SAMPLE_INTERVAL: Duration = Duration::from_secs(2);
/// Steps after the time that is asked for, which are reported first.
const SPARE_STEPS: u64 = 4;
/// The server keeps an hour.
const MOST_STEPS: u32 = 180;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
const CONSOLE: &str = "vSphere does not hand out the console of a machine";

struct VsphereMachine {
    keeper: Arc<VsphereKeeper>,
    made: MadeMachine,
    link: Option<AgentLink>,
    address: SocketAddr,
    facts: LaunchFacts,
}

pub fn start(
    keeper: &Arc<VsphereKeeper>,
    made: &MadeMachine,
    decided: Decisions,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    let client = &keeper.client;
    let call = Call::without_arguments(&made.reference, "PowerOnVM_Task");
    let begun = Instant::now();
    let limit = Duration::from_millis(keeper.settings.start_limit);
    let powered = client.task(&call, "powering the machine on", limit);
    let reached = powered.map_err(|error| error.while_doing("starting the machine")).and_then(|_| {
        launched();
        until_greeted(keeper, made, begun + limit)
    });
    let (link, address) = match reached {
        Ok(reached) => reached,
        Err(error) => {
            // What is not off now is powered off before it is destroyed.
            let _ = leftovers::power_off(client, &made.reference);
            return Err(error);
        }
    };
    let mut decided = decided;
    let waited = format!("virtual, its agent greeted {:.1} s after power-on", begun.elapsed().as_secs_f64());
    decided.insert("processor".to_owned(), Ok(waited));
    let settings = &keeper.settings;
    let words = ["vsphere", &settings.url, "template", &settings.template, "machine", &made.name, "agent"];
    let mut command_line: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    command_line.push(address.to_string());
    Ok(Box::new(VsphereMachine {
        keeper: Arc::clone(keeper),
        made: made.clone(),
        link: Some(link),
        address,
        // The address that the tools report may be that of a translation.
        facts: LaunchFacts { command_line, decided, listens_on: Ipv4Addr::UNSPECIFIED.into() },
    }))
}

/// Waits until the machine has an address and its agent greets there.
fn until_greeted(
    keeper: &VsphereKeeper,
    made: &MadeMachine,
    deadline: Instant,
) -> Result<(AgentLink, SocketAddr), MachineError> {
    let limit = Duration::from_millis(keeper.settings.start_limit);
    let mut last = "it never had an IP address; VMware Tools in the template report it".to_owned();
    loop {
        let doing = "waiting for the machine's address";
        let paths = ["guest.ipAddress", "runtime.powerState", "runtime.question"];
        let about = keeper.client.properties(&made.reference, &paths).map_err(|error| error.while_doing(doing))?;
        if about.text("runtime.powerState") == Some("poweredOff") {
            let status = "it was powered off".to_owned();
            return Err(MachineError::Ended { what: what(made), status, console: CONSOLE.to_owned() });
        }
        if let Some(question) = about.get("runtime.question").and_then(|question| question.text_at("text")) {
            let why = format!("{} waits for an answer to vSphere's question: {}", what(made), question.trim());
            return Err(MachineError::Unavailable { why });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let console = format!("{CONSOLE}\n{last}");
            return Err(MachineError::Silent { what: what(made), limit_s: limit.as_secs(), console });
        }
        if let Some(address) = about.text("guest.ipAddress").and_then(|text| text.parse().ok()).filter(is_usable) {
            let address = SocketAddr::new(address, keeper.settings.agent_port);
            let way = Transport::Tcp { address, token: made.token.clone() };
            match way.connect(left.min(ATTEMPT_LIMIT)) {
                Ok(link) => return Ok((link, address)),
                // It may still boot, or have had this address before.
                Err(error @ (LinkError::NotReached { .. } | LinkError::TooSlow(_) | LinkError::Closed)) => {
                    last = error.to_string();
                }
                Err(error) => return Err(error.into()),
            }
        }
        std::thread::sleep(LOOK_INTERVAL.min(left));
    }
}

/// Addresses that an interface gives itself reach nobody.
fn is_usable(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_link_local() && !address.is_unspecified(),
        IpAddr::V6(address) => !address.is_unicast_link_local() && !address.is_unspecified(),
    }
}

fn what(made: &MadeMachine) -> String {
    format!("the machine {}", made.name)
}

impl VsphereMachine {
    /// Asks the system inside to shut down. Returns whether the machine went off within the limit.
    fn shuts_down(&self, limit: Duration) -> Result<bool, VsphereError> {
        let (client, machine) = (&self.keeper.client, &self.made.reference);
        let deadline = Instant::now() + limit;
        if client.call(&Call::without_arguments(machine, "ShutdownGuest")).is_err() {
            // Without tools nobody inside hears it.
            return Ok(false);
        }
        while Instant::now() < deadline {
            let state = client.properties(machine, &["runtime.powerState"])?;
            if state.text("runtime.powerState") == Some("poweredOff") {
                return Ok(true);
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(false)
    }

    /// The samples of the time between. The last one of it comes some seconds later.
    fn samples(&self, from_ns: u64, until_ns: u64) -> Result<Vec<LateSample>, String> {
        const STEP_NS: u64 = counters::STEP_S as u64 * NANOS_PER_SECOND;
        let client = &self.keeper.client;
        let told = |error: VsphereError| error.to_string();
        let performance = client.content.performance.as_ref().ok_or("the server counts nothing")?;
        let list = client.properties(performance, &["perfCounter"]).map_err(told)?;
        let known =
            counters::NumberedCounters::of(list.get("perfCounter").ok_or("the server has no list of its counters")?);
        let steps = until_ns.saturating_sub(from_ns) / STEP_NS + SPARE_STEPS;
        let call = calls::samples(
            performance,
            &self.made.reference,
            &known.asked(),
            counters::STEP_S,
            u32::try_from(steps).unwrap_or(u32::MAX).min(MOST_STEPS),
        );
        let deadline = Instant::now() + LAST_SAMPLE_LIMIT;
        loop {
            let before_ns = monotonic_ns();
            let time = counters::current_time(&client.call(&calls::of_service("CurrentTime")).map_err(told)?)?;
            let now = (time, before_ns.midpoint(monotonic_ns()));
            let found = known.samples(&client.call(&call).map_err(told)?)?;
            let found = counters::between(found, now, (from_ns, u64::MAX));
            let is_whole = found.iter().any(|sample| sample.at_ns.saturating_add(STEP_NS) > until_ns);
            if is_whole || Instant::now() >= deadline {
                return Ok(found.into_iter().filter(|sample| sample.at_ns <= until_ns).collect());
            }
            std::thread::sleep(SAMPLE_INTERVAL);
        }
    }

    fn power_off(&self) -> Result<(), MachineError> {
        leftovers::power_off(&self.keeper.client, &self.made.reference)
            .map_err(|error| error.while_doing("powering the machine off"))
    }
}

impl Machine for VsphereMachine {
    fn link(&mut self) -> &mut AgentLink {
        // `link` is taken only by what consumes the machine.
        let Some(link) = &mut self.link else { unreachable!("a stopped machine is not there to be asked") };
        link
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        Some((self.address.ip(), port).into())
    }

    fn counted(&mut self, from_ns: u64, until_ns: u64) -> Option<Series> {
        let begun = monotonic_ns();
        let found = self.samples(from_ns, until_ns);
        Some(late_series("vsphere", "vSphere's QueryPerf, every 20 s", found, monotonic_ns() - begun))
    }

    fn console(&self) -> String {
        CONSOLE.to_owned()
    }

    fn stop(mut self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        self.link = None;
        match self.shuts_down(limit) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => self.power_off(),
        }
    }

    fn cut(mut self: Box<Self>) -> Result<(), MachineError> {
        self.link = None;
        self.power_off()
    }
}

impl Drop for VsphereMachine {
    fn drop(&mut self) {
        if self.link.take().is_some() {
            // Nobody is left to hear why it could not be powered off.
            let _ = self.power_off();
        }
    }
}
