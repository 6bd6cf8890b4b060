//! `mysql_native_password`: the server keeps the hash of the password's hash, and sees the hash only under a challenge.

use sha1::{Digest, Sha1};

/// Empty for an empty password.
pub fn proof(challenge: &[u8], password: &str) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let hash = Sha1::digest(password.as_bytes());
    let kept = Sha1::digest(hash);
    let mask = Sha1::new().chain_update(challenge).chain_update(kept).finalize();
    hash.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_finds_its_hash_again() {
        let challenge = *b"0123456789abcdefghij";
        // The server's stored value for the password "secret": SELECT PASSWORD('secret').
        let kept = [
            0x14, 0xe6, 0x55, 0x67, 0xab, 0xdb, 0x51, 0x35, 0xd0, 0xcf, 0xd9, 0xa7, 0x0b, 0x30, 0x32, 0xc1, 0x79, 0xa4,
            0x9e, 0xe7,
        ];
        let mask = Sha1::new().chain_update(challenge).chain_update(kept).finalize();
        let hash: Vec<u8> = proof(&challenge, "secret").iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
        assert_eq!(Sha1::digest(&hash)[..], kept);
    }

    #[test]
    fn no_password_needs_no_proof() {
        assert!(proof(b"challenge", "").is_empty());
    }
}
