//! XML that is written: elements as data, and their text. Pure.

use std::fmt::Write as _;

const INDENT: &str = "  ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: Option<String>,
    children: Vec<Element>,
}

/// An element with nothing in it yet.
pub fn element(name: &'static str) -> Element {
    Element { name, attributes: Vec::new(), text: None, children: Vec::new() }
}

/// An element with a text in it.
#[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given as they are")]
pub fn text(name: &'static str, text: impl ToString) -> Element {
    Element { text: Some(text.to_string()), ..element(name) }
}

impl Element {
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given as they are")]
    pub fn with(mut self, attribute: &'static str, value: impl ToString) -> Self {
        self.attributes.push((attribute, value.to_string()));
        self
    }

    /// Adds the attribute if there is a value.
    #[must_use]
    pub fn with_some(self, attribute: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(attribute, value),
            None => self,
        }
    }

    #[must_use]
    pub fn add(mut self, child: Element) -> Self {
        self.children.push(child);
        self
    }

    #[must_use]
    pub fn add_all(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.text.is_none() && self.children.is_empty()
    }

    pub fn written(&self) -> String {
        let mut written = String::new();
        self.write(&mut written, 0);
        written
    }

    fn write(&self, written: &mut String, depth: usize) {
        let (indent, name) = (INDENT.repeat(depth), self.name);
        let _ = write!(written, "{indent}<{name}");
        for (attribute, value) in &self.attributes {
            let _ = write!(written, " {attribute}='{}'", escaped(value));
        }
        match (&self.text, self.children.as_slice()) {
            (None, []) => written.push_str("/>\n"),
            (Some(text), _) => {
                let _ = writeln!(written, ">{}</{name}>", escaped(text));
            }
            (None, children) => {
                written.push_str(">\n");
                for child in children {
                    child.write(written, depth + 1);
                }
                let _ = writeln!(written, "{indent}</{name}>");
            }
        }
    }
}

/// Characters that XML cannot hold at all are left out; libvirt then misses the file and names it.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\'' => escaped.push_str("&apos;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_in_xml_is_escaped() {
        let file = element("source").with("file", "/a'b<c>&\"d\n\u{1}").with_some("index", None::<u32>);
        let disk = element("disk").add(file).add(text("serial", "x<y"));
        let written =
            "<disk>\n  <source file='/a&apos;b&lt;c&gt;&amp;&quot;d&#10;'/>\n  <serial>x&lt;y</serial>\n</disk>\n";
        assert_eq!(disk.written(), written);
        assert!(element("x").is_empty() && !disk.is_empty());
    }
}
