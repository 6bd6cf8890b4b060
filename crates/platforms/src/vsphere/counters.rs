//! What vSphere counts of a machine, in steps of 20 s. Pure.
//!
//! The server knows its counters by numbers that differ from server to server, so they are looked up by their names.

use super::node::Node;
use humantime::parse_rfc3339;
use std::collections::BTreeMap;
use std::time::SystemTime;
use telemetry::{Counter, LateSample, part};

/// The finest that is kept. Only the last hour of it.
pub const STEP_S: u32 = 20;

/// A counter: its group, name and rollup, our name of it, its unit and whether each device has its own.
struct WantedCounter {
    key: (&'static str, &'static str, &'static str),
    name: &'static str,
    unit: &'static str,
    of_devices: bool,
}

const fn wanted(
    key: (&'static str, &'static str, &'static str),
    name: &'static str,
    unit: &'static str,
    of_devices: bool,
) -> WantedCounter {
    WantedCounter { key, name, unit, of_devices }
}

/// Times are sums over the vCPUs of one step.
const WANTED: &[WantedCounter] = &[
    wanted(("cpu", "ready", "summation"), "cpu.ready", "ms", false),
    wanted(("cpu", "costop", "summation"), "cpu.costop", "ms", false),
    wanted(("cpu", "maxlimited", "summation"), "cpu.limited", "ms", false),
    wanted(("cpu", "swapwait", "summation"), "cpu.swap_wait", "ms", false),
    wanted(("cpu", "usage", "average"), "cpu.usage", "0.01 %", false),
    wanted(("cpu", "usagemhz", "average"), "cpu.used", "MHz", false),
    wanted(("cpu", "latency", "average"), "cpu.latency", "0.01 %", false),
    wanted(("mem", "vmmemctl", "average"), "memory.ballooned", "KiB", false),
    wanted(("mem", "swapinRate", "average"), "memory.swapped_in", "KiB/s", false),
    wanted(("mem", "compressed", "average"), "memory.compressed", "KiB", false),
    wanted(("virtualDisk", "totalReadLatency", "average"), "read_latency", "ms", true),
    wanted(("virtualDisk", "totalWriteLatency", "average"), "write_latency", "ms", true),
    wanted(("virtualDisk", "numberReadAveraged", "average"), "reads", "per s", true),
    wanted(("virtualDisk", "numberWriteAveraged", "average"), "writes", "per s", true),
    wanted(("datastore", "maxTotalLatency", "latest"), "datastore.latency", "ms", false),
];

/// Our counters by the server's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedCounters(BTreeMap<i32, usize>);

impl NumberedCounters {
    /// Of the list of all counters of a server.
    pub fn of(list: &Node) -> Self {
        let known = list.children.iter().filter_map(|counter| {
            let text = |path: &str| counter.text_at(path);
            let key = (text("groupInfo.key")?, text("nameInfo.key")?, text("rollupType")?);
            let place = WANTED.iter().position(|wanted| wanted.key == key)?;
            Some((counter.number_at("key")?, place))
        });
        Self(known.collect())
    }

    /// Numbers and instances to ask for: all together, or each device.
    pub fn asked(&self) -> Vec<(i32, &'static str)> {
        self.0.iter().map(|(number, place)| (*number, if WANTED[*place].of_devices { "*" } else { "" })).collect()
    }

    /// The samples of an answer, with the times that the server gave them.
    pub fn samples(&self, answer: &Node) -> Result<Vec<(SystemTime, Vec<Counter>)>, String> {
        let Some(found) = answer.child("returnval") else { return Ok(Vec::new()) };
        let times = times(found.text_at("sampleInfoCSV").ok_or("the answer has no times")?)?;
        let mut samples: Vec<(SystemTime, Vec<Counter>)> = times.into_iter().map(|time| (time, Vec::new())).collect();
        for series in found.all("value") {
            let number = series.number_at::<i32>("id.counterId").and_then(|number| self.0.get(&number));
            let Some(wanted) = number.map(|place| &WANTED[*place]) else { continue };
            let name = named(wanted, series.text_at("id.instance").unwrap_or_default());
            let values = series.text_at("value").unwrap_or_default().split(',');
            for ((_, counters), value) in samples.iter_mut().zip(values) {
                // A negative value stands for none.
                if let Ok(value) = value.trim().parse() {
                    counters.push(Counter::stands(name.clone(), wanted.unit, value));
                }
            }
        }
        Ok(samples)
    }
}

fn named(wanted: &WantedCounter, instance: &str) -> String {
    if wanted.of_devices {
        format!("vsphere.disk.{}.{}", part(instance), wanted.name)
    } else {
        format!("vsphere.{}", wanted.name)
    }
}

/// Times of a list of lengths and times.
fn times(list: &str) -> Result<Vec<SystemTime>, String> {
    let times = list.split(',').skip(1).step_by(2);
    times.map(|time| parse_rfc3339(time.trim()).map_err(|error| format!("the time of a sample: {error}"))).collect()
}

/// Samples by this host's monotonic clock, of those whose time lies between two. `now` is one moment by both clocks.
pub fn between(
    samples: Vec<(SystemTime, Vec<Counter>)>,
    now: (SystemTime, u64),
    (from_ns, until_ns): (u64, u64),
) -> Vec<LateSample> {
    let at_ns = |time: SystemTime| match now.0.duration_since(time) {
        Ok(before) => now.1.checked_sub(u64::try_from(before.as_nanos()).ok()?),
        Err(after) => now.1.checked_add(u64::try_from(after.duration().as_nanos()).ok()?),
    };
    let placed = samples.into_iter().filter_map(|(time, counters)| Some(LateSample { at_ns: at_ns(time)?, counters }));
    placed.filter(|sample| (from_ns..=until_ns).contains(&sample.at_ns)).collect()
}

/// The time of an answer to the question for the server's clock.
pub fn current_time(answer: &Node) -> Result<SystemTime, String> {
    let text = answer.text_at("returnval").ok_or("the answer has no time")?;
    parse_rfc3339(text.trim()).map_err(|error| format!("the server's clock: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::answer::parse;
    use super::*;
    use std::time::Duration;

    fn answer(body: &str) -> Node {
        parse(&format!("<Envelope><Body><Response>{body}</Response></Body></Envelope>")).unwrap()
    }

    fn counter(key: i32, (group, name, rollup): (&str, &str, &str)) -> String {
        format!(
            "<PerfCounterInfo><key>{key}</key><nameInfo><key>{name}</key></nameInfo><groupInfo><key>{group}</key></groupInfo>\
             <rollupType>{rollup}</rollupType></PerfCounterInfo>"
        )
    }

    fn known() -> NumberedCounters {
        let list = [
            counter(12, ("cpu", "ready", "summation")),
            counter(7, ("virtualDisk", "totalWriteLatency", "average")),
            counter(8, ("cpu", "ready", "average")),
        ];
        NumberedCounters::of(&answer(&list.concat()))
    }

    #[test]
    fn counters_are_known_by_name_and_asked_by_number() {
        assert_eq!(known().asked(), [(7, "*"), (12, "")]);
    }

    #[test]
    fn samples_have_a_time_and_what_was_counted_until_then() {
        let found = known().samples(&answer(
            "<returnval><sampleInfoCSV>20,2026-11-25T20:00:00Z,20,2026-11-25T20:00:20Z</sampleInfoCSV>\
             <value><id><counterId>12</counterId><instance></instance></id><value>110,-1</value></value>\
             <value><id><counterId>7</counterId><instance>scsi0:1</instance></id><value>3,4</value></value>\
             <value><id><counterId>99</counterId><instance/></id><value>1,2</value></value></returnval>",
        ));
        let found = found.unwrap();
        let told = |counters: &[Counter]| {
            counters
                .iter()
                .map(|counter| format!("{} {} {}", counter.name, counter.value, counter.unit))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&found[0].1), ["vsphere.cpu.ready 110 ms", "vsphere.disk.scsi0_1.write_latency 3 ms"]);
        assert_eq!(told(&found[1].1), ["vsphere.disk.scsi0_1.write_latency 4 ms"]);

        // The server's clock says 20:00:25, and ours 1000 s.
        let now = (found[1].0 + Duration::from_secs(5), 1_000_000_000_000);
        let second = |number: u64| number * 1_000_000_000;
        let all = between(found.clone(), now, (0, second(2_000)));
        assert_eq!(all.iter().map(|sample| sample.at_ns).collect::<Vec<_>>(), [second(975), second(995)]);
        assert_eq!(between(found.clone(), now, (second(980), second(999))).len(), 1);
        assert_eq!(between(found, now, (second(996), second(999))), []);
    }

    #[test]
    fn hostile_samples_are_errors_or_nothing() {
        let samples = |body: &str| known().samples(&answer(body));
        assert_eq!(samples(""), Ok(Vec::new()));
        assert!(samples("<returnval/>").is_err());
        assert!(samples("<returnval><sampleInfoCSV>20,soon</sampleInfoCSV></returnval>").is_err());
        let more = "<returnval><sampleInfoCSV>20,2026-11-25T20:00:00Z</sampleInfoCSV>\
            <value><id><counterId>12</counterId></id><value>1,2,x,99999999999999999999</value></value></returnval>";
        assert_eq!(samples(more).unwrap()[0].1.len(), 1);
    }
}
