//! Decides which certificates are accepted.

use super::{Insecure, certificates};
use crate::remote::{Tls, TlsMode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// The server must always prove that it holds the key of its certificate. Otherwise a password exchange could be bound
/// to a certificate that somebody in between only copied.
#[derive(Debug)]
pub struct Trust {
    chain: Option<Chain>,
    algorithms: WebPkiSupportedAlgorithms,
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
    pub fn of(tls: &Tls, provider: &Arc<CryptoProvider>) -> Result<Self, Insecure> {
        let verifies = tls.mode >= TlsMode::VerifyCa || tls.ca.is_some() && tls.mode >= TlsMode::Require;
        let chain = verifies.then(|| Chain::of(tls, provider)).transpose()?;
        Ok(Self { chain, algorithms: provider.signature_verification_algorithms })
    }
}

impl Trust {
    /// Whether an accepted certificate proves which server it is. Without the name it does so only if the authorities
    /// were chosen for this server: those that a system trusts certify everybody.
    pub fn vouches(&self) -> bool {
        self.chain.as_ref().is_some_and(|chain| chain.with_name || !chain.pinned.is_empty())
    }
}

impl Chain {
    fn of(tls: &Tls, provider: &Arc<CryptoProvider>) -> Result<Self, Insecure> {
        let (trusted, of_system) = match &tls.ca {
            Some(path) => (certificates(path)?, false),
            None => (rustls_native_certs::load_native_certs().certs, true),
        };
        let mut roots = RootCertStore::empty();
        let (taken, _) = roots.add_parsable_certificates(trusted.iter().cloned());
        if taken == 0 {
            return Err(Insecure(match &tls.ca {
                Some(path) => format!("{}: none of its certificates can be used", path.display()),
                None => "this system trusts no certificate; name the file of those to trust".to_owned(),
            }));
        }
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| Insecure(error.to_string()))?;
        let pinned = if of_system { Vec::new() } else { trusted };
        Ok(Self { authorities, pinned, with_name: tls.mode == TlsMode::VerifyFull })
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
        if let Some(chain) = &self.chain {
            chain.verify(end_entity, intermediates, server_name, now)?;
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
