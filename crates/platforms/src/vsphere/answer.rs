//! The text of an answer as a tree, or the fault that it reports. Pure; sizes are bounded.

use super::fault::VsphereFault;
use super::node::{Node, shown};
use super::request::Reference;
use std::collections::BTreeMap;

/// More elements than any answer that we ask for has.
const MOST_NODES: u32 = 2_000_000;
/// Answers are nested a dozen deep.
const DEEPEST: usize = 64;

/// Why a text is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("{0}")]
    Fault(VsphereFault),
    #[error("it is not of the documented form: {0}")]
    Form(String),
}

/// The answer to a call.
pub fn parse(text: &str) -> Result<Node, AnswerError> {
    let form = |why: String| AnswerError::Form(shown(&why));
    let options = roxmltree::ParsingOptions { nodes_limit: MOST_NODES, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| form(error.to_string()))?;
    let elements = |node: roxmltree::Node<'_, '_>, name: &str| {
        node.children().find(|child| child.is_element() && child.tag_name().name() == name).map(|node| node.id())
    };
    let envelope = document.root_element();
    let body = elements(envelope, "Body").and_then(|id| document.get_node(id));
    let first = body.and_then(|body| body.first_element_child());
    let first = first.ok_or_else(|| form(format!("a text of {} bytes has no body", text.len())))?;
    let node = converted(first, DEEPEST).map_err(form)?;
    match ended_session(&node) {
        _ if node.name == "Fault" => Err(AnswerError::Fault(VsphereFault::of_answer(&node))),
        Some(fault) => Err(AnswerError::Fault(fault)),
        None => Ok(node),
    }
}

/// A list of properties may say that the session has ended in the place of each property.
fn ended_session(answer: &Node) -> Option<VsphereFault> {
    let objects = answer.child("returnval")?.all("objects");
    let faults = objects.flat_map(|object| object.all("missingSet")).filter_map(|missing| missing.child("fault"));
    faults.map(VsphereFault::of_task).find(|fault| fault.is("NotAuthenticated"))
}

/// Fails if elements are nested deeper than any answer's: this recurses into them, which the parser does not.
fn converted(element: roxmltree::Node<'_, '_>, levels: usize) -> Result<Node, String> {
    let below = levels.checked_sub(1).ok_or_else(|| format!("its elements are nested deeper than {DEEPEST}"))?;
    let attribute = |of_type: fn(Option<&str>) -> bool| {
        let found = element.attributes().find(|found| found.name() == "type" && of_type(found.namespace()));
        found.map(|found| found.value().rsplit(':').next().unwrap_or_default().to_owned())
    };
    let children = element.children().filter(roxmltree::Node::is_element);
    let children = children.map(|child| converted(child, below)).collect::<Result<Vec<Node>, String>>()?;
    let text = if children.is_empty() { element.text().unwrap_or_default().to_owned() } else { String::new() };
    Ok(Node {
        name: element.tag_name().name().to_owned(),
        kind: attribute(|namespace| namespace.is_some_and(|name| name.ends_with("XMLSchema-instance"))),
        refers_to: attribute(|namespace| namespace.is_none()),
        text,
        children,
    })
}

/// An object with those of its properties that were asked for and that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    pub reference: Reference,
    pub properties: BTreeMap<String, Node>,
    /// Why a property that was asked for is not among them, such as a missing right. One that is only unset has no reason.
    pub missing: Option<VsphereFault>,
}

impl Object {
    pub fn get(&self, property: &str) -> Option<&Node> {
        self.properties.get(property)
    }

    pub fn text(&self, property: &str) -> Option<&str> {
        self.get(property).map(|node| node.text.as_str())
    }

    /// Names of the inventory write three characters as a percent sign and digits.
    pub fn name(&self) -> String {
        let name = self.text("name").unwrap_or_default();
        name.replace("%2f", "/").replace("%2F", "/").replace("%5c", "\\").replace("%5C", "\\").replace("%25", "%")
    }

    pub fn reference(&self, property: &str) -> Option<Reference> {
        self.get(property)?.reference()
    }
}

/// One page of objects, and the token that asks for the next.
pub fn objects(answer: &Node) -> (Vec<Object>, Option<String>) {
    let Some(page) = answer.child("returnval") else { return (Vec::new(), None) };
    let object = |node: &Node| {
        let reference = node.reference_at("obj")?;
        let properties =
            node.all("propSet").filter_map(|set| Some((set.text_at("name")?.to_owned(), set.child("val")?.clone())));
        let missing = node.all("missingSet").find_map(|missing| missing.child("fault")).map(VsphereFault::of_task);
        Some(Object { reference, properties: properties.collect(), missing })
    };
    (page.all("objects").filter_map(object).collect(), page.text_at("token").map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::super::node::SHOWN;
    use super::*;

    fn envelope(body: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\" \
             xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><e:Body>{body}</e:Body></e:Envelope>"
        )
    }

    const PAGE: &str = "<RetrievePropertiesExResponse xmlns=\"urn:vim25\"><returnval><token>1</token>\
        <objects><obj type=\"VirtualMachine\">vm-1</obj>\
        <propSet><name>name</name><val xsi:type=\"xsd:string\">a%2fb</val></propSet>\
        <propSet><name>parent</name><val type=\"Folder\" xsi:type=\"ManagedObjectReference\">group-3</val></propSet>\
        </objects></returnval></RetrievePropertiesExResponse>";

    #[test]
    fn objects_have_the_properties_that_they_were_asked_for() {
        let (found, token) = objects(&parse(&envelope(PAGE)).unwrap());
        assert_eq!(token.as_deref(), Some("1"));
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!(one.reference, Reference::new("VirtualMachine", "vm-1"));
        assert_eq!(one.name(), "a/b");
        assert_eq!(one.reference("parent"), Some(Reference::new("Folder", "group-3")));
        assert_eq!(one.get("config"), None);
    }

    #[test]
    fn a_fault_is_an_error() {
        let text = envelope(
            "<e:Fault><faultcode>ServerFaultCode</faultcode><faultstring>Login failure</faultstring>\
             <detail><InvalidLoginFault xmlns=\"urn:vim25\" xsi:type=\"InvalidLogin\"/></detail></e:Fault>",
        );
        let AnswerError::Fault(fault) = parse(&text).unwrap_err() else { panic!() };
        assert_eq!(fault.to_string(), "the user or the password is wrong (InvalidLogin: Login failure)");
    }

    #[test]
    fn an_ended_session_is_a_fault_also_in_a_list_of_properties() {
        let missing = |fault: &str| {
            let fault = format!("<fault><fault xsi:type=\"{fault}\"/><localizedMessage>no</localizedMessage></fault>");
            envelope(&format!(
                "<R><returnval><objects><obj type=\"VirtualMachine\">vm-1</obj><missingSet><path>config</path>{fault}</missingSet>\
                 </objects></returnval></R>"
            ))
        };
        let AnswerError::Fault(fault) = parse(&missing("NotAuthenticated")).unwrap_err() else { panic!() };
        assert!(fault.is("NotAuthenticated"), "{fault}");
        let (found, _) = objects(&parse(&missing("NoPermission")).unwrap());
        assert!(
            found[0].get("config").is_none() && found[0].missing.as_ref().is_some_and(|fault| fault.is("NoPermission"))
        );
    }

    #[test]
    fn what_is_no_answer_is_refused_and_shown_in_part() {
        let deep = envelope(&format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000)));
        let entity = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><x>&b;</x>";
        let texts =
            ["", "<html>Service Unavailable</html>", "<e:Envelope>", "<a", entity, &deep, "\u{0}\u{1}", &envelope("")];
        for text in texts {
            let AnswerError::Form(why) = parse(text).unwrap_err() else { panic!("{text}") };
            assert!(!why.is_empty() && why.chars().count() <= SHOWN, "{why}");
        }
    }

    #[test]
    fn any_cut_of_an_answer_is_an_error_and_does_no_harm() {
        let whole = envelope(PAGE);
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn an_answer_without_what_is_expected_is_empty() {
        let answer =
            parse(&envelope("<X><returnval><objects/><objects><obj>vm-1</obj></objects></returnval></X>")).unwrap();
        assert_eq!(objects(&answer), (Vec::new(), None));
        assert_eq!(answer.at("returnval.objects.obj.more"), None);
        assert_eq!(objects(&Node::default()), (Vec::new(), None));
    }
}
