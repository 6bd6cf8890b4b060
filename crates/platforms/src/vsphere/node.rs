//! An element of what the server says. Pure.

use super::request::Reference;

/// How many characters of a foreign text an error shows.
pub(super) const SHOWN: usize = 200;

/// An element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    pub name: String,
    /// Its type, where the definition allows several.
    pub kind: Option<String>,
    /// The type of the object that it refers to.
    pub refers_to: Option<String>,
    pub text: String,
    pub children: Vec<Node>,
}

impl Node {
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Follows names separated by dots.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, name| node.child(name))
    }

    pub fn text_at(&self, path: &str) -> Option<&str> {
        self.at(path).map(|node| node.text.as_str())
    }

    pub fn number_at<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text_at(path)?.parse().ok()
    }

    pub fn is_true_at(&self, path: &str) -> bool {
        matches!(self.text_at(path), Some("true" | "1"))
    }

    pub fn is_kind(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// The object that it refers to.
    pub fn reference(&self) -> Option<Reference> {
        let kind =
            self.refers_to.as_deref().or(self.kind.as_deref()).filter(|kind| *kind != "ManagedObjectReference")?;
        (!self.text.is_empty()).then(|| Reference::new(kind, &self.text))
    }

    pub fn reference_at(&self, path: &str) -> Option<Reference> {
        self.at(path)?.reference()
    }

    /// The objects of a list of references.
    pub fn references(&self) -> Vec<Reference> {
        self.children.iter().filter_map(Self::reference).collect()
    }
}

pub fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
