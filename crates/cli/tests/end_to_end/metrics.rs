//! Metrics of a run, scraped during the run as by a monitoring system.

use crate::openmetrics::{self, Exposition, Series};
use crate::runs::small;
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, text};
use record::event::Event;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

/// Far longer than any answer takes.
const LIMIT: Duration = Duration::from_mins(1);
const AGAIN: &str = "[[contender]]\nname = \"again\"\nplatform = { kind = \"native\" }\n";
const TEXT: &str = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("metrics are served");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    stream
}

/// The status line, the other lines of the head, and the body.
fn ask(address: &str, request: &str) -> (String, String, String) {
    let mut stream = connect(address);
    write!(stream, "{request} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let (status, fields) = head.split_once("\r\n").expect("fields");
    (status.to_owned(), format!("{fields}\r\n").to_lowercase(), body.to_owned())
}

fn scrape(address: &str) -> Exposition {
    let (status, fields, body) = ask(address, "GET /metrics");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(fields.contains(TEXT), "{fields}");
    assert!(fields.contains(&format!("content-length: {}\r\n", body.len())), "{fields}");
    openmetrics::read(&body).unwrap_or_else(|why| panic!("{why}\n{body}"))
}

/// Every other request is refused, whatever the run does.
fn refuses_everything_else(address: &str) {
    assert!(ask(address, "POST /metrics").0.starts_with("HTTP/1.1 405 "));
    assert!(ask(address, "DELETE /metrics").0.starts_with("HTTP/1.1 405 "));
    assert!(ask(address, "GET /").0.starts_with("HTTP/1.1 404 "));
    assert!(ask(address, &format!("GET /metrics?{}", "x".repeat(10_000))).0.starts_with("HTTP/1.1 431 "));
    let (status, fields, body) = ask(address, "HEAD /metrics");
    assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", ""));
    assert!(fields.contains(TEXT), "{fields}");
}

/// Telemetry counters may start again with each trial, since each has its own machine.
fn only_grows(scrapes: &[Exposition]) {
    let mut last: BTreeMap<(Option<&String>, &Series), f64> = BTreeMap::new();
    for scrape in scrapes {
        let trial = scrape.named("bakeoff_trial_info").map(|(labels, _)| &labels["trial"]).next();
        assert!(trial.is_some(), "{scrape:?}");
        for (series, value) in scrape.counters() {
            let within = trial.filter(|_| series.0.starts_with("bakeoff_telemetry_"));
            let before = last.insert((within, series), value).unwrap_or(0.0);
            assert!(value >= before, "{series:?} fell from {before} to {value}");
        }
    }
    assert!(last.keys().any(|(_, (name, _))| name == "bakeoff_trial_committed_total"), "{:?}", last.keys());
}

#[test]
fn a_run_is_scraped_while_it_goes_on() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let warmed = small("sqlite", "512MiB", AGAIN).replace("warmup = \"0s\"", "warmup = \"1s\"");
    let place = Place::new(&warmed);
    let mut child = place.command(&["run", "study.toml", "--metrics", ":0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().expect("its standard error")).lines().map_while(Result::ok);
    let served = |line: String| Some(line.strip_prefix("metrics at http://")?.strip_suffix("/metrics")?.to_owned());
    let address = said.by_ref().find_map(served).expect("it says where metrics are");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    // A client that never finishes its request blocks nobody.
    let mut slow = connect(&address);
    slow.write_all(b"GET /metrics HTTP/1.1\r\nHo").unwrap();
    let mut scrapes = Vec::new();
    let mut told = String::new();
    for line in said {
        // Other phases follow these, so the run is still going on.
        if [": warm up", ": measure", ": check"].iter().any(|phase| line.ends_with(phase)) {
            scrapes.push(scrape(&address));
            if scrapes.len() == 1 {
                refuses_everything_else(&address);
            }
        }
        told.push_str(&line);
        told.push('\n');
    }
    assert_eq!(child.wait().unwrap().code(), NOT_USABLE, "{told}");
    assert!(TcpStream::connect(&address).is_err(), "the port is still open");
    assert_eq!(scrapes.len(), 6, "{told}");
    only_grows(&scrapes);
    says_what_the_record_says(&place, &scrapes);
    is_exported_afterwards(&place);
}

/// Both sides of both trials, from before the measured window to its end, on either clock.
fn is_exported_afterwards(place: &Place) {
    let run = place.run_folder();
    let output = place.bakeoff(&["export", run.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for trial in place.record().trials {
        let measured_s = trial.record.driver.expect("a completed trial has driven").measured_ms as f64 / 1e3;
        for side in ["host", "machine"] {
            let of_side = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let counted = of_side.filter(|fields| {
                fields[0] == trial.record.id.to_string() && fields[5] == side && fields[7] == "switches.context"
            });
            let points: Vec<(f64, u64)> =
                counted.map(|fields| (fields[6].parse().unwrap(), fields[10].parse().unwrap())).collect();
            let (first, last) = (points.first().expect("samples"), points.last().expect("samples"));
            assert!(first.0 < 0.0 && last.0 >= measured_s, "{side} of trial {}: {points:?}", trial.record.id);
            assert!(first.1 < last.1 && points.is_sorted(), "{side} of trial {}: {points:?}", trial.record.id);
        }
    }
}

/// Each trial's last scrape was made after all events of its driving.
fn says_what_the_record_says(place: &Place, scrapes: &[Exposition]) {
    let run = place.run_folder();
    let events = record::event_log::read_events(&run.join("events.jsonl")).unwrap();
    for trial in place.record().trials {
        let record = trial.record;
        let driven = events.iter().filter_map(|stamped| match stamped.event {
            Event::Throughput { trial, counted, committed, errors, .. } if trial == record.id => {
                Some([counted, committed, errors])
            }
            _ => None,
        });
        let sums = driven.fold([0; 3], |sums: [u64; 3], own| std::array::from_fn(|place| sums[place] + own[place]));
        let found = ["counted", "committed", "errors"].map(|what| {
            let name = format!("bakeoff_trial_{what}_total");
            let mut of_trial = scrapes.iter().filter_map(|scrape| {
                let (labels, value) =
                    scrape.named(&name).find(|(labels, _)| labels["trial"] == record.id.to_string())?;
                assert_eq!((&labels["contender"], &labels["block"]), (&record.contender, &record.block.to_string()));
                Some(value)
            });
            of_trial.next_back()
        });
        assert_eq!(found, sums.map(|sum| Some(sum as f64)), "trial {}", record.id);
    }
    let last = scrapes.last().expect("a scrape");
    let (labels, _) = last.named("bakeoff_run_info").next().expect("the run");
    assert_eq!(labels["counts"], "OPM");
    assert!(run.ends_with(&labels["folder"]), "{labels:?}");
    assert_eq!(last.named("bakeoff_trials_planned").map(|(_, value)| value).collect::<Vec<_>>(), [2.0]);
    let completed = last.named("bakeoff_trials_ended_total").find(|(labels, _)| labels["outcome"] == "completed");
    assert_eq!(completed.map(|(_, value)| value), Some(1.0));
    let measuring = |scrape: &Exposition| {
        let mut on = scrape.named("bakeoff_phase").filter(|(_, value)| *value > 0.0);
        on.any(|(labels, _)| labels["bakeoff_phase"] == "measure")
    };
    assert!(scrapes.iter().any(measuring), "{scrapes:?}");
}

#[test]
fn an_address_that_cannot_be_had_is_told_before_anything_starts() {
    // A host that lacks tools would report that first.
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&small("sqlite", "512MiB", ""));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = taken.local_addr().unwrap().to_string();
    for (address, parts) in [
        (busy.as_str(), [busy.as_str(), "--metrics=:0"]),
        ("192.0.2.7:9464", ["192.0.2.7", "--metrics=:9464"]),
        ("db.example:80", ["db.example", "127.0.0.1"]),
        ("70000", ["70000", "127.0.0.1"]),
    ] {
        let output = place.bakeoff(&["run", "study.toml", "--metrics", address]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
        assert!(!place.folder.path().join("runs").exists(), "a run was begun");
    }
}
