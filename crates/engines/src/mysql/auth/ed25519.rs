//! MariaDB's `ed25519`: the server keeps a public key, and sees a signature of its challenge.
//!
//! It is Ed25519 with one difference: the secret is the password itself, of any length.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use sha2::{Digest, Sha512};

/// Empty for an empty password.
pub fn proof(challenge: &[u8], password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let (secret, prefix) = halves(password);
    let public = EdwardsPoint::mul_base(&secret).compress();
    let nonce = scalar(&[&prefix, challenge]);
    let commitment = EdwardsPoint::mul_base(&nonce).compress();
    let asked = scalar(&[commitment.as_bytes(), public.as_bytes(), challenge]);
    let answer = nonce + asked * secret;
    [commitment.to_bytes(), answer.to_bytes()].concat()
}

/// The secret scalar, and the prefix from which nonces are made.
fn halves(password: &[u8]) -> (Scalar, [u8; 32]) {
    let hash = Sha512::digest(password);
    let (mut secret, mut prefix) = ([0; 32], [0; 32]);
    secret.copy_from_slice(&hash[..32]);
    prefix.copy_from_slice(&hash[32..]);
    (Scalar::from_bytes_mod_order(clamp_integer(secret)), prefix)
}

fn scalar(parts: &[&[u8]]) -> Scalar {
    let mut hash = Sha512::new();
    for part in parts {
        hash.update(part);
    }
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD_NO_PAD;

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let pairs = (0..hexadecimal.len()).step_by(2).map(|at| &hexadecimal[at..at + 2]);
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }

    #[test]
    fn a_secret_of_32_bytes_signs_as_the_standard_says() {
        // The first test vector of RFC 8032, 7.1.
        let secret = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let signature = bytes(
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155\
             5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        );
        assert_eq!(proof(b"", &secret), signature);
    }

    #[test]
    fn the_server_keeps_the_public_key() {
        // The result of SELECT ed25519_password('secret') on MariaDB.
        let (secret, _) = halves(b"secret");
        let public = EdwardsPoint::mul_base(&secret).compress();
        assert_eq!(STANDARD_NO_PAD.encode(public.as_bytes()), "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY");
    }

    #[test]
    fn no_password_needs_no_proof() {
        assert!(proof(b"challenge", b"").is_empty());
    }
}
