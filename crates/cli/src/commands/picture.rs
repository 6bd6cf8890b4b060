//! A page as a picture, drawn by a browser of this host.

use crate::exit::EndedWith;
use anyhow::{Context, Result};
use record::folder::RunFolder;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The width in CSS pixels.
const WIDTH: u32 = 1_100;
const MOST_HEIGHT: u32 = 6_000;

/// Puts the page's height into its title, so that the browser's output contains it.
const MEASURE: &str = "<script>document.title = document.documentElement.scrollHeight;</script></body>";

/// Writes `summary.png` into the run's folder.
pub fn draw(page: &str, folder: &RunFolder) -> Result<PathBuf> {
    let browser = BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let browser = browser.ok_or_else(|| {
        EndedWith::host("a picture is unavailable, because there is no Chromium here; on Debian: apt-get install chromium, or use --summary html")
    })?;
    let scratch = tempfile::tempdir().context("making a folder for the picture")?;
    let html = scratch.path().join("summary.html");
    std::fs::write(&html, page.replace("</body>", MEASURE)).context("writing the page")?;
    let measured = run(browser, scratch.path(), &html, &["--dump-dom".to_owned()], WIDTH)?;
    let dom = String::from_utf8_lossy(&measured.stdout);
    let height = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")?.0.trim().parse().ok());
    let height: u32 = height.unwrap_or(WIDTH).min(MOST_HEIGHT);
    std::fs::write(&html, page).context("writing the page")?;
    let drawn = scratch.path().join("summary.png");
    run(
        browser,
        scratch.path(),
        &html,
        &[format!("--screenshot={}", drawn.display()), "--hide-scrollbars".to_owned()],
        height,
    )?;
    let picture = std::fs::read(&drawn).with_context(|| EndedWith::host(format!("{browser} drew no picture")))?;
    folder.write("summary.png", &picture).context("writing the picture")
}

fn run(browser: &str, profile: &Path, html: &Path, arguments: &[String], height: u32) -> Result<Output> {
    let mut command = Command::new(browser);
    command.args(["--headless", "--disable-gpu", "--blink-settings=preferredColorScheme=1"]).args(arguments);
    if rustix::process::geteuid().is_root() {
        // Its sandbox does not work for root.
        command.arg("--no-sandbox");
    }
    command.arg(format!("--user-data-dir={}", profile.join("profile").display()));
    command.arg(format!("--window-size={WIDTH},{height}")).arg(format!("file://{}", html.display()));
    command.output().with_context(|| format!("starting {browser}"))
}
