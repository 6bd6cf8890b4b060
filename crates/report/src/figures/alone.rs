//! A figure as one SVG file, readable outside a report: all its panels, with the light colours of the page.

use super::svg::escaped;
use super::{Figure, PAGE, STYLE};
use std::fmt::Write as _;

/// Room around panels.
const GAP: f64 = 16.0;

/// Height of the title.
const HEAD: f64 = 28.0;

const MOST_COLUMNS: usize = 3;

const FONT: &str = r#"svg { font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; overflow: visible; }"#;

pub fn svg(figure: &Figure) -> String {
    let columns = if figure.is_wide() { 1 } else { figure.panels.len().clamp(1, MOST_COLUMNS) };
    let (mut body, mut width, mut top) = (String::new(), 0.0_f64, HEAD + GAP);
    for row in figure.panels.chunks(columns) {
        let mut left = GAP;
        for panel in row {
            let (panel_width, panel_height) = panel.size;
            let inner = panel.svg.strip_prefix("<svg").unwrap_or(&panel.svg);
            // Writing to a string cannot fail.
            let _ = write!(
                body,
                r#"<svg x="{left:.0}" y="{top:.0}" width="{panel_width:.0}" height="{panel_height:.0}"{inner}"#
            );
            left += panel_width + GAP;
        }
        width = width.max(left);
        top += row.iter().map(|panel| panel.size.1).fold(0.0, f64::max) + GAP;
    }
    let [title, description] = [&figure.title, &figure.description].map(|text| escaped(text));
    let style = format!("{FONT}\n{}", light(STYLE));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" viewBox=\"0 0 {width:.0} {top:.0}\" role=\"img\">\n\
         <title>{title}</title>\n<desc>{description}</desc>\n<style>\n{style}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"head\" x=\"{GAP:.0}\" y=\"{HEAD:.0}\">{title}</text>\n{body}\n</svg>\n"
    )
}

/// Replaces the names of colours by the colours themselves, since not every program that shows SVG supports names.
fn light(style: &str) -> String {
    let names = PAGE.split('}').next().unwrap_or_default().split([';', '{', '\n']);
    let colours = names.filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "));
    colours.fold(style.to_owned(), |style, (name, colour)| style.replace(&format!("var(--{name})"), colour))
}
