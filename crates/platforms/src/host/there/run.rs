//! One machine on the other host: starts it natively and passes on the frames of its agent.

use super::{Begun, MACHINES, TREE, ThereOrder, ThereShape, below};
use crate::native;
use crate::on_host::machine::HostMachine;
use crate::order::{MachineOrder, Mounting, Reached};
use crate::placement::Place;
use images::data::DataDisk;
use machines::frame::{Greeting, read_frame, write_frame};
use machines::identity::Identity;
use machines::machine::{Machine, MachineError};
use machines::relay::relay;
use machines::scratch;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

/// A machine ends within this after its agent said goodbye.
const END_LIMIT: Duration = Duration::from_mins(1);

/// Reads the order, starts the machine, and passes on frames until the agent ends or the input does. In the latter case the machine
/// is cut. Returns whether it ended well; if not, what it printed is on standard error.
pub fn run(folder: &Path, mut read: impl Read + Send + 'static, mut write: impl Write) -> io::Result<bool> {
    let order: ThereOrder = read_frame(&mut read)?.ok_or(ErrorKind::UnexpectedEof)?;
    let mut machine = match start(folder, &order) {
        Ok(machine) => machine,
        Err(error) => {
            write_frame(&mut write, &Begun::from(error))?;
            return Ok(true);
        }
    };
    let command_line = machine.facts().command_line.clone();
    write_frame(&mut write, &Begun::Started { decided: machine.facts().decided.clone(), command_line })?;
    write_frame(&mut write, &Greeting::ours())?;
    let agent_ended = relay(machine.take_link(), read, write);
    let ended = if agent_ended { Box::new(machine).stop(END_LIMIT) } else { Box::new(machine).cut() };
    let _ = fs::remove_dir_all(folder.join(MACHINES).join(&order.name));
    if let Err(error) = &ended {
        writeln!(io::stderr(), "{error}")?;
    }
    Ok(ended.is_ok())
}

fn start(folder: &Path, order: &ThereOrder) -> Result<HostMachine, MachineError> {
    let failing = |doing: &str, source| MachineError::Io { doing: doing.to_owned(), source };
    let unavailable = |why| MachineError::Unavailable { why };
    let data = below(folder, &order.data).map_err(unavailable)?;
    let scratch = below(&folder.join(MACHINES), Path::new(&order.name)).map_err(unavailable)?;
    for folder in [&data, &scratch] {
        fs::create_dir_all(folder).map_err(|error| failing("making a folder of the machine", error))?;
    }
    let own = Identity::of(std::process::id()).map_err(|error| failing("finding this process", error))?;
    scratch::record_process(&scratch, own)
        .map_err(|error| failing("writing down this process", io::Error::other(error)))?;
    let cpus = cpus().map_err(|error| failing("reading which CPUs may be used", error))?;
    let info = rustix::system::sysinfo();
    let has = ThereShape {
        vcpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
        memory_bytes: u64::from(info.mem_unit) * info.totalram,
    };
    let ThereShape { vcpus, memory_bytes } = order.shape.unwrap_or(has);
    fits(order, has)?;
    let image = order.image.clone().map(|image| images::Image { tree: folder.join(TREE), ..image });
    let order = MachineOrder {
        name: order.name.clone(),
        vcpus,
        memory_bytes,
        place: Place::anywhere_on(&cpus),
        cpu_quota: order.cpu_quota,
        image,
        agent: std::env::current_exe().map_err(|error| failing("finding this program's own file", error))?,
        data: DataDisk::Folder(data),
        cache: scratch.clone(),
        scratch,
        mounting: Mounting::default(),
        reached: Reached::default(),
    };
    let mut machine = native::machine::begin(&order, &|| {})?;
    if let Some(hypervisor) = telemetry::hypervisor() {
        // It runs on this system's kernel, but that runs on a virtual machine.
        machine.decide("processor", Ok(format!("virtual, by {hypervisor}")));
        let twice = "no, as far as the machine can see: it is a guest, and does not see what its hypervisor caches";
        machine.decide("data cached twice", Ok(twice.to_owned()));
    }
    Ok(machine)
}

/// A machine there cannot be larger than its host.
fn fits(order: &ThereOrder, has: ThereShape) -> Result<(), MachineError> {
    let mebibytes = |bytes: u64| bytes >> 20;
    let (Some(ThereShape { vcpus, memory_bytes }), cpus) = (order.shape, has.vcpus) else { return Ok(()) };
    let why = if vcpus > cpus {
        format!("the host has {cpus} CPUs for it, and the study asks for {vcpus}")
    } else if order.is_whole_host && vcpus < cpus {
        format!(
            "the server there may use all {cpus} CPUs of the host, and the study says machine.vcpus = {vcpus}; give it \
             the number that the host has"
        )
    } else if memory_bytes > has.memory_bytes {
        let (has, asked) = (mebibytes(has.memory_bytes), mebibytes(memory_bytes));
        format!("the host has {has} MiB of memory, and the study asks for {asked} MiB")
    } else {
        return Ok(());
    };
    Err(MachineError::Unavailable { why })
}

fn cpus() -> io::Result<Vec<usize>> {
    let allowed = rustix::thread::sched_getaffinity(None)?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect())
}
