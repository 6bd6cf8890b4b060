//! Stamps of studies whose truth is known: two equal contenders, left alone, or with a disturbance planted beside one of them.
//!
//! A stamp is right if the truth lies within the answer's interval as far as its doubts move it. It is wrong if it says usable of an answer
//! that calls equal contenders unequal by more than the study's margin.

mod planted;

use self::planted::{PlantedLoad, Treatment};
use super::RaceGround;
use super::bar::{Bar, BarSize, verdict};
use super::study::{self, EndedRun};
use anyhow::Context;
use serde_json::Value;

/// A difference below this is none.
const MARGIN: f64 = 0.05;
const LEAST_WITHIN: f64 = 0.9;

const STUDY: &str = r#"
question = "Are two equal contenders equal?"
seed     = SEED
blocks   = BLOCKS
margin   = "5%"

[machine]
vcpus  = 1
memory = "512MiB"
disk   = { size = "1GiB" }

[engine]
kind = "ENGINE"

[workload]
kind       = "sysbench-oltp"
test       = "read_write"
tables     = 2
table_size = 100_000

[load]
clients = 2
warmup  = "2s"
measure = "5s"

[[contender]]
name     = "a"
baseline = true
platform = PLATFORM

[[contender]]
name     = "b"
platform = PLATFORM
"#;

/// What a study said of b against a.
struct FoundAnswer {
    /// Of throughput: the ratio, and its interval.
    ratio: [f64; 3],
    /// How far all doubts of known size move it together.
    reach: [f64; 2],
    stamp: String,
    doubts: Vec<String>,
}

impl FoundAnswer {
    /// `None` if nothing was compared.
    fn of(run: &EndedRun) -> anyhow::Result<Option<Self>> {
        let (report, analysis) = (run.json("report.json")?, run.json("analysis.json")?);
        let contrast = study::throughput_of(&analysis["comparisons"][0]);
        let number = |of: &Value, name: &str| of[name].as_f64();
        let ends = ["point", "low", "high"].map(|name| number(contrast, name));
        let [Some(point), Some(low), Some(high)] = ends else { return Ok(None) };
        let answers = report["answers"].as_array().cloned().unwrap_or_default();
        let answer =
            answers.iter().find(|one| one["question"] == "cost").context("no answer to the study's question")?;
        let doubts = answer["usable"]["doubts"].as_array().cloned().unwrap_or_default();
        // Load beside one side only is the same load under two names.
        let mut reaches: Vec<[f64; 2]> = Vec::new();
        for doubt in &doubts {
            let known = number(doubt, "low").zip(number(doubt, "high")).map(|(low, high)| [low, high]);
            reaches.extend(known.filter(|reach| !reaches.contains(reach)));
        }
        let reach = reaches.iter().fold([1.0, 1.0], |all, one| [all[0] * one[0], all[1] * one[1]]);
        let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
        let doubts = doubts.iter().map(|doubt| text(&doubt["kind"])).collect();
        Ok(Some(Self { ratio: [point, low, high], reach, stamp: text(&answer["usable"]["stamp"]), doubts }))
    }

    fn is_usable(&self) -> bool {
        self.stamp == "usable"
    }

    /// The true ratio of equal contenders is 1.
    fn has_truth_within(&self) -> bool {
        let [_, low, high] = self.ratio;
        low * self.reach[0] <= 1.0 && 1.0 <= high * self.reach[1]
    }

    /// Usable, though it calls them unequal.
    fn is_wrong(&self) -> bool {
        let [_, low, high] = self.ratio;
        self.is_usable() && (high < 1.0 / (1.0 + MARGIN) || low > 1.0 + MARGIN)
    }

    fn line(&self) -> String {
        let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
        let [point, low, high] = self.ratio.map(percent);
        let reach = self.reach.map(percent);
        format!(
            "{point} ({low} to {high}) | {} to {} | {} | {}",
            reach[0],
            reach[1],
            self.stamp,
            self.doubts.join(", ")
        )
    }
}

pub fn race(ground: &RaceGround, studies: u32, only: &str) -> anyhow::Result<()> {
    println!(
        "| beside b | change of b against a, % | doubts move it by, % | stamp | doubts |\n| --- | --- | --- | --- | --- |"
    );
    let wants = |name: &str| name.contains(only);
    let mut bars = Vec::new();
    if wants("nothing") {
        let alone = equal(ground, studies, None)?;
        let close = |found: &&FoundAnswer| found.ratio[1] > 1.0 - MARGIN && found.ratio[2] < 1.0 + MARGIN;
        let sure: Vec<&FoundAnswer> = alone.iter().filter(close).collect();
        bars.push(share("A/A studies with an interval inside ±5 % that are usable", &sure, 1.0, |found| {
            found.is_usable()
        }));
    }
    if wants("another program") {
        let beside = equal(ground, studies, Some(&planted::HOGS[1]))?;
        let all: Vec<&FoundAnswer> = beside.iter().collect();
        bars.push(share("A/A studies beside another program that are not usable", &all, 1.0, |found| {
            !found.is_usable()
        }));
    }
    let mut found = Vec::new();
    for planted in planted::DISTURBANCES.iter().flat_map(|pair| *pair).filter(|planted| wants(planted.name)) {
        found.extend(disturbed(ground, planted, 1)?);
    }
    let all: Vec<&FoundAnswer> = found.iter().collect();
    bars.push(share("disturbed studies with the truth within", &all, LEAST_WITHIN, FoundAnswer::has_truth_within));
    bars.push(share("disturbed studies that are usable only if right", &all, 1.0, |found| !found.is_wrong()));
    for treatment in planted::TREATMENTS.iter().flat_map(|pair| *pair).filter(|treatment| wants(treatment.name)) {
        treated(ground, treatment)?;
    }
    verdict(&bars)
}

fn share(what: &str, of: &[&FoundAnswer], least: f64, is_so: impl Fn(&FoundAnswer) -> bool) -> Bar {
    let so = of.iter().filter(|found| is_so(found)).count();
    let found = if of.is_empty() { 1.0 } else { so as f64 / of.len() as f64 };
    Bar { what: format!("share of {} {what}", of.len()), found, asked: BarSize::AtLeast(least) }
}

const NATIVE: &str = r#"{ kind = "native" }"#;

fn text(seed: u32, blocks: u32, engine: &str, platform: &str) -> String {
    let text = STUDY.replace("SEED", &seed.to_string()).replace("BLOCKS", &blocks.to_string());
    text.replace("ENGINE", engine).replace("PLATFORM", platform)
}

/// So many studies of ten blocks.
fn equal(ground: &RaceGround, studies: u32, beside: Option<&PlantedLoad>) -> anyhow::Result<Vec<FoundAnswer>> {
    let mut all = Vec::new();
    for seed in 1..=studies {
        let study = text(seed, 10, "sqlite", NATIVE);
        if let Some(planted) = beside {
            all.extend(disturbed_of(ground, planted, &study)?);
        } else {
            let found = FoundAnswer::of(&study::run(ground, "equal", &study)?)?;
            show("nothing", found.as_ref());
            all.extend(found);
        }
    }
    Ok(all)
}

fn disturbed(ground: &RaceGround, planted: &PlantedLoad, seed: u32) -> anyhow::Result<Option<FoundAnswer>> {
    disturbed_of(ground, planted, &text(seed, 5, "sqlite", NATIVE))
}

/// From the beginning of b's warm-up until its window has ended.
fn disturbed_of(ground: &RaceGround, planted: &PlantedLoad, study: &str) -> anyhow::Result<Option<FoundAnswer>> {
    let prepared = planted.prepare(ground)?;
    let mut going_on = None;
    let run = study::watched(ground, "disturbed", study, &[], &mut |run, line| {
        if line.ends_with(" b: warm up") {
            going_on = Some(prepared.begin(run)?);
        } else if line.ends_with(": check") {
            going_on = None;
        }
        Ok(())
    })?;
    let found = FoundAnswer::of(&run)?;
    show(planted.name, found.as_ref());
    Ok(found)
}

/// What a study sets differently on purpose is no doubt, so only its stamp is shown.
fn treated(ground: &RaceGround, treatment: &Treatment) -> anyhow::Result<()> {
    let native = text(1, 5, treatment.engine, treatment.platform) + treatment.of_b;
    let run = study::with(ground, "treated", &native, &[])?;
    show(treatment.name, FoundAnswer::of(&run)?.as_ref());
    Ok(())
}

fn show(name: &str, found: Option<&FoundAnswer>) {
    println!("| {name} | {} |", found.map_or("no valid blocks | | | ".to_owned(), FoundAnswer::line));
}
