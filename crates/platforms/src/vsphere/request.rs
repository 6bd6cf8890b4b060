//! The text of a request: elements of XML, and the envelope around them. Pure.

use std::fmt::{Display, Write};

/// An object of the server, by its type and id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    pub kind: String,
    pub id: String,
}

impl Reference {
    pub fn new(kind: &str, id: &str) -> Self {
        Self { kind: kind.to_owned(), id: id.to_owned() }
    }
}

/// Elements one after the other. Their order matters: the server takes them only in that of its definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Xml(String);

impl Xml {
    pub fn new() -> Self {
        Self::default()
    }

    /// An element with a text.
    #[must_use]
    pub fn text(self, name: &str, value: impl Display) -> Self {
        self.element(name, "", &escaped(&value.to_string()))
    }

    /// An element with a text, if there is one.
    #[must_use]
    pub fn text_if<T: Display>(self, name: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// An element with a text of the named type, where the server would take any.
    #[must_use]
    pub fn string(self, name: &str, value: impl Display) -> Self {
        self.element(name, " xsi:type=\"xsd:string\"", &escaped(&value.to_string()))
    }

    #[must_use]
    pub fn reference(self, name: &str, reference: &Reference) -> Self {
        let kind = format!(" type=\"{}\"", escaped(&reference.kind));
        self.element(name, &kind, &escaped(&reference.id))
    }

    #[must_use]
    pub fn reference_if(self, name: &str, reference: Option<&Reference>) -> Self {
        match reference {
            Some(reference) => self.reference(name, reference),
            None => self,
        }
    }

    #[must_use]
    pub fn within(self, name: &str, inner: &Self) -> Self {
        self.element(name, "", &inner.0)
    }

    /// An element of the named type, where the server would take several.
    #[must_use]
    pub fn typed(self, name: &str, kind: &str, inner: &Self) -> Self {
        self.element(name, &format!(" xsi:type=\"{kind}\""), &inner.0)
    }

    #[must_use]
    pub fn and(mut self, more: &Self) -> Self {
        self.0.push_str(&more.0);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn element(mut self, name: &str, attributes: &str, inner: &str) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "<{name}{attributes}>{inner}</{name}>");
        self
    }
}

/// A text that cannot end its element. Characters that XML has no way to write become a space.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A method of the server with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub method: &'static str,
    arguments: Xml,
}

impl Call {
    /// The arguments follow the object whose method it is.
    pub fn of(this: &Reference, method: &'static str, arguments: &Xml) -> Self {
        Self { method, arguments: Xml::new().reference("_this", this).and(arguments) }
    }

    pub fn without_arguments(this: &Reference, method: &'static str) -> Self {
        Self::of(this, method, &Xml::new())
    }

    /// The whole request.
    pub fn envelope(&self) -> String {
        let Self { method, arguments } = self;
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" \
             xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\
             <soapenv:Body><{method} xmlns=\"urn:vim25\">{}</{method}></soapenv:Body></soapenv:Envelope>",
            arguments.0
        )
    }
}

#[cfg(test)]
impl Xml {
    /// One element a line, for snapshots.
    pub fn lines(&self) -> String {
        self.0.replace("><", ">\n<")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_leaves_its_element() {
        let reference = Reference::new("VirtualMachine", "vm-\"1");
        let xml = Xml::new().text("name", "a</name><b attr='&'>\n\u{0}é").reference("vm", &reference);
        insta::assert_snapshot!(xml.lines(), @r#"
        <name>a&lt;/name&gt;&lt;b attr='&amp;'&gt;&#10; é</name>
        <vm type="VirtualMachine">vm-&quot;1</vm>
        "#);
    }

    #[test]
    fn an_envelope_names_the_method_and_its_object() {
        let call = Call::of(&Reference::new("ServiceInstance", "ServiceInstance"), "CurrentTime", &Xml::new());
        insta::assert_snapshot!(call.envelope().replace("><", ">\n<"), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
        <soapenv:Body>
        <CurrentTime xmlns="urn:vim25">
        <_this type="ServiceInstance">ServiceInstance</_this>
        </CurrentTime>
        </soapenv:Body>
        </soapenv:Envelope>
        "#);
    }
}
