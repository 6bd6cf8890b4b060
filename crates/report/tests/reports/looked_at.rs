//! The page in a browser, used as by a reader: headless Chromium at the widths of a phone, a tablet and a desktop.

use crate::real;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The most that a page for two contenders may contain.
const MOST_WORDS: u32 = 1_500;
const MOST_TABLES: u32 = 10;

#[derive(Debug, Deserialize)]
struct Seen {
    /// Words that are not folded.
    words: u32,
    tables: u32,
    /// Problems that were found.
    found: Vec<String>,
}

/// `AXE` may name a file with axe-core, which then checks for violations of WCAG 2 A and AA.
fn look(browser: &str, page: &str, width: u32, dark: bool) -> (Seen, String) {
    let axe = std::env::var_os("AXE").map(|path| std::fs::read_to_string(path).expect("a file")).unwrap_or_default();
    let script = include_str!("looked_at.js");
    let page = page.replace("</body>", &format!("<script>{axe}</script>\n<script>\n{script}</script>\n</body>"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("looked-at-{width}-{dark}.html"));
    std::fs::write(&path, page).expect("room on the disk");
    let profile = folder.join(format!("profile-{width}-{dark}"));
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
    ]);
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("--window-size={width},900"));
    let output = command.arg("--dump-dom").arg(format!("file://{}", path.display())).output().expect("a browser");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let title = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).expect("a title").0;
    let title = title.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let seen = serde_json::from_str(&title).unwrap_or_else(|error| panic!("{error}: {title}"));
    (seen, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
#[ignore = "needs Chromium"]
fn the_page_works_in_a_browser_at_every_width() {
    let browser = BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let browser = browser.expect("Chromium: apt-get install chromium");
    for name in ["postgres", "sqlite"] {
        let (run, analysis) = real::opened(name);
        let page = report::html(&run, &analysis);
        for (width, dark) in [(390, false), (768, false), (1440, false), (1440, true)] {
            let (seen, log) = look(browser, &page, width, dark);
            println!("{name} at {width} px: {} words, {} tables open", seen.words, seen.tables);
            assert_eq!(seen.found, Vec::<String>::new(), "{name} at {width} px");
            assert!(seen.words <= MOST_WORDS && seen.tables <= MOST_TABLES, "{name}: {seen:?}");
            let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
            assert_eq!(console, Vec::<&str>::new(), "{name} at {width} px");
        }
    }
}
