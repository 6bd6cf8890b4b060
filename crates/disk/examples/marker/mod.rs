//! The markers that the load of a race writes, and that its scan looks for.

/// Sixteen letters that look random and differ for each number, as in a trial's receipts.
pub fn marker(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
