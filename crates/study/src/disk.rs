//! Checks of `machine.disk` that keys alone cannot make.

use platforms::capabilities::DataHome;
use serde_json::{Map, Value};
use settings::Problem;

fn of_disk<'a>(machine: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    machine.get("disk")?.get(name)?.as_str()
}

fn problem(name: &str, found: impl Into<String>, expected: impl Into<String>) -> Problem {
    Problem::new(format!("machine.disk.{name}"), found, expected)
}

/// Where the data are, and how they are mounted.
pub fn problems(machine: &Map<String, Value>) -> Vec<Problem> {
    let device = of_disk(machine, "device");
    let storage = match (of_disk(machine, "storage"), device) {
        (Some("device"), None) => {
            Some(problem("device", "missing", "the path of a block device, because of storage = \"device\""))
        }
        (Some("device"), Some(path)) if !path.starts_with("/dev/") => {
            Some(problem("device", format!("found \"{path}\""), "the path of a block device below /dev"))
        }
        (Some("file"), Some(_)) => {
            Some(problem("storage", "found \"file\"", "\"device\", because machine.disk.device is given"))
        }
        _ => None,
    };
    let options = of_disk(machine, "mount_options").filter(|options| !are_options(options)).map(|options| {
        let expected = "options of ext4, separated by commas, such as \"data=journal,commit=30\"";
        problem("mount_options", format!("found \"{options}\""), expected)
    });
    storage.into_iter().chain(options).collect()
}

/// They become words of a kernel's command line, too.
fn are_options(text: &str) -> bool {
    let is_of_option = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-' | '=');
    text.is_empty() || text.split(',').all(|option| !option.is_empty() && option.chars().all(is_of_option))
}

/// Only a disk that bakeoff mounts can have options, and only one that is bakeoff's own another queue.
pub fn tuning_problems(machine: &Map<String, Value>, kind: &str, home: DataHome) -> Vec<Problem> {
    let disk = machine.get("disk").and_then(Value::as_object);
    let given = |name: &str| disk.and_then(|disk| disk.get(name)).filter(|value| value.as_str() != Some(""));
    let mounts = home == DataHome::Disk;
    let problem = |name: &str| {
        let of_queue = name != "mount_options";
        let expected = match of_disk(machine, "device") {
            _ if !mounts => format!("nothing, because the platform {kind} has its data in a folder"),
            Some(device) if of_queue => format!("nothing, because it would stay set on the host's {device}"),
            _ => return None,
        };
        let found = given(name).map(|value| format!("found {value}"))?;
        Some(self::problem(name, found, expected))
    };
    ["mount_options", "scheduler", "read_ahead"].into_iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_platform_that_mounts_a_disk_has_options_for_it() {
        let problems = |disk: Value, home| {
            let machine = serde_json::json!({ "disk": disk });
            let problems = tuning_problems(machine.as_object().unwrap(), "a", home);
            problems.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let with = |options: &str| serde_json::json!({ "mount_options": options });
        assert_eq!(problems(with("nobarrier"), DataHome::Disk), [""; 0]);
        assert_eq!(problems(with("nobarrier"), DataHome::Elsewhere).len(), 1);
        assert_eq!(problems(with(""), DataHome::Elsewhere), [""; 0]);
        let device = serde_json::json!({ "device": "/dev/sdb", "mount_options": "nobarrier", "read_ahead": 0 });
        let expected =
            "machine.disk.read_ahead: found 0; expected nothing, because it would stay set on the host's /dev/sdb";
        assert_eq!(problems(device, DataHome::Disk), [expected]);
    }
}
