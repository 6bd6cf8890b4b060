//! Values gathered by what they belong to.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

/// The values of each key, in the order in which keys are first met.
pub fn by_first<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut found: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => found.push((key, vec![value])),
        }
    }
    found
}

/// Each value once, in the order in which they are first met.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    by_first(values.into_iter().map(|value| (value, ()))).into_iter().map(|(value, _)| value).collect()
}

/// The values of each key, sorted by key.
pub fn by_key<K: Ord, V, All: Default + Extend<V>>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, All> {
    let mut found: BTreeMap<K, All> = BTreeMap::new();
    for (key, value) in pairs {
        found.entry(key).or_default().extend([value]);
    }
    found
}

/// Each key with its values as one text; usually there is only one.
pub fn joined<K: Ord, V: Ord + Borrow<str>>(
    pairs: impl IntoIterator<Item = (K, V)>,
    between: &str,
) -> BTreeMap<K, String> {
    by_key::<K, V, BTreeSet<V>>(pairs).into_iter().map(|(key, values)| (key, text(values, between))).collect()
}

/// Different values as one text.
pub fn text<V: Ord + Borrow<str>>(values: impl IntoIterator<Item = V>, between: &str) -> String {
    values.into_iter().collect::<BTreeSet<V>>().into_iter().collect::<Vec<V>>().join(between)
}

/// The keys under which two maps differ, with the values of both.
pub fn differing<'a, K: Ord, V: PartialEq>(
    one: &'a BTreeMap<K, V>,
    other: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, Option<&'a V>, Option<&'a V>)> {
    let keys: BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    let of_key = |key| (key, one.get(key), other.get(key));
    keys.into_iter().map(of_key).filter(|(_, own, others)| own != others)
}
