//! How a measure went over runs. Only runs of one study on one host are set side by side; others are kept apart, with the reason.
//!
//! Each run's level has the interval that its own blocks give. None of these includes what differs from run to run. So
//! the mean over runs has its own interval, in which a run counts once.

use super::{Brief, BriefCell, BriefLevel, HostBrief, RunState};
use crate::contrast::Contrast;
use crate::estimate::{Bounds, Estimate, EstimateMethod};
use crate::findings::{Stamp, ValueChange};
use crate::gathered::differing;
use crate::measures::{Measure, Scale, Unit};
use crate::missing::Missing;
use crate::student::{self, FEWEST_BLOCKS};
use crate::two_runs::surroundings::differing_facts;
use record::facts::Facts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    pub format: u32,
    #[serde(flatten)]
    pub measure: Measure,
    /// Ordered by their first runs.
    pub courses: Vec<Course>,
    /// Runs that belong to no course, each with the reason.
    pub left_out: Vec<LeftOutRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOutRun {
    pub run: String,
    pub why: Missing,
}

/// Runs of one study on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Names of the study; the same study may have been kept in files with several names.
    pub study: Vec<String>,
    pub study_id: String,
    pub host: HostBrief,
    /// Why its runs do not belong to an earlier course of a study of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<CourseBreak>,
    /// The oldest first.
    pub runs: Vec<Stop>,
    pub series: Vec<CellSeries>,
}

/// What separates a course from an earlier one of a study of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum CourseBreak {
    Host {
        changes: Vec<ValueChange>,
    },
    /// Its seed, its cells or their settings differ.
    Study,
}

/// What a reader must know about a run's figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum RunNote {
    Unfinished {
        valid: u32,
        planned: u32,
    },
    WrongData {
        contender: String,
    },
    /// The answer about it may not be used.
    NotUsable {
        contender: String,
    },
    /// A component differs from the one that the run before used.
    Changed(ValueChange),
}

/// A run's position in a course.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    pub run: String,
    pub started: Option<String>,
    pub notes: Vec<RunNote>,
}

/// One cell over the runs of a course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSeries {
    pub cell: u32,
    pub contender: String,
    pub coordinates: String,
    pub baseline: Option<String>,
    /// One level for each run, in their order; `None` where a run has none.
    pub levels: Vec<Option<BriefLevel>>,
    pub mean: Option<Estimate>,
    /// The same, as contrasts with the baseline of each run.
    pub contrasts: Vec<Option<Contrast>>,
    pub mean_contrast: Option<Contrast>,
}

/// The query.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrendQuery<'a> {
    pub measure: &'a str,
    pub study: Option<&'a str>,
    pub contender: Option<&'a str>,
    /// A cell's number in the plan.
    pub cell: Option<u32>,
}

/// A name that no run has, with the names that exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownError {
    #[error("no run was measured")]
    Runs,
    #[error("no run is of the study {name:?}")]
    Study { name: String, known: Vec<String> },
    #[error("no run has the cell asked for")]
    Cell { known: Vec<String> },
    #[error("no run has the measure {name:?}")]
    Measure { name: String, known: Vec<String> },
}

/// The runs may come in any order.
pub fn trend(runs: &[Brief], wanted: TrendQuery<'_>) -> Result<Trend, UnknownError> {
    let (rehearsed, measured): (Vec<&Brief>, Vec<&Brief>) =
        runs.iter().partition(|run| run.state == RunState::Rehearsed);
    let mut chosen = of_study(measured, wanted)?;
    chosen.sort_by(|one, other| (&one.started, &one.run).cmp(&(&other.started, &other.run)));
    let measure = find_measure(&chosen, wanted)?;
    let has_it = |run: &&Brief| series_of(run, wanted).any(|cell| cell.level(&measure.id).is_some());
    let (with, without): (Vec<&Brief>, Vec<&Brief>) = chosen.into_iter().partition(has_it);
    let rehearsed = rehearsed.into_iter().map(|run| (run, Missing::Rehearsed));
    let without = without.into_iter().map(|run| (run, Missing::NoSuchMeasure { measure: measure.id.clone() }));
    let left_out = rehearsed.chain(without).map(|(run, why)| LeftOutRun { run: run.run.clone(), why }).collect();
    let groups = grouped(&with);
    let courses = (0..groups.len()).map(|place| course(&groups, place, &measure, wanted)).collect();
    Ok(Trend { format: record::FORMAT, measure, courses, left_out })
}

fn of_study<'a>(runs: Vec<&'a Brief>, wanted: TrendQuery<'_>) -> Result<Vec<&'a Brief>, UnknownError> {
    let known: BTreeSet<String> = runs.iter().map(|run| run.study.clone()).collect();
    let chosen: Vec<&Brief> =
        runs.into_iter().filter(|run| wanted.study.is_none_or(|name| run.study == name)).collect();
    match wanted.study {
        _ if known.is_empty() => Err(UnknownError::Runs),
        Some(name) if chosen.is_empty() => {
            Err(UnknownError::Study { name: name.to_owned(), known: known.into_iter().collect() })
        }
        _ => Ok(chosen),
    }
}

fn series_of<'a>(run: &'a Brief, wanted: TrendQuery<'a>) -> impl Iterator<Item = &'a BriefCell> {
    let of_contender = move |cell: &&BriefCell| wanted.contender.is_none_or(|name| cell.contender == name);
    run.cells.iter().filter(of_contender).filter(move |cell| wanted.cell.is_none_or(|number| cell.cell == number))
}

fn find_measure(runs: &[&Brief], wanted: TrendQuery<'_>) -> Result<Measure, UnknownError> {
    let levels = || runs.iter().flat_map(|run| series_of(run, wanted)).flat_map(|cell| &cell.levels);
    // The unit and direction of the newest run, since a version of the tool may have changed them.
    let wanted_ones = || levels().map(|level| &level.measure).filter(|measure| measure.id == wanted.measure);
    if let Some(newest) = wanted_ones().last() {
        let mut measure = newest.clone();
        // Studies and cells may count different things, and then no unit is that of all of them.
        if wanted_ones().any(|other| other.unit != newest.unit) {
            measure.unit = Unit::Own(String::new());
        }
        return Ok(measure);
    }
    if !runs.iter().any(|run| series_of(run, wanted).next().is_some()) {
        let named = |cell: &BriefCell| format!("{} (cell {})", cell.contender, cell.cell);
        let known: BTreeSet<String> = runs.iter().flat_map(|run| &run.cells).map(named).collect();
        return Err(UnknownError::Cell { known: known.into_iter().collect() });
    }
    let known: BTreeSet<&String> = levels().map(|level| &level.measure.id).collect();
    Err(UnknownError::Measure { name: wanted.measure.to_owned(), known: known.into_iter().cloned().collect() })
}

/// Runs that belong together, with every fact about the host that one of them knows.
struct RunGroup<'a> {
    runs: Vec<&'a Brief>,
    host: Facts,
}

/// Groups runs by study and host. Two hosts are the same if no fact that both know differs, as when two runs are compared.
fn grouped<'a>(runs: &[&'a Brief]) -> Vec<RunGroup<'a>> {
    let mut groups: Vec<RunGroup<'a>> = Vec::new();
    for run in runs {
        let is_own = |group: &&mut RunGroup<'a>| {
            group.runs[0].study_id == run.study_id && differing_facts(&group.host, &run.host).is_empty()
        };
        // A host with few known facts may fit several groups; the newest is nearest in time.
        match groups.iter_mut().rev().find(is_own) {
            Some(group) => {
                group.runs.push(run);
                group.host.extend(run.host.clone());
            }
            None => groups.push(RunGroup { runs: vec![run], host: run.host.clone() }),
        }
    }
    groups
}

fn course(groups: &[RunGroup<'_>], place: usize, measure: &Measure, wanted: TrendQuery<'_>) -> Course {
    let group = &groups[place];
    let study: BTreeSet<&String> = group.runs.iter().map(|run| &run.study).collect();
    Course {
        study: study.into_iter().cloned().collect(),
        study_id: group.runs[0].study_id.clone(),
        host: HostBrief::of(&group.host),
        apart: apart(&groups[..place], group),
        runs: stops(&group.runs),
        series: all_series(&group.runs, measure, wanted),
    }
}

/// Compared with the nearest earlier course: of the same study on another host, otherwise of another study of the same name.
fn apart(earlier: &[RunGroup<'_>], group: &RunGroup<'_>) -> Option<CourseBreak> {
    let first = group.runs[0];
    let nearest = |is_near: &dyn Fn(&Brief) -> bool| earlier.iter().rev().find(|other| is_near(other.runs[0]));
    if let Some(other) = nearest(&|run| run.study_id == first.study_id) {
        return Some(CourseBreak::Host { changes: differing_facts(&other.host, &group.host) });
    }
    nearest(&|run| run.study == first.study).map(|_| CourseBreak::Study)
}

fn stops(runs: &[&Brief]) -> Vec<Stop> {
    let before = std::iter::once(None).chain(runs.iter().map(Some));
    let stop = |(run, before): (&&Brief, Option<&&Brief>)| {
        let mut notes = Vec::new();
        if run.state == RunState::Unfinished {
            notes.push(RunNote::Unfinished { valid: run.valid, planned: run.planned });
        }
        let contenders = |is: fn(&&BriefCell) -> bool| {
            run.cells.iter().filter(is).map(|cell| cell.contender.clone()).collect::<BTreeSet<String>>()
        };
        let wrong = contenders(|cell| cell.wrong_data).into_iter();
        notes.extend(wrong.map(|contender| RunNote::WrongData { contender }));
        let unusable = contenders(|cell| cell.stamp == Some(Stamp::NotUsable)).into_iter();
        notes.extend(unusable.map(|contender| RunNote::NotUsable { contender }));
        notes.extend(before.map(|before| changes(before, run)).unwrap_or_default());
        Stop { run: run.run.clone(), started: run.started.clone(), notes }
    };
    runs.iter().zip(before).map(stop).collect()
}

/// The components whose version differs from that of the run before.
fn changes(before: &Brief, run: &Brief) -> Vec<RunNote> {
    let change = |(what, old, new): (&String, Option<&Vec<String>>, Option<&Vec<String>>)| {
        let [old, new] = [old?, new?].map(|versions| Some(versions.join(" | ")));
        Some(RunNote::Changed(ValueChange { name: what.clone(), old, new }))
    };
    differing(&before.versions, &run.versions).filter_map(change).collect()
}

fn all_series(runs: &[&Brief], measure: &Measure, wanted: TrendQuery<'_>) -> Vec<CellSeries> {
    let Some(newest) = runs.last() else { return Vec::new() };
    // All runs of a study have the same cells, but their plans may number them differently.
    let of_cell = |cell: &BriefCell| {
        let same = |other: &&BriefCell| (&other.contender, &other.coordinates) == (&cell.contender, &cell.coordinates);
        let own: Vec<Option<&BriefCell>> = runs.iter().map(|run| run.cells.iter().find(same)).collect();
        let levels: Vec<_> = own.iter().map(|cell| cell.as_ref()?.level(&measure.id).cloned()).collect();
        let contrasts: Vec<_> = own.iter().map(|cell| cell.as_ref()?.contrast(&measure.id).cloned()).collect();
        CellSeries {
            cell: cell.cell,
            contender: cell.contender.clone(),
            coordinates: cell.coordinates.clone(),
            baseline: cell.baseline.clone(),
            mean: mean_level(measure.scale, &levels),
            mean_contrast: mean_contrast(&measure.id, &contrasts),
            levels,
            contrasts,
        }
    };
    series_of(newest, wanted).map(of_cell).filter(|series| series.levels.iter().any(Option::is_some)).collect()
}

fn mean_level(scale: Scale, levels: &[Option<BriefLevel>]) -> Option<Estimate> {
    let points: Vec<f64> = levels.iter().flatten().map(|level| level.estimate.point).collect();
    let geometric = if scale == Scale::Ratio { student::geometric_mean(&points) } else { None };
    let most = if scale == Scale::Proportion { 1.0 } else { f64::INFINITY };
    let mean = geometric.or_else(|| student::mean_amount(points.clone()))?;
    Some(over_runs(Estimate { bounds: mean.bounds.map(|end| end.min(most)), ..mean }, points.len()))
}

/// `None` if some runs have ratios and others differences: these have no mean.
fn mean_contrast(measure: &str, contrasts: &[Option<Contrast>]) -> Option<Contrast> {
    let scale = contrasts.iter().flatten().next()?.scale;
    let points = contrasts.iter().flatten().map(|one| (one.scale == scale).then_some(one.estimate.point));
    let points: Vec<f64> = points.collect::<Option<_>>()?;
    let runs = points.len();
    let mean = if scale == Scale::Ratio { student::geometric_mean(&points) } else { student::mean(points) };
    let estimate = over_runs(mean?, runs);
    Some(Contrast { measure: measure.to_owned(), scale, estimate, spread: None, blocks: Vec::new() })
}

/// Renames a mean over blocks to a mean over runs: runs were passed in as if they were blocks.
fn over_runs(mean: Estimate, runs: usize) -> Estimate {
    let bounds = match mean.bounds {
        Bounds::Unknown { .. } if runs < FEWEST_BLOCKS => {
            Bounds::Unknown { why: Missing::TooFewRuns { runs, needed: FEWEST_BLOCKS } }
        }
        other => other,
    };
    let method = match mean.method {
        EstimateMethod::GeometricMeanOverBlocks => EstimateMethod::GeometricMeanOverRuns,
        _ => EstimateMethod::MeanOverRuns,
    };
    Estimate { bounds, method, point: mean.point }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many_runs::brief;
    use crate::measures::throughput::THROUGHPUT;
    use crate::summary::analyse;
    use record::facts::Fact;
    use record::run::Run;
    use record::synthetic;

    /// The synthetic run as if carried out on this day of November, with this many transactions for each usual hundred.
    fn on_day(day: u32, per_hundred: u64) -> Run {
        let mut run = synthetic::run(3);
        run.dir = format!("runs/202611{day:02}T020000Z-nightly").into();
        for trial in &mut run.trials {
            trial.record.started = format!("2026-11-{day:02}T02:00:0{}Z", trial.record.id % 10);
            let kind = &mut trial.record.driver.as_mut().unwrap().kinds[0];
            kind.committed = kind.committed * per_hundred / 100;
        }
        run
    }

    fn briefs(runs: &[Run]) -> Vec<Brief> {
        runs.iter().map(|run| brief(run, &analyse(run))).collect()
    }

    fn wanted(measure: &str) -> TrendQuery<'_> {
        TrendQuery { measure, ..TrendQuery::default() }
    }

    #[test]
    fn runs_stand_in_the_order_of_time_with_the_figures_of_each() {
        let runs = [on_day(3, 100), on_day(1, 110), on_day(2, 90)];
        let trend = trend(&briefs(&runs), wanted(THROUGHPUT)).unwrap();
        let [course] = &trend.courses[..] else { panic!("{:?}", trend.courses) };
        let days: Vec<&str> = course.runs.iter().map(|stop| &stop.run[6..8]).collect();
        assert_eq!(days, ["01", "02", "03"]);
        let [native, kvm] = &course.series[..] else { panic!("{:?}", course.series) };
        assert_eq!((native.baseline.as_deref(), kvm.baseline.as_deref()), (None, Some("native")));
        assert!(native.contrasts.iter().all(Option::is_none) && native.mean_contrast.is_none());
        for (place, run) in [(0, &runs[1]), (1, &runs[2]), (2, &runs[0])] {
            let analysis = analyse(run);
            assert_eq!(Some(&kvm.levels[place].as_ref().unwrap().estimate), analysis.cells[1].throughput());
            let own = analysis.comparisons[0].throughput().unwrap();
            assert_eq!(kvm.contrasts[place].as_ref().unwrap().estimate, own.estimate);
        }
        let points: Vec<f64> = native.levels.iter().flatten().map(|level| level.estimate.point).collect();
        let mean = native.mean.as_ref().unwrap();
        assert_eq!(Some(mean.bounds.known()), student::geometric_mean(&points).map(|mean| mean.bounds.known()));
        assert_eq!(mean.method, EstimateMethod::GeometricMeanOverRuns);
    }

    #[test]
    fn two_runs_have_a_mean_and_no_interval() {
        let trend = trend(&briefs(&[on_day(1, 100), on_day(2, 100)]), wanted(THROUGHPUT)).unwrap();
        let mean = trend.courses[0].series[0].mean.clone().unwrap();
        assert_eq!(mean.bounds, Bounds::Unknown { why: Missing::TooFewRuns { runs: 2, needed: 3 } });
    }

    #[test]
    fn a_unit_that_not_all_share_is_left_out() {
        let mut briefs = briefs(&[on_day(1, 100), on_day(2, 100)]);
        let shared = trend(&briefs, wanted(THROUGHPUT)).unwrap().measure.unit;
        assert!(matches!(&shared, Unit::Own(unit) if !unit.is_empty()), "{shared:?}");
        let throughputs = briefs[0].cells[0].levels.iter_mut().filter(|level| level.measure.id == THROUGHPUT);
        throughputs
            .for_each(|level| level.measure.unit = Unit::Own("orders/min, of the slowest of 2 machines".to_owned()));
        assert_eq!(trend(&briefs, wanted(THROUGHPUT)).unwrap().measure.unit, Unit::Own(String::new()));
    }

    #[test]
    fn other_studies_and_hosts_stand_apart_and_names_and_blocks_do_not() {
        let mut runs: Vec<Run> = (1..=5).map(|day| on_day(day, 100)).collect();
        runs[1].plan.study = "renamed".to_owned();
        runs[1].plan.blocks += 1;
        runs[1].plan.margin = Some(0.02);
        runs[1].plan.cells.reverse();
        runs[2].plan.seed += 1;
        runs[3].host.insert("memory.swappiness".to_owned(), Fact::known("1"));
        runs[4].host.insert("memory.swappiness".to_owned(), Fact::known("2"));
        runs[4].host.insert("system.uptime_s".to_owned(), Fact::known("7"));
        let trend = trend(&briefs(&runs), wanted(THROUGHPUT)).unwrap();
        let days = |course: &Course| course.runs.iter().map(|stop| stop.run[6..8].to_owned()).collect::<Vec<_>>();
        // A host does not differ in a fact that it does not know.
        assert_eq!(
            trend.courses.iter().map(days).collect::<Vec<_>>(),
            [vec!["01", "02", "04"], vec!["03"], vec!["05"]]
        );
        assert_eq!(trend.courses[0].study, ["quickstart", "renamed"]);
        assert_eq!(trend.courses[1].apart, Some(CourseBreak::Study));
        let [old, new] = ["1", "2"].map(|value| Some(value.to_owned()));
        let changes = vec![ValueChange { name: "memory.swappiness".to_owned(), old, new }];
        assert_eq!(trend.courses[2].apart, Some(CourseBreak::Host { changes }));
    }

    #[test]
    fn any_key_of_a_cell_makes_another_study() {
        let plan = synthetic::run(3).plan;
        let mut other = plan.clone();
        other.cells[1].settings.set("new.key", serde_json::json!(1)).unwrap();
        assert_ne!(super::super::study_id(&plan), super::super::study_id(&other));
        let mut same = plan.clone();
        same.blocks += 1;
        same.margin = Some(0.02);
        assert_eq!(super::super::study_id(&plan), super::super::study_id(&same));
    }

    #[test]
    fn what_a_reader_must_know_of_a_run_stands_beside_it() {
        let mut runs: Vec<Run> = (1..=3).map(|day| on_day(day, 100)).collect();
        runs[1].trials.truncate(4);
        runs[2].trials[0].record.server.as_mut().unwrap().version = "16.0".to_owned();
        let (mut rehearsed, mut troubled) = (on_day(4, 100), synthetic::troubled());
        rehearsed.plan.rehearsed = true;
        troubled.dir = "troubled".into();
        let trend = trend(&briefs(&[&runs[..], &[rehearsed, troubled]].concat()), wanted(THROUGHPUT)).unwrap();
        let notes: Vec<&RunNote> = trend.courses[0].runs.iter().flat_map(|stop| &stop.notes).collect();
        let changed = |note: &RunNote| match note {
            RunNote::Changed(ValueChange { name, new: Some(new), .. }) => name == "server" && new.contains("16.0"),
            _ => false,
        };
        assert!(notes.contains(&&RunNote::Unfinished { valid: 4, planned: 6 }), "{notes:?}");
        assert!(notes.contains(&&RunNote::WrongData { contender: "kvm".to_owned() }), "{notes:?}");
        assert!(notes.iter().any(|note| changed(note)), "{notes:?}");
        assert_eq!(trend.left_out.len(), 1);
        assert!(trend.left_out[0].run.starts_with("20261104"), "{:?}", trend.left_out);
    }

    #[test]
    fn names_that_no_run_has_are_answered_with_those_they_have() {
        let runs = briefs(&[on_day(1, 100)]);
        let known = |wanted| match trend(&runs, wanted).unwrap_err() {
            UnknownError::Study { known, .. } | UnknownError::Cell { known } | UnknownError::Measure { known, .. } => {
                known
            }
            UnknownError::Runs => Vec::new(),
        };
        assert!(known(wanted("thruput")).contains(&THROUGHPUT.to_owned()));
        assert_eq!(known(TrendQuery { study: Some("x"), ..wanted(THROUGHPUT) }), ["quickstart"]);
        let cells = ["kvm (cell 1)", "native (cell 0)"];
        assert_eq!(known(TrendQuery { contender: Some("x"), ..wanted(THROUGHPUT) }), cells);
        assert_eq!(known(TrendQuery { cell: Some(7), ..wanted(THROUGHPUT) }), cells);
        assert_eq!(trend(&[], wanted(THROUGHPUT)), Err(UnknownError::Runs));
        let one = trend(&runs, TrendQuery { contender: Some("kvm"), ..wanted(THROUGHPUT) }).unwrap();
        assert_eq!(one.courses[0].series.len(), 1);
    }
}
