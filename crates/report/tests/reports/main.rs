//! Reports of made-up runs: their content, and that every writer includes all of it.

#![allow(clippy::unwrap_used)]

mod ablation;
mod consolidated;
mod examples;
mod grown;
mod levels;
mod looked_at;
mod many_runs;
mod measures;
mod neighbour;
mod numbers;
mod real;
mod several_hosts;
mod tables;

use analysis::answers;
use analysis::consistency::host::HostDuringTrial;
use analysis::findings::{Finding, Stamp, What};
use analysis::summary::{Analysis, analyse};
use record::check::{Moment, Verdict};
use record::facts::{Fact, PROCESSOR};
use record::ladder::{ClimbEnd, Ladder, Rung};
use record::precision::{Precision, StopReason};
use record::run::Run;
use record::synthetic;
use record::trial::{ArrivalProcess, Pacing, QueuedWork};

fn sound() -> (Run, Analysis) {
    let run = synthetic::run(5);
    let analysis = analyse(&run);
    (run, analysis)
}

fn troubled() -> (Run, Analysis) {
    let run = synthetic::troubled();
    let analysis = analyse(&run);
    (run, analysis)
}

#[test]
fn the_terminal_of_a_sound_run() {
    let (run, analysis) = sound();
    insta::assert_snapshot!(report::terminal(&run, &analysis));
}

#[test]
fn the_terminal_of_a_troubled_run() {
    let (run, analysis) = troubled();
    insta::assert_snapshot!(report::terminal(&run, &analysis));
}

#[test]
fn the_markdown_of_a_sound_run() {
    let (run, analysis) = sound();
    insta::assert_snapshot!(report::markdown(&run, &analysis));
}

#[test]
fn the_markdown_of_a_troubled_run() {
    let (run, analysis) = troubled();
    insta::assert_snapshot!(report::markdown(&run, &analysis));
}

/// An old record has no limit, so its table has no column for it.
#[test]
fn trials_that_others_disturbed_are_told_with_what_they_used() {
    let (mut run, _) = sound();
    assert!(!report::markdown(&run, &analyse(&run)).contains("run again"));
    let limited = |disturbed: &[f64]| {
        let attempt = |used: &f64| serde_json::json!({ "started": "", "took_ms": 9, "other_cpu": used, "limit": 0.05 });
        let disturbed: Vec<_> = disturbed.iter().map(attempt).collect();
        let known = serde_json::json!({ "limit": 0.05, "max_repeats": 3, "other_cpu": { "known": 0.01 }, "disturbed": disturbed });
        Some(serde_json::from_value(known).unwrap())
    };
    run.trials.iter_mut().for_each(|trial| trial.record.other_load = limited(&[]));
    run.trials[2].record.other_load = limited(&[0.314, 0.12]);
    run.trials[4].record.other_load = limited(&[0.0521]);
    let text = report::markdown(&run, &analyse(&run));
    let told: Vec<&str> = text.lines().filter(|line| line.contains(" more, because others used ")).collect();
    assert_eq!(
        told,
        [
            "- Trial 3 was run 2 times more, because others used 31 % and 12 % of the host's CPU time (limit 5 %).",
            "- Trial 5 was run once more, because others used 5.2 % of the host's CPU time (limit 5 %).",
        ]
    );
    let (_, table) = text.split_once("| run again").unwrap();
    let last: Vec<&str> =
        table.lines().skip(2).take(5).filter_map(|row| row.trim_end_matches(" |").rsplit(' ').next()).collect();
    assert_eq!(last, ["0", "0", "2", "0", "1"]);
}

#[test]
fn the_json_carries_the_analysis_the_plan_and_every_trial() {
    let (run, analysis) = troubled();
    let json: serde_json::Value = serde_json::from_str(&report::json(&run, &analysis).unwrap()).unwrap();
    assert_eq!(json["trials"].as_array().unwrap().len(), run.trials.len());
    assert_eq!(json["plan"]["seed"], run.plan.seed);
    assert_eq!(json["host"]["cpu.threads"]["known"], "2");
    assert_eq!(json["analysis"]["comparisons"][0]["left_out"].as_array().unwrap().len(), 5);
}

/// The first contender climbed to its peak, and the second could not keep up with its arrivals.
fn offered() -> (Run, Analysis) {
    let mut run = synthetic::run(3);
    for trial in &mut run.trials {
        let driver = trial.record.driver.as_mut().expect("every made-up trial has driven");
        if trial.record.cell == 0 {
            let rung = |clients: u32, per_second| Rung { clients, per_second, ..Rung::default() };
            driver.ladder = Some(Ladder {
                rungs: vec![rung(1, 30.0), rung(2, 58.0), rung(4, 97.0), rung(8, 96.0), rung(16, 80.0), rung(6, 98.0)],
                chosen: 6,
                smallest_tied: 4,
                ended: ClimbEnd::Declined,
                largest_allowed: 128,
                saturated: "the machine's CPUs: 97 % busy".to_owned(),
            });
        } else {
            driver.pacing =
                Some(Pacing::Arrivals { per_second: 900.0, process: ArrivalProcess::Poisson, sessions: 64 });
            let each_second: Vec<u64> = (0..32).map(|second| second * 250).collect();
            driver.queue = Some(QueuedWork {
                longest: 7_800,
                waiting_at_end: 7_750,
                each_second,
                limit: 100_000,
                ..QueuedWork::default()
            });
        }
    }
    let analysis = analyse(&run);
    (run, analysis)
}

/// A run with a wished precision of ±2 % and two added blocks.
fn precise() -> (Run, Analysis) {
    let mut run = synthetic::run(12);
    let ended = Some(StopReason::Reached);
    let wish = Precision { half_width: 0.02, least_blocks: 10, max_blocks: 40, time_limit_ms: Some(60_000), ended };
    run.plan.precision = Some(wish);
    let analysis = analyse(&run);
    (run, analysis)
}

#[test]
fn whether_the_wished_precision_was_reached_stands_below_the_answer_in_every_form() {
    let (run, analysis) = precise();
    let markdown = report::markdown(&run, &analysis);
    let told = "Precision reached after 12 blocks (10 planned, 2 added): the throughput ratio is known to within";
    let (answer, precision) = (markdown.find("kvm did 1").unwrap(), markdown.find(told).unwrap());
    assert!(answer < precision && precision < markdown.find("| valid trials").unwrap());
    assert!(report::terminal(&run, &analysis).contains("Precision reached after 12 blocks"));
    assert!(visible_text(&report::html(&run, &analysis)).contains(told));
}

/// Two equal contenders have no difference, so any verdict is a false alarm about the measurement.
#[test]
fn an_aa_study_calls_a_difference_a_false_alarm() {
    let mut run = synthetic::run(5);
    run.plan.aa = true;
    let analysis = analyse(&run);
    let answer = &report::answer::sentences(&analysis)[0];
    assert!(answer.ends_with("(5 blocks). But both are the same: a false alarm."), "{answer}");
    let terminal = report::terminal(&run, &analysis).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(terminal.contains("This is an A/A study: each contender is compared with itself"), "{terminal}");
    assert!(terminal.contains("Yet 1 of 1 comparison saw one: a false alarm."), "{terminal}");
    let plain = report::terminal(&sound().0, &sound().1);
    assert!(!plain.contains("A/A") && !plain.contains("alarm"), "{plain}");
}

#[test]
fn how_work_was_offered_is_shown_where_it_was_not_fixed() {
    let (run, analysis) = offered();
    let markdown = report::markdown(&run, &analysis);
    let from = markdown.find("<details><summary>How work was offered").expect("a section");
    let section = &markdown[from..];
    insta::assert_snapshot!(&section[..section.find("\n</details>").unwrap()]);
    assert!(markdown.contains("900 arrivals/s, Poisson"), "beside what the driver says of itself");
    let html = report::html(&run, &analysis);
    assert_eq!(html.matches(": NOPM over clients</title>").count(), 3);
    assert_eq!(html.matches(": waiting over seconds</title>").count(), 3);
    let fixed = report::markdown(&sound().0, &sound().1);
    assert!(!fixed.contains("How work was offered"));
}

/// A stamp quotes a finding as it is about its trials. The worst may be elsewhere.
#[test]
fn a_finding_that_a_stamp_quotes_in_part_is_in_the_terminal_with_all_of_it() {
    let run = synthetic::run(3);
    let mut analysis = analyse(&run);
    let host = &mut analysis.consistency.host.trials;
    for reading in host.iter_mut() {
        let others = if reading.contender == "kvm" { 0.2 } else { 0.0 };
        (reading.busy, reading.others) = (Some(0.8), Some(others));
    }
    let elsewhere = HostDuringTrial { trial: 99, others: Some(0.48), ..host[0].clone() };
    host.push(elsewhere);
    let mut busy = Finding::new(What::HostBusy { share: 0.48 });
    busy.subject.trials = vec![1, 99];
    analysis.findings = vec![busy];
    let text = report::terminal(&run, &analysis);
    assert!(text.contains("20.0") && text.contains("48.0"), "{text}");
}

/// A ratio to an emulated guest must not be quoted without saying so, wherever it is read.
#[test]
fn an_emulated_contender_is_named_beside_the_ratio_in_every_form() {
    let mut run = synthetic::run(3);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        let machine = trial.record.machine.as_mut().unwrap();
        machine.decided.insert(PROCESSOR.to_owned(), Fact::known("emulated, because /dev/kvm is not there"));
    }
    let analysis = analyse(&run);
    let answer = &report::answer::sentences(&analysis)[0];
    assert!(
        answer.ends_with("The figure is not the price of a VM: the CPU of kvm was emulated in software."),
        "{answer}"
    );
    assert_eq!(answers::all(&analysis)[0].stamp, Stamp::NotUsable);
    let mut accepted = run.clone();
    accepted.plan.accept.insert("vm-emulated".to_owned(), "it is what we ask".to_owned());
    let told = &report::answer::sentences(&analyse(&accepted))[0];
    assert!(told.ends_with(" The CPU of kvm was emulated in software. Accepted: vm-emulated."), "{told}");
    let mut both = run.clone();
    let emulated =
        both.trials.iter().find(|trial| trial.record.cell == 1).and_then(|trial| trial.record.machine.clone());
    both.trials.iter_mut().for_each(|trial| trial.record.machine.clone_from(&emulated));
    let told = &report::answer::sentences(&analyse(&both))[0];
    assert!(told.ends_with(". The CPUs of native and kvm were emulated in software."), "{told}");
    let json: serde_json::Value = serde_json::from_str(&report::json(&run, &analysis).unwrap()).unwrap();
    assert_eq!(json["answers"][0]["says"], **answer);
    let in_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [report::html(&run, &analysis), report::markdown(&run, &analysis), report::terminal(&run, &analysis)] {
        let text = in_one_line(visible_text(&text));
        let report::sentence::AnswerParts { says, interval, but, .. } = &report::answer::all(&analysis)[0];
        for part in [says, interval, but] {
            assert!(text.contains(part), "{part} is not in it");
        }
        assert!(text.contains("kvm's CPU was emulated in software, because /dev/kvm is not there (trials 1, 4, 5)"));
    }
}

#[test]
fn wrong_data_refuses_the_verdict_in_the_first_sentence() {
    let mut run = synthetic::run(4);
    let wrong = Verdict::Violated { seen: "warehouse 1 is 12.50 short".to_owned() };
    run.trials[1].findings[0].verdict = wrong;
    let analysis = analyse(&run);
    let answer = &report::answer::sentences(&analysis)[0];
    let expected = "No verdict on kvm against native: native left wrong data behind in trial 2. In 3 blocks with correct data, kvm \
                    did 1";
    assert!(answer.starts_with(expected), "{answer}");
    let html = report::html(&run, &analysis);
    assert!(html.contains("<td class=\"bad\">wrong data<small>violated: order-entry/consistency-01</small>"), "{html}");
    let markdown = report::markdown(&run, &analysis);
    assert!(markdown.contains("| valid trials | **3 of 4** (1 with wrong data) | 4 of 4 |"), "{markdown}");
    let answered = answers::all(&analysis).remove(0);
    assert_eq!((answered.stamp, answered.doubts[0].code), (Stamp::NotUsable, "check-violated"));
}

#[test]
fn wrong_data_at_one_point_is_not_shown_at_the_others() {
    let mut run = grown::grown(3);
    run.trials[0].findings[0].verdict = Verdict::Violated { seen: "warehouse 1 is 12.50 short".to_owned() };
    let markdown = report::markdown(&run, &analyse(&run));
    let data: Vec<&str> = markdown.lines().filter(|line| line.starts_with("| data |")).collect();
    assert_eq!(data.iter().map(|line| line.matches("wrong").count()).sum::<usize>(), 1, "{data:#?}");
    assert_eq!(data.iter().map(|line| line.matches("correct").count()).sum::<usize>(), 13, "{data:#?}");
}

/// The text between the elements of a page; for other formats, all of it.
fn visible_text(text: &str) -> String {
    let text = text.replace('\u{a0}', " ").replace("&#39;", "'");
    text.split('<')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('>').map_or("", |(_, rest)| rest) })
        .collect()
}

/// Unbalanced tags of the elements in a report, in order.
fn unbalanced(html: &str) -> Vec<String> {
    let (mut open, mut wrong): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    // The script contains no elements.
    let (page, end) = html.split_once("<script>").expect("one script");
    let html = format!("{page}{}", end.split_once("</script>").expect("its end").1);
    for tag in html.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        let single = ["!DOCTYPE", "meta", "br", "wbr"].contains(&name) || tag.ends_with('/');
        match name.strip_prefix('/') {
            Some(name) if open.last() == Some(&name) => drop(open.pop()),
            Some(name) => wrong.push(format!("</{name}> while {:?} is open", open.last())),
            None if single => {}
            None => open.push(name),
        }
    }
    wrong.extend(open.into_iter().map(|name| format!("<{name}> is never closed")));
    wrong
}

#[test]
fn the_html_is_one_closed_file_that_loads_nothing() {
    for (run, analysis) in [sound(), troubled(), offered()] {
        let html = report::html(&run, &analysis);
        assert_eq!(unbalanced(&html), Vec::<String>::new());
        assert_eq!(html.matches("<script").count(), 1, "the one of our own");
        assert!(!html.contains("<th scope=\"row\"></th>"), "a heading without text");
        for absent in ["<link", "src=", "@import", "url("] {
            assert!(!html.contains(absent), "{absent}");
        }
        let links = html.matches("http").count();
        let namespaces = html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
        assert_eq!(links, namespaces, "nothing but the name of SVG's namespace looks like an address");
    }
}

#[test]
fn figures_show_every_block_and_kind_and_describe_themselves() {
    let (run, analysis) = sound();
    let html = report::html(&run, &analysis);
    for block in 1..=run.plan.blocks {
        assert_eq!(html.matches(&format!("data-name=\"kvm, block {block}\"")).count(), 1, "{block}");
    }
    for kind in &run.trials[0].measured.as_ref().unwrap().kinds {
        assert!(html.contains(&format!("<title>{kind}: ms over quantile</title>")), "{kind}");
    }
    assert_eq!(html.matches("<svg").count(), html.matches("<desc>").count());
    assert_eq!(html.matches("class=\"block ").count(), 5 + 3 * 5, "a point for each block and ratio");
    assert!(
        !html.contains("NaN,") && !html.contains("\"NaN") && !html.contains("inf\""),
        "every coordinate is a number"
    );
}

#[test]
fn the_answer_stands_before_all_else_and_what_makes_it_doubtful_with_it() {
    let (run, analysis) = troubled();
    let html = report::html(&run, &analysis);
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    let order =
        ["<h1>", "class=\"where\"", "class=\"answer\"", "class=\"stamp bad\"", "<table>", "class=\"trust\"", "<svg"];
    let order: Vec<usize> = order.iter().map(|text| at(text)).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn what_others_wrote_cannot_become_markup() {
    let mut run = synthetic::run(3);
    run.plan.question = "<script>alert(1)</script> & so".to_owned();
    run.plan.cells[1].contender = "<b>|x".to_owned();
    let analysis = analyse(&run);
    let html = report::html(&run, &analysis);
    assert!(html.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt; &amp; so</h1>"));
    assert!(!html.contains("<script>alert") && !html.contains("<b>|"));
    assert!(report::markdown(&run, &analysis).contains("| \\<b\\>\\|x |"));
}

#[test]
fn an_empty_run_is_reported_too() {
    let mut run = synthetic::run(3);
    run.trials.clear();
    run.host.clear();
    let analysis = analyse(&run);
    assert_eq!(unbalanced(&report::html(&run, &analysis)), Vec::<String>::new());
    let terminal = report::terminal(&run, &analysis);
    assert!(terminal.contains("no block was completed by both"), "{terminal}");
    assert!(terminal.contains("✗ Not usable. 6 of 6 planned trials were not completed"), "{terminal}");
}

/// Checks of the loaded data show nothing about the data that a trial left behind.
#[test]
fn a_contender_with_checks_of_loaded_data_alone_is_not_checked() {
    let mut run = synthetic::run(3);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        trial.findings.retain(|check| check.moment == Moment::AfterLoad);
    }
    let terminal = report::terminal(&run, &analyse(&run));
    let data = terminal.lines().find(|line| line.starts_with("data ")).unwrap();
    assert_eq!(data.split_whitespace().collect::<Vec<_>>(), ["data", "correct", "not", "checked"], "{terminal}");
}

/// Writes reports for looking at: of made-up runs, and of the run whose folder `LOOK_AT` names.
/// `cargo test -p report -- --ignored --nocapture`
#[test]
#[ignore = "writes files for people to look at"]
fn samples_to_look_at() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut runs = vec![
        ("sound", synthetic::run(5)),
        ("troubled", synthetic::troubled()),
        ("grown", grown::grown(4)),
        ("consolidated", consolidated::MADE_UP.0.clone()),
        ("neighbour", neighbour::MADE_UP.0.clone()),
    ];
    if let Some(path) = std::env::var_os("LOOK_AT") {
        runs.push(("run", Run::open(path.as_ref()).unwrap()));
    }
    for (name, run) in runs {
        let analysis = analyse(&run);
        let path = folder.join(format!("{name}.html"));
        std::fs::write(&path, report::html(&run, &analysis)).unwrap();
        assert!(path.is_file());
        println!("{}", path.display());
    }
}

/// Keys whose values are data, not parts of the format.
const KEYS_OF_DATA: [&str; 8] = ["host", "decided", "inside", "effective", "tally", "errors", "extra", "sweep"];

fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                let decided_tables = key == "settings" && value.is_object();
                if !KEYS_OF_DATA.contains(&key.as_str()) && !decided_tables {
                    keys(value, found);
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_every_file_is_described() {
    let mut found = std::collections::BTreeSet::new();
    let mut aa = precise();
    aa.1.aa = true;
    for (run, analysis) in [sound(), troubled(), aa] {
        keys(&serde_json::from_str(&report::json(&run, &analysis).unwrap()).unwrap(), &mut found);
    }
    assert!(found.len() > 100, "{found:?}");
    all_are_described(&found);
}

fn all_are_described(keys: &std::collections::BTreeSet<String>) {
    let description = include_str!("../../../../docs/formats.md");
    let described =
        |key: &&String| description.contains(&format!("`{key}`")) || description.contains(&format!("\"{key}\""));
    let missing: Vec<&String> = keys.iter().filter(|key| !described(key)).collect();
    assert_eq!(missing, Vec::<&String>::new(), "docs/formats.md does not say what these are");
}
