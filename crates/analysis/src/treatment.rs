//! A study asks about the differences that it sets itself. Settings of a server and storage of a machine that follow from them are no flaw
//! of the answer.

use crate::findings::SharedValue;
use crate::groups::Group;
use record::settings::{Differing, key};

/// Values of contenders without those that differ from the baseline's because the study sets a key differently which decides them.
pub fn unexplained(
    group: &Group<'_>,
    mut values: Vec<SharedValue>,
    decides: impl Fn(&Differing) -> bool,
) -> Vec<SharedValue> {
    let Some(base) = group.base() else { return values };
    let is_asked = |name: &String| {
        let own = group.cells.iter().find(|cell| cell.contender == *name);
        own.is_some_and(|own| base.settings.differing(&own.settings).iter().any(&decides))
    };
    for shared in values.iter_mut().filter(|shared| !shared.contenders.contains(&base.contender)) {
        shared.contenders.retain(|name| !is_asked(name));
    }
    values.retain(|shared| !shared.contenders.is_empty());
    values
}

/// Keys that choose the server: its product and its version.
const CHOOSE_SERVER: [&str; 3] = ["engine.kind", "engine.version", "machine.image"];

/// A setting as the servers report it: by its own key, by the server, whose versions have different settings as they come, by
/// the profile, or by the shape of the machine, which a profile follows.
pub fn without_set(group: &Group<'_>, setting: &str, values: Vec<SharedValue>) -> Vec<SharedValue> {
    unexplained(group, values, |set| {
        let name = set.key.rsplit('.').next();
        CHOOSE_SERVER.contains(&set.key.as_str())
            || [key::PROFILE, key::VCPUS, key::MEMORY].contains(&set.key.as_str())
            || set.is_of(&["engine"]) && name == Some(setting)
    })
}

/// The product and its version.
pub fn without_chosen(group: &Group<'_>, values: Vec<SharedValue>) -> Vec<SharedValue> {
    unexplained(group, values, |set| CHOOSE_SERVER.contains(&set.key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::plan::Cell;
    use record::synthetic;
    use serde_json::{Value, json};

    /// How many values are left where the contenders differ, and the study has set this for the second one.
    fn left(set: &[(&str, Value)], of: impl Fn(&Group<'_>, Vec<SharedValue>) -> Vec<SharedValue>) -> usize {
        let mut cells: Vec<Cell> = synthetic::run(1).plan.cells;
        for (key, value) in set {
            cells[1].settings.set(key, value.clone()).unwrap();
        }
        let group = Group { coordinates: String::new(), cells: cells.iter().collect() };
        let value =
            |cell: &Cell| SharedValue { value: cell.contender.clone(), contenders: vec![cell.contender.clone()] };
        of(&group, cells.iter().map(value).collect()).len()
    }

    #[test]
    fn a_study_explains_what_its_own_keys_decide() {
        let buffers = |set: &[(&str, Value)]| left(set, |group, values| without_set(group, "shared_buffers", values));
        for unrelated in [&[][..], &[("engine.work_mem", json!(1))], &[("load.clients", json!(77))]] {
            assert_eq!(buffers(unrelated), 2, "{unrelated:?}");
        }
        for related in [
            ("engine.shared_buffers", json!(1)),
            ("engine.profile", json!("x")),
            ("engine.version", json!("18")),
            ("machine.memory", json!(77)),
        ] {
            assert_eq!(buffers(std::slice::from_ref(&related)), 1, "{related:?}");
        }
        assert_eq!(left(&[("engine.profile", json!("x"))], without_chosen), 2);
        assert_eq!(left(&[("engine.version", json!("18"))], without_chosen), 1);
    }
}
