//! Faults that the server reports, in plain words. Pure.

use super::node::{Node, shown};
use std::fmt;

/// Why the server did not do something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VsphereFault {
    /// The server's name for it: `InvalidLogin`.
    pub kind: String,
    /// The server's own sentence.
    pub message: String,
    /// What the server adds: the missing privilege, the name that is taken.
    pub details: Vec<(String, String)>,
}

/// Parts of a fault that help the user.
const TELLING: [&str; 8] =
    ["privilegeId", "name", "property", "invalidProperty", "requestedState", "existingState", "reason", "datastore"];

impl VsphereFault {
    /// The fault of an answer.
    pub fn of_answer(fault: &Node) -> Self {
        let detail = fault.child("detail").and_then(|detail| detail.children.first());
        Self::of(detail, fault.text_at("faultstring").unwrap_or_default())
    }

    /// The error of a task.
    pub fn of_task(error: &Node) -> Self {
        Self::of(error.child("fault"), error.text_at("localizedMessage").unwrap_or_default())
    }

    fn of(detail: Option<&Node>, message: &str) -> Self {
        let Some(detail) = detail else { return Self { message: shown(message), ..Self::default() } };
        let kind = detail.kind.clone().unwrap_or_else(|| detail.name.trim_end_matches("Fault").to_owned());
        let details = TELLING.iter().filter_map(|name| {
            let text = detail.text_at(name).filter(|text| !text.is_empty())?;
            Some(((*name).to_owned(), shown(text)))
        });
        let told = detail.all("faultMessage").filter_map(|part| part.text_at("message")).collect::<Vec<_>>().join("; ");
        let message =
            if told.is_empty() || message.contains(&told) { message.to_owned() } else { format!("{message}: {told}") };
        Self { kind: shown(&kind), message: shown(&message), details: details.collect() }
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    fn detail(&self, name: &str) -> Option<&str> {
        self.details.iter().find(|(found, _)| found == name).map(|(_, text)| text.as_str())
    }

    fn words(&self) -> String {
        let of = |name: &str| self.detail(name).map(|text| format!(" ({text})")).unwrap_or_default();
        match self.kind.as_str() {
            "InvalidLogin" => "the user or the password is wrong".to_owned(),
            "NoPermission" => format!("the user lacks a privilege for this{}", of("privilegeId")),
            "NotAuthenticated" => "the session has ended".to_owned(),
            "ManagedObjectNotFound" => "the object does not exist any more".to_owned(),
            "InvalidPowerState" | "InvalidState" => {
                format!("the machine is in a state that does not allow this{}", of("existingState"))
            }
            "DuplicateName" | "AlreadyExists" | "FileAlreadyExists" => format!("the name is taken{}", of("name")),
            "InsufficientCpuResourcesFault" | "InsufficientMemoryResourcesFault" | "InsufficientResourcesFault" => {
                "there is not enough free CPU or memory for it".to_owned()
            }
            "NoDiskSpace" | "InsufficientStorageSpace" => format!("the datastore is full{}", of("datastore")),
            "TaskInProgress" => "another task is at work on it".to_owned(),
            "ToolsUnavailable" => "VMware Tools do not run in it".to_owned(),
            "InvalidArgument" | "InvalidRequest" | "InvalidProperty" | "InvalidVmConfig" | "InvalidDeviceSpec" => {
                let what = self.detail("invalidProperty").or(self.detail("property")).or(self.detail("name"));
                let what = what.map(|what| format!(" ({what})")).unwrap_or_default();
                format!("it does not take this setting{what}")
            }
            "NotSupported" | "MethodNotFound" => "it does not support this".to_owned(),
            "RequestCanceled" => "somebody cancelled it".to_owned(),
            _ => "it refuses".to_owned(),
        }
    }
}

impl fmt::Display for VsphereFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.words())?;
        match (self.kind.as_str(), self.message.as_str()) {
            ("", "") => Ok(()),
            ("", told) | (told, "") => write!(formatter, " ({told})"),
            (kind, message) => write!(formatter, " ({kind}: {message})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, kind: Option<&str>, text: &str, children: Vec<Node>) -> Node {
        Node { name: name.into(), kind: kind.map(str::to_owned), refers_to: None, text: text.into(), children }
    }

    #[test]
    fn a_fault_of_a_task_says_what_is_missing() {
        let fault = node(
            "fault",
            Some("NoPermission"),
            "",
            vec![node("privilegeId", None, "VirtualMachine.Inventory.Create", vec![])],
        );
        let message = node("localizedMessage", None, "Permission to perform this operation was denied.", vec![]);
        let told = VsphereFault::of_task(&node("error", None, "", vec![fault, message])).to_string();
        assert_eq!(
            told,
            "the user lacks a privilege for this (VirtualMachine.Inventory.Create) (NoPermission: Permission to perform this operation \
             was denied.)"
        );
    }

    #[test]
    fn an_unknown_fault_keeps_its_own_words_and_an_empty_one_is_told_all_the_same() {
        let fault = node("NewFault", None, "", vec![]);
        let answer = node(
            "Fault",
            None,
            "",
            vec![node("faultstring", None, "no", vec![]), node("detail", None, "", vec![fault])],
        );
        assert_eq!(VsphereFault::of_answer(&answer).to_string(), "it refuses (New: no)");
        assert_eq!(VsphereFault::of_answer(&Node::default()).to_string(), "it refuses");
    }
}
