//! Threads that QEMU runs besides its vCPUs, and the memory a guest has at this moment.

use crate::counter::Counter;
use serde_json::Value;

/// Name and thread id of each I/O thread, from the answer of `query-iothreads`.
pub fn io_threads(answer: &Value) -> Option<Vec<(String, u32)>> {
    let thread = |one: &Value| Some((one["id"].as_str()?.to_owned(), u32::try_from(one["thread-id"].as_u64()?).ok()?));
    answer.as_array()?.iter().map(thread).collect()
}

/// Memory that the balloon leaves to the guest, from the answer of `query-balloon`.
pub fn balloon_counter(answer: &Value) -> Option<Counter> {
    Some(Counter::stands("balloon.left_to_guest", "bytes", answer["actual"].as_u64()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn recorded_answers() {
        let threads: Value = serde_json::from_str(include_str!("../../tests/qmp/iothreads.json")).unwrap();
        let found = io_threads(&threads).unwrap();
        assert_eq!((found.len(), found[0].0.as_str()), (1, "disk"));
        let balloon: Value = serde_json::from_str(include_str!("../../tests/qmp/balloon.json")).unwrap();
        let expected = Counter::stands("balloon.left_to_guest", "bytes", 64 << 20);
        assert_eq!(balloon_counter(&balloon), Some(expected));
        assert_eq!((io_threads(&json!([{}])), balloon_counter(&json!({}))), (None, None));
    }
}
