//! `bakeoff explain`: what the code of a finding means, and what to do about it.

use crate::arguments::ExplainOptions;
use crate::display::print;
use crate::exit::{Ended, Exit};
use analysis::findings::{Code, Severity};
use anyhow::Result;
use report::findings::explained::{self, Explained};
use settings::nearest;

pub fn explain(options: &ExplainOptions) -> Result<Exit> {
    let Some(name) = &options.code else {
        let lines =
            explained::all().map(|(own, code)| format!("{:<22} {:<8} {}\n", code.name, severity(code), own.meaning));
        print(&lines.collect::<String>());
        return Ok(Exit::Done);
    };
    let (own, code) = known(name)?;
    print(&text(own, code));
    Ok(Exit::Done)
}

/// The code of this name; also in brackets, as the report writes it.
pub fn known(name: &str) -> Result<(&'static Explained, &'static Code)> {
    let name = name.trim_matches(['[', ']']);
    explained::of(name).ok_or_else(|| {
        let near = nearest(name, explained::all().map(|(_, code)| code.name));
        let near = near.map_or_else(|| ";".to_owned(), |word| format!("; did you mean {word}?"));
        Ended::bad_input(format!("there is no code {name:?}{near} `bakeoff explain` lists all codes")).into()
    })
}

fn severity(code: &Code) -> &'static str {
    match code.severity {
        Severity::Serious => "warning",
        Severity::Caution => "caution",
    }
}

fn text(own: &Explained, code: &Code) -> String {
    let accept = if code.acceptable {
        format!("To accept it in a study:\n\n    [accept]\n    {} = \"the reason\"\n", code.name)
    } else {
        "A study cannot accept it.\n".to_owned()
    };
    format!("{} ({})\n\n{}\n\nWhat to do: {}\n\n{accept}", code.name, severity(code), own.meaning, own.remedy)
}
