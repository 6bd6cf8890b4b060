//! How a measure went over runs: as text with a character plot, as a document, and as CSV.

use crate::csv::{self, CsvLines};
use crate::document::{Block, Document};
use crate::figures::trend::panel;
use crate::figures::{self, Figure, Point, scale};
use crate::findings::of_runs;
use crate::format::{counted, filled, grouped_by};
use crate::many_runs::{host, moment};
use crate::measures::{self, label, style};
use crate::missing;
use crate::table::{Table, TableCell, TableOf, id};
use crate::terminal::page;
use analysis::contrast::{self, Contrast};
use analysis::estimate::Estimate;
use analysis::many_runs::BriefLevel;
use analysis::many_runs::trend::{CellSeries, Course, CourseBreak, RunNote, Stop, Trend};
use analysis::measures::{Measure, Scale, Unit};
use record::text::visible;
use std::fmt::Write as _;

/// Characters between the ends of the plot's axis.
const PLOT: usize = 60;

/// The first line of the CSV.
const HEADINGS: &str =
    "study,study_id,host,run,started,contender,coordinates,measure,against,value,unit,low,high,why_no_interval";

const NOTE: &str = "Each run has the 95 % confidence interval that its own blocks give. The mean over runs counts each run once, and its 95 % \
                    interval is of what varied between runs (Student's t); where a course rises or falls it is no level to which \
                    runs return. At least three runs are needed for it.";

pub fn document(trend: &Trend) -> Document {
    let drawn = |course: &Course, group: &[&CellSeries]| figure(&trend.measure, course, group).map(Block::Figure);
    Document::new(format!("{} over runs", title(&trend.measure)), blocks(trend, drawn))
}

/// Plain text without colours; it ends with a line break. It has a character plot instead of figures.
pub fn text(trend: &Trend) -> String {
    let drawn = |course: &Course, group: &[&CellSeries]| {
        Some(Block::Code { title: String::new(), text: plot(&trend.measure, course, group) })
    };
    format!("{} over runs\n{}", visible(&title(&trend.measure)), page(&blocks(trend, drawn)))
}

fn blocks(trend: &Trend, drawn: impl Fn(&Course, &[&CellSeries]) -> Option<Block>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for course in &trend.courses {
        blocks.push(Block::Heading { level: 2, text: heading(course) });
        blocks.extend(course.apart.as_ref().map(|why| Block::Paragraph(apart(why))));
        for group in groups(course) {
            blocks.extend(table(&trend.measure, course, &group).map(Block::Table));
            blocks.extend(drawn(course, &group));
        }
        blocks.extend(Block::list(course.runs.iter().flat_map(notes)));
    }
    blocks.extend(Block::list(left_out(trend)));
    blocks.push(Block::Note(NOTE.to_owned()));
    blocks
}

/// A line for each run and contender, and one more for each ratio or difference to the baseline.
pub fn csv(trend: &Trend) -> ::csv::Result<Vec<u8>> {
    let mut out = CsvLines::default();
    out.add(HEADINGS.split(','))?;
    let id = trend.measure.id.as_str();
    let unit = &csv::unit(&trend.measure);
    for course in &trend.courses {
        let (study, host) = (course.study.join(" | "), host(&course.host));
        for series in &course.series {
            let mut write = |stop: &Stop, against: &str, unit: &str, found: &Estimate| {
                let (low, high) = found.bounds.known().unzip();
                let (low, high, why) =
                    (csv::text(low), csv::text(high), csv::text(missing::of_interval(&found.bounds)));
                let Stop { run, started, .. } = stop;
                let own = [&study, &course.study_id, &host, run, started.as_deref().unwrap_or_default()];
                let of = [series.contender.as_str(), &series.coordinates, id, against];
                out.add(own.into_iter().chain(of).chain([found.point.to_string().as_str(), unit, &low, &high, &why]))
            };
            for ((stop, level), contrast) in course.runs.iter().zip(&series.levels).zip(&series.contrasts) {
                if let Some(level) = level {
                    write(stop, "", unit, &level.estimate)?;
                }
                if let Some(contrast) = contrast {
                    let unit = if contrast.scale == Scale::Ratio { "" } else { unit };
                    write(stop, series.baseline.as_deref().unwrap_or_default(), unit, &contrast.estimate)?;
                }
            }
        }
    }
    out.finish()
}

fn heading(course: &Course) -> String {
    let runs = counted(course.runs.len() as u64, "run");
    format!("{} ({}) on {}: {runs}", course.study.join(", "), course.study_id, host(&course.host))
}

fn notes(stop: &Stop) -> Vec<String> {
    let note = |note: &RunNote| match note {
        RunNote::Unfinished { valid, planned } => format!("unfinished: {valid} of {planned} trials count"),
        RunNote::WrongData { contender } => format!("WRONG DATA of {contender}"),
        RunNote::NotUsable { contender } => {
            format!("NOT USABLE: the answer about {contender}. Read bakeoff report {}", stop.run)
        }
        RunNote::Changed(changed) => of_runs::change(changed),
    };
    stop.notes.iter().map(|one| format!("{}: {}", stop.run, note(one))).collect()
}

fn apart(apart: &CourseBreak) -> String {
    match apart {
        CourseBreak::Host { changes } => format!("another host: {}", of_runs::some(changes, of_runs::change)),
        CourseBreak::Study => {
            "another study of this name: its seed, its cells or their settings are not the same".to_owned()
        }
    }
}

fn left_out(trend: &Trend) -> Vec<String> {
    trend.left_out.iter().map(|one| format!("left out: {}, because {}", one.run, missing::why(&one.why))).collect()
}

/// Contenders under the same scenario and swept values; their order in a group decides their look.
fn groups(course: &Course) -> Vec<Vec<&CellSeries>> {
    grouped_by(&course.series, |series| &series.coordinates)
}

fn compared<'a>(group: &[&'a CellSeries]) -> Vec<(usize, &'a CellSeries)> {
    let all = group.iter().copied().enumerate();
    all.filter(|(_, series)| series.contrasts.iter().any(Option::is_some)).collect()
}

fn table(measure: &Measure, course: &Course, group: &[&CellSeries]) -> Option<Table> {
    // A mean of two runs adds nothing.
    let has_mean = group.iter().any(|series| series.mean.as_ref().is_some_and(|mean| mean.bounds.known().is_some()));
    let runs = course.runs.iter().enumerate().map(Some);
    // `None` is for the mean.
    let rows: Vec<Option<(usize, &Stop)>> = runs.chain(has_mean.then_some(None)).collect();
    let started = |stop: &Stop| moment(stop.started.as_deref());
    let table = TableOf::new(&rows)
        .text("run", |row| TableCell::text(row.map_or("mean over runs", |(_, stop)| &stop.run)))
        .text("started, UTC", |row| TableCell::text(row.map(|(_, stop)| started(stop)).unwrap_or_default()));
    let level = |series: &CellSeries, row: Option<(usize, &Stop)>| {
        let level = |place: usize| series.levels[place].as_ref().map(|level| &level.estimate);
        let found = row.map_or(series.mean.as_ref(), |(place, _)| level(place));
        TableCell::estimate(found, style(&measure.unit), "no valid trial of this run has it")
    };
    let against = |series: &CellSeries| {
        format!("{} against {}", series.contender, series.baseline.as_deref().unwrap_or_default())
    };
    let contrast = |series: &CellSeries, row: Option<(usize, &Stop)>| {
        let found = row.map_or(series.mean_contrast.as_ref(), |(place, _)| series.contrasts[place].as_ref());
        measures::contrast(measure, found)
    };
    let place = &group[0].coordinates;
    table
        .numbers(group, |series| series.contender.clone(), |series, row| level(series, *row))
        .numbers(compared(group), |(_, series)| against(series), |(_, series), row| contrast(series, *row))
        .table(place_of("trend", course, place), filled([&title(measure), place], ", "))
}

/// Courses of one study on several hosts are distinguished by their first run.
fn place_of(what: &str, course: &Course, coordinates: &str) -> String {
    let first = course.runs.first().map(|stop| stop.run.as_str()).unwrap_or_default();
    id(what, &format!("{first} {coordinates}"))
}

/// The label with the workload's own unit, which it leaves out.
fn title(measure: &Measure) -> String {
    let unit = if let Unit::Own(unit) = &measure.unit { unit.as_str() } else { "" };
    filled([label(measure).as_str(), unit], ", ")
}

fn figure(measure: &Measure, course: &Course, group: &[&CellSeries]) -> Option<Figure> {
    let shown = style(&measure.unit);
    let drawn = |series: &CellSeries, points| figures::DrawnSeries { name: series.contender.clone(), points };
    let lines = group.iter().enumerate().map(|(index, series)| {
        let levels = series.levels.iter().map(|level| level.as_ref().map(|level| &level.estimate));
        (index, drawn(series, points(levels, shown.scale)))
    });
    let runs = course.runs.len();
    let levels = panel("Each contender", &title(measure), runs, &lines.collect::<Vec<_>>(), None);
    let against = compared(group);
    // Ratios and differences share no axis; the newest run decides which are drawn.
    let newest =
        |(_, series): &(usize, &CellSeries)| series.contrasts.iter().rev().flatten().next().map(|one| one.scale);
    let scale = against.iter().find_map(newest);
    let fitting = |one: &&Contrast| Some(one.scale) == scale;
    let is_ratio = scale == Some(Scale::Ratio);
    let (unit, factor): (_, fn(f64) -> f64) = if is_ratio {
        ("of the baseline's".to_owned(), |ratio| ratio)
    } else {
        (format!("{}, more", title(measure)), shown.scale)
    };
    let lines = against.iter().map(|(index, series)| {
        let contrasts = series.contrasts.iter().map(|one| one.as_ref().filter(fitting).map(|one| &one.estimate));
        (*index, drawn(series, points(contrasts, factor)))
    });
    let head = "Relative to the baseline of each run";
    let contrasts = panel(head, &unit, runs, &lines.collect::<Vec<_>>(), scale.map(contrast::neutral));
    let description = "Each point is a run, its bar the 95 % confidence interval of its own blocks. Runs stand at equal distances, the oldest to \
                       the left.";
    let panels = levels.into_iter().chain(contrasts).collect();
    Figure::of(place_of("course", course, &group[0].coordinates), "Course", description, panels)
}

/// A point for each run that has a value.
fn points<'a>(found: impl Iterator<Item = Option<&'a Estimate>>, scale: fn(f64) -> f64) -> Vec<Point> {
    let of_run = |(number, one): (u32, Option<&Estimate>)| {
        let Point { x, y, low, high } = Point::of(Some(number.into()), one?);
        Some(Point { x, y: scale(y), low: low.map(scale), high: high.map(scale) })
    };
    (1..).zip(found).filter_map(of_run).collect()
}

/// A line for each run and contender, all on one axis.
fn plot(measure: &Measure, course: &Course, group: &[&CellSeries]) -> String {
    let found = group.iter().flat_map(|series| series.levels.iter().flatten()).map(|level| &level.estimate);
    let ends = |one: &Estimate| <[f64; 2]>::from(one.bounds.known().unwrap_or((one.point, one.point)));
    let all = found.flat_map(|one| [one.point].into_iter().chain(ends(one)));
    let Some((low, high)) = scale::ends(all) else { return String::new() };
    let column = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A share of 0 to 1 of a few columns.
        let column = (share.clamp(0.0, 1.0) * (PLOT - 1) as f64).round() as usize;
        column
    };
    let mut text = String::new();
    for series in group {
        let _ = writeln!(text, "{}", visible(&series.contender));
        for (stop, level) in course.runs.iter().zip(&series.levels) {
            let drawn = |level: &BriefLevel| bar(column(level.estimate.point), ends(&level.estimate).map(column));
            let (when, drawn) = (moment(stop.started.as_deref()), level.as_ref().map(drawn).unwrap_or_default());
            let _ = writeln!(text, "  {}", format!("{when:<16}  {drawn}").trim_end());
        }
    }
    let [low, high] = [low, high].map(|end| measures::number(&measure.unit, end));
    let between = PLOT.saturating_sub(low.chars().count() + high.chars().count());
    let _ = writeln!(text, "  {:<16}  {low}{}{high}", "", " ".repeat(between));
    text
}

fn bar(point: usize, [low, high]: [usize; 2]) -> String {
    let mark = |column: usize| match column {
        _ if column == point => '●',
        _ if column == low => '├',
        _ if column == high => '┤',
        _ if (low..high).contains(&column) => '─',
        _ => ' ',
    };
    (0..=high.max(point)).map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn an_interval_lies_around_its_point() {
        assert_eq!(bar(5, [2, 8]), "  ├──●──┤");
        assert_eq!(bar(4, [4, 4]), "    ●");
        assert_eq!(bar(0, [0, 2]), "●─┤");
    }
}
