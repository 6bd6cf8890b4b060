//! `bakeoff open`: shows the report of a run.

use crate::arguments::OpenOptions;
use crate::display::{print, say};
use crate::exit::Exit;
use crate::run_name;
use anyhow::{Context, Result};
use std::process::{Command, Stdio};

const PROGRAM: &str = "xdg-open";

pub fn open(options: &OpenOptions) -> Result<Exit> {
    let run = run_name::resolve(&options.run)?;
    let report = run.join("report.html");
    let report = report
        .canonicalize()
        .with_context(|| format!("{} has no report yet; `bakeoff report {}` makes it", run.display(), run.display()))?;
    print(&format!("{}\n", report.display()));
    // Without a desktop, nothing can open the report; its path is all that helps.
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_desktop {
        let opened = Command::new(PROGRAM).arg(&report).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !opened.is_ok_and(|status| status.success()) {
            say(&format!("{PROGRAM} could not show it: open that file in a browser"));
        }
    }
    Ok(Exit::Done)
}
