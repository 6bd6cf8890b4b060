//! The channel binding `tls-server-end-point`, which binds a password exchange to a server's certificate.
//!
//! It is the certificate's hash, by the hash function of the certificate's own signature. The second part of the
//! certificate (DER) names that function; no other part is read.

use sha2::{Digest, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// `None` if the signature has no separate hash function (Ed25519) or an unknown one; then nothing can be bound.
pub fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    Some(match signature_algorithm(certificate)? {
        // RSA with MD5 and SHA-1, ECDSA with SHA-1: the standard replaces these old ones by SHA-256.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 4 | 5 | 11]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 2] => Sha256::digest(certificate).to_vec(),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 12] | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 3] => {
            Sha384::digest(certificate).to_vec()
        }
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 13] | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 4] => {
            Sha512::digest(certificate).to_vec()
        }
        _ => return None,
    })
}

fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (parts, _) = element(certificate, SEQUENCE)?;
    let (_, rest) = element(parts, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    Some(element(algorithm, OBJECT_IDENTIFIER)?.0)
}

/// The content of the element at the beginning of `bytes`, and the bytes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk()?;
    if found != tag {
        return None;
    }
    if first < 0x80 {
        return rest.split_at_checked(first.into());
    }
    // The number of bytes of the length itself. Four are enough for any certificate.
    let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f)).filter(|(length, _)| length.len() <= 4)?;
    let length = length.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};

    fn certificate(algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = KeyPair::generate_for(algorithm).unwrap();
        CertificateParams::new(vec!["db.example".to_owned()]).unwrap().self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        let (small, large) = (certificate(&PKCS_ECDSA_P256_SHA256), certificate(&PKCS_ECDSA_P384_SHA384));
        assert_eq!(end_point(&small), Some(Sha256::digest(&small).to_vec()));
        assert_eq!(end_point(&large), Some(Sha384::digest(&large).to_vec()));
        assert_eq!(end_point(&certificate(&PKCS_ED25519)), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = end_point(&bytes);
        }

        #[test]
        fn a_cut_certificate_does_no_harm(end in 0_usize..200) {
            let whole = certificate(&PKCS_ECDSA_P256_SHA256);
            prop_assert_eq!(end_point(&whole[..end.min(whole.len())]), None);
        }
    }
}
