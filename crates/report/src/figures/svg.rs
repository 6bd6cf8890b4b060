//! SVG elements as text. Looks come from classes of the page's style sheet, never from attributes.

use record::text::visible_lines;
use std::fmt::Write as _;

/// A drawing in progress.
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
    }

    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#));
    }

    /// Below everything drawn so far.
    pub fn rectangle_below(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let rectangle =
            format!(r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#);
        self.body.insert_str(0, &rectangle);
    }

    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.add(format_args!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#));
    }

    /// A line through all points, with its name and the values behind them.
    pub fn path(&mut self, class: &str, name: &str, points: &[(f64, f64)], values: &[(f64, f64)]) {
        let list = |points: &[(f64, f64)], shown: fn(f64) -> String| {
            let points = points.iter().map(|(x, y)| format!("{},{}", shown(*x), shown(*y)));
            points.collect::<Vec<_>>().join(" ")
        };
        let (points, values) = (list(points, |place| format!("{place:.1}")), list(values, rounded));
        let name = escaped(name);
        self.add(format_args!(
            r#"<polyline class="{class}" data-name="{name}" data-values="{values}" points="{points}"/>"#
        ));
    }

    /// A text that starts at a point, ends there, or has it in the middle.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = escaped(text);
        self.add(format_args!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#));
    }

    /// The finished drawing, with a description for those who cannot see it.
    pub fn finish(self, title: &str, description: &str) -> String {
        let (width, height, body) = (self.width, self.height, self.body);
        let (title, description) = (escaped(title), escaped(description));
        format!(
            r#"<svg viewBox="0 0 {width:.0} {height:.0}" role="img" xmlns="http://www.w3.org/2000/svg"><title>{title}</title><desc>{description}</desc>{body}</svg>"#
        )
    }
}

/// Rounded to the digits that a pointer can show.
fn rounded(value: f64) -> String {
    format!("{value:.4e}").parse::<f64>().unwrap_or(value).to_string()
}

/// Text that is safe inside elements and attributes of HTML and SVG.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in visible_lines(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_written_by_others_becomes_markup() {
        assert_eq!(escaped(r#"<b a="1">&'"#), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
        assert_eq!(escaped("a\x1b[2J\nb\u{202e}"), "a\\x1b[2J\nb\\u{202e}");
    }
}
