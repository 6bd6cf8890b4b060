//! MySQL's `caching_sha2_password`. A server that has cached the password's hash sees it only under a challenge. A
//! server that has not asks for the password itself.

use sha2::{Digest, Sha256};

/// The server's answers to a proof: it has cached the hash and accepts the proof itself, or it asks for the password.
pub const REMEMBERED: u8 = 3;
pub const FORGOTTEN: u8 = 4;

/// Empty for an empty password.
pub fn proof(challenge: &[u8], password: &str) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let hash = Sha256::digest(password.as_bytes());
    let kept = Sha256::digest(hash);
    let mask = Sha256::new().chain_update(kept).chain_update(challenge).finalize();
    hash.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_has_a_known_answer() {
        // Challenge and answer come from the tests of Go's driver.
        let challenge = [10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21];
        let answer = [
            244, 144, 231, 111, 102, 217, 216, 102, 101, 206, 84, 217, 140, 120, 208, 172, 254, 47, 176, 176, 139, 66,
            61, 168, 7, 20, 72, 115, 211, 11, 49, 44,
        ];
        assert_eq!(proof(&challenge, "secret"), answer);
        assert!(proof(&challenge, "").is_empty());
    }
}
