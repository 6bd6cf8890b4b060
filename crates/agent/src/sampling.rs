//! Samples the machine's counters from inside while load is driven. The samples stay here until they are asked for.

use crate::protocol::Reply;
use record::telemetry::Side;
use std::io;
use std::path::Path;
use telemetry::{DiskLocation, DiskTarget, FamilyTarget, Grid, Interfaces, ProcessTarget, Sampler, Sampling, Targets};

/// Samples in one message: enough that there are few messages, and few enough that none is near the limit of a frame.
const SAMPLES_A_MESSAGE: usize = 64;

/// Begins to sample the whole system, the disk of `data`, and each server by its process.
pub fn start(data: &Path, processes: &[u32], origin_ns: u64) -> io::Result<Sampling> {
    let servers = || labelled(processes).map(|(label, process)| ProcessTarget { label, process });
    let families = labelled(processes).map(|(label, process)| FamilyTarget {
        label,
        process,
        without_threads: [].into(),
        with_switches: false,
    });
    let targets = Targets {
        without_system: false,
        cpus: telemetry::own_cpus(),
        disks: vec![DiskTarget { label: "data".to_owned(), location: DiskLocation::Under(data.to_owned()) }],
        interfaces: Interfaces::AllButLoopback,
        threads: Vec::new(),
        // A server may have hundreds of processes.
        families: families.collect(),
        pages: servers().collect(),
        groups: servers().collect(),
    };
    let sampler = Sampler::open(Side::Machine, Path::new("/"), &targets, Vec::new());
    let sampling = Sampling::start(sampler, Grid::of_seconds(origin_ns))?;
    sampling.mark();
    Ok(sampling)
}

/// Labels servers, with their instance number if there are several.
fn labelled(processes: &[u32]) -> impl Iterator<Item = (String, u32)> {
    let is_alone = processes.len() == 1;
    let label = move |number| if is_alone { "server".to_owned() } else { format!("server-{number}") };
    (1..).zip(processes).map(move |(number, process)| (label(number), *process))
}

/// Ends the sampling and hands over the samples.
pub fn hand_over(sampling: Sampling, tell: &mut dyn FnMut(Reply)) -> Reply {
    sampling.mark();
    let mut series = sampling.stop();
    let samples = std::mem::take(&mut series.samples);
    for part in samples.chunks(SAMPLES_A_MESSAGE) {
        tell(Reply::Samples(part.to_vec()));
    }
    Reply::Sampled(Box::new(series))
}
