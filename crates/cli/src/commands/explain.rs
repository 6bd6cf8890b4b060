//! `bakeoff explain`: what the code of a finding means, and what to do about it.

use crate::arguments::ExplainOptions;
use crate::display::print;
use crate::exit::{EndedWith, Exit};
use analysis::findings::{CODES, Code, FindingKind, Severity, code, names};
use anyhow::Result;
use settings::nearest;

pub fn explain(options: &ExplainOptions) -> Result<Exit> {
    let Some(name) = &options.code else {
        let lines = CODES.iter().map(|code| format!("{:<20} {}\n", code.name, code.meaning));
        print(&lines.collect::<String>());
        return Ok(Exit::Done);
    };
    print(&text(known(name)?));
    Ok(Exit::Done)
}

/// The code of this name or with a kind of this name; also in brackets, as the report writes it.
pub fn known(name: &str) -> Result<&'static Code> {
    let name = name.trim_matches(['[', ']']);
    code(name).ok_or_else(|| {
        let near = nearest(name, names().map(|(name, _)| name));
        let near = near.map_or_else(|| ";".to_owned(), |word| format!("; did you mean {word}?"));
        EndedWith::bad_input(format!("there is no code {name:?}{near} `bakeoff explain` lists all codes")).into()
    })
}

fn text(code: &Code) -> String {
    let kinds: String = code.kinds.iter().map(|kind| of_kind(code, kind)).collect();
    let accept = if code.acceptable {
        let of_all = if code.kinds.len() > 1 { ", all kinds or one by its name" } else { "" };
        format!("To accept it in a study{of_all}:\n\n    [accept]\n    {} = \"the reason\"\n", code.name)
    } else {
        "A study cannot accept it.\n".to_owned()
    };
    format!("{}\n\n{}\nLimit: {}.\n\n{kinds}\n{accept}", code.name, code.meaning, code.limit)
}

/// "halves-unlike (caution). What to do: Measure longer."
fn of_kind(code: &Code, kind: &FindingKind) -> String {
    let severity = match kind.severity {
        Severity::Serious => "warning",
        Severity::Caution => "caution",
    };
    let name = if code.kinds.len() > 1 { format!("{} ({severity}). ", kind.name) } else { String::new() };
    format!("{name}What to do: {}\n", kind.remedy)
}
