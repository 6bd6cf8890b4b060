//! A password on its way to a server.

use serde::{Deserialize, Serialize};
use std::fmt;

/// It is never shown by accident: neither `Debug` nor `Display` prints it. It is serialised in plain text, because the
/// conductor learns from the agent how to reach the server. Nothing else that holds one is ever written down.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(content: impl Into<String>) -> Self {
        Self(content.into())
    }

    /// The content itself, for the one place that proves to a server that we know it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

const HIDDEN: &str = "(hidden)";

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_only_when_asked() {
        let secret = Secret::new("correct horse");
        assert_eq!(format!("{secret} {secret:?} {secret:#?}"), "(hidden) (hidden) (hidden)");
        assert_eq!(secret.reveal(), "correct horse");
    }

    #[test]
    fn the_agents_protocol_carries_it() {
        let text = serde_json::to_string(&Secret::new("correct horse")).unwrap();
        assert_eq!(serde_json::from_str::<Secret>(&text).unwrap().reveal(), "correct horse");
    }
}
