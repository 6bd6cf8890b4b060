//! Decides which certificates are accepted.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;

/// The SHA-256 of a certificate (DER).
pub type Fingerprint = [u8; 32];

/// Why a connection cannot be as secure as was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Insecure(pub String);

/// What a certificate must be to be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand<'a> {
    /// Anybody's.
    Nothing,
    /// It comes from a trusted authority: one of the file, or of those that this system trusts.
    Authority { file: Option<&'a Path>, with_name: bool },
    /// It is this one.
    Fingerprint(Fingerprint),
}

/// The server must always prove that it holds the key of its certificate. Otherwise a password exchange could be bound
/// to a certificate that somebody in between only copied.
#[derive(Debug)]
pub struct Trust {
    demanded: Demanded,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Demanded {
    Nothing,
    Chain(Chain),
    Fingerprint(Fingerprint),
}

#[derive(Debug)]
struct Chain {
    authorities: Arc<WebPkiServerVerifier>,
    /// The trusted certificates themselves. A server may present one of them: many servers make their own and give it
    /// to clients. Chain verification would refuse it, because an authority's certificate is not a server's.
    pinned: Vec<CertificateDer<'static>>,
    with_name: bool,
}

impl Trust {
    pub fn of(demand: Demand<'_>, provider: &Arc<CryptoProvider>) -> Result<Self, Insecure> {
        let demanded = match demand {
            Demand::Nothing => Demanded::Nothing,
            Demand::Authority { file, with_name } => Demanded::Chain(Chain::of(file, with_name, provider)?),
            Demand::Fingerprint(fingerprint) => Demanded::Fingerprint(fingerprint),
        };
        Ok(Self { demanded, algorithms: provider.signature_verification_algorithms })
    }

    /// Whether an accepted certificate proves which server it is. Without the name it does so only if the authorities
    /// were chosen for this server: those that a system trusts certify everybody.
    pub fn vouches(&self) -> bool {
        match &self.demanded {
            Demanded::Nothing => false,
            Demanded::Chain(chain) => chain.with_name || !chain.pinned.is_empty(),
            Demanded::Fingerprint(_) => true,
        }
    }
}

impl Chain {
    fn of(file: Option<&Path>, with_name: bool, provider: &Arc<CryptoProvider>) -> Result<Self, Insecure> {
        let trusted = match file {
            Some(path) => certificates(path)?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        let mut roots = RootCertStore::empty();
        let (taken, _) = roots.add_parsable_certificates(trusted.iter().cloned());
        if taken == 0 {
            return Err(Insecure(match file {
                Some(path) => format!("{}: none of its certificates can be used", path.display()),
                None => "this system trusts no certificate; name the file of those to trust".to_owned(),
            }));
        }
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| Insecure(error.to_string()))?;
        let pinned = if file.is_some() { trusted } else { Vec::new() };
        Ok(Self { authorities, pinned, with_name })
    }

    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        if self.pinned.iter().any(|pinned| pinned == certificate) {
            return if self.with_name { verify_name(certificate, server) } else { Ok(()) };
        }
        // The name is checked last, so this error means that everything else is valid.
        match self.authorities.verify_server_cert(certificate, intermediates, server, &[], now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.with_name => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

/// All certificates of a file, which must hold at least one.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Insecure> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.map_err(|error| Insecure(format!("reading {}: {error}", path.display())))?;
    if found.is_empty() {
        return Err(Insecure(format!("{} holds no certificate", path.display())));
    }
    Ok(found)
}

/// Why a handshake failed, in words that say what to do about it.
pub fn told(server: &str, cause: &Error, remedy: &str) -> String {
    match cause {
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            format!("the certificate of {server} comes from no trusted authority; {remedy}")
        }
        Error::InvalidCertificate(
            why @ (CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }),
        ) => format!("the certificate of {server} is made out to another name: {why}"),
        // Most often one that a server made for itself.
        Error::InvalidCertificate(CertificateError::Other(why)) => {
            format!("the certificate of {server} comes from no trusted authority ({why}); {remedy}")
        }
        Error::InvalidCertificate(why) => format!("the certificate of {server} is refused: {why}"),
        Error::General(why) => format!("the certificate of {server} is not the expected one: {why}"),
        Error::AlertReceived(alert) => format!("{server} ends the handshake: {alert:?}"),
        other => format!("{server} and we do not agree on the encryption: {other}"),
    }
}

fn verify_name(certificate: &CertificateDer<'_>, server: &ServerName<'_>) -> Result<(), Error> {
    rustls::client::verify_server_name(&ParsedCertificate::try_from(certificate)?, server)
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.demanded {
            Demanded::Nothing => {}
            Demanded::Chain(chain) => chain.verify(end_entity, intermediates, server_name, now)?,
            Demanded::Fingerprint(wanted) => {
                let found: Fingerprint = Sha256::digest(end_entity).into();
                if found != *wanted {
                    let hex: Vec<String> = found.iter().map(|byte| format!("{byte:02X}")).collect();
                    return Err(Error::General(format!("its fingerprint is {}", hex.join(":"))));
                }
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::crypto::ring;

    #[test]
    fn a_fingerprint_accepts_one_certificate_and_tells_that_of_another() {
        let made = || {
            let key = rcgen::KeyPair::generate().unwrap();
            let names = vec!["a.test".to_owned()];
            rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap().der().clone()
        };
        let (expected, other) = (made(), made());
        let provider = Arc::new(ring::default_provider());
        let trust = Trust::of(Demand::Fingerprint(Sha256::digest(&expected).into()), &provider).unwrap();
        assert!(trust.vouches());
        let name = ServerName::try_from("another.test").unwrap();
        let verify = |certificate: &CertificateDer<'_>| {
            trust.verify_server_cert(
                certificate,
                &[],
                &name,
                &[],
                UnixTime::since_unix_epoch(std::time::Duration::ZERO),
            )
        };
        assert!(verify(&expected).is_ok());
        let told = told("a.test", &verify(&other).unwrap_err(), "");
        let hex = format!("{:02X}", Sha256::digest(&other)[0]);
        assert!(told.starts_with("the certificate of a.test is not the expected one: its fingerprint is "), "{told}");
        assert!(told.contains(&hex), "{told}");
    }
}
