//! An entry of a catalog that was chosen, and its settings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A catalog entry: its name and its checked settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    pub kind: String,
    pub settings: Map<String, Value>,
}

impl Chosen {
    /// The form in a plan, with the kind first.
    pub fn table(&self) -> Map<String, Value> {
        let kind = ("kind".to_owned(), Value::from(self.kind.as_str()));
        [kind].into_iter().chain(self.settings.clone()).collect()
    }
}
