//! Encrypted streams by rustls. Trust is configured once for each server, then every session uses it.
//!
//! Not supported: certificates that name a host only in their subject (it must be among the alternative names),
//! revocation lists, and resumption (sessions are opened once).

mod binding;
mod channel;

pub use binding::end_point;
pub use channel::Channel;

use crate::error::SessionError;
use crate::remote::{ClientCertificate, Remote, TlsMode};
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::path::Path;
use std::sync::Arc;
pub use trust::Insecure;
use trust::{Demand, Trust, certificates};

impl From<Insecure> for SessionError {
    fn from(Insecure(why): Insecure) -> Self {
        Self::Insecure { why }
    }
}

/// Everything needed to encrypt a stream to one server.
#[derive(Debug, Clone)]
pub struct Encryption {
    config: Arc<ClientConfig>,
    server: ServerName<'static>,
    /// Refuses a server that cannot encrypt.
    pub required: bool,
    /// Whether an accepted certificate proves that the peer is the intended server.
    vouches: bool,
}

impl Encryption {
    /// `None` if no encryption is wanted, or none is needed because the bytes never leave the machine.
    pub fn prepare(remote: &Remote) -> Result<Option<Self>, Insecure> {
        let tls = &remote.tls;
        if tls.mode == TlsMode::Disable || remote.is_local_socket() {
            return Ok(None);
        }
        let server = ServerName::try_from(remote.host.clone())
            .map_err(|_| Insecure(format!("no certificate can be made out to a host named {:?}", remote.host)))?;
        let provider = Arc::new(ring::default_provider());
        let verifies = tls.mode >= TlsMode::VerifyCa || tls.ca.is_some() && tls.mode >= TlsMode::Require;
        let authority = Demand::Authority { file: tls.ca.as_deref(), with_name: tls.mode == TlsMode::VerifyFull };
        let trust = Trust::of(if verifies { authority } else { Demand::Nothing }, &provider)?;
        let vouches = trust.vouches();
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Insecure(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust));
        let mut config = match &tls.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (certificates, key) = identity_files(identity)?;
                let refused = |error| Insecure(format!("{}: {error}", identity.certificate.display()));
                builder.with_client_auth_cert(certificates, key).map_err(refused)?
            }
        };
        config.resumption = Resumption::disabled();
        Ok(Some(Self { config: Arc::new(config), server, required: tls.mode >= TlsMode::Require, vouches }))
    }
}

fn identity_files(
    identity: &ClientCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Insecure> {
    let key = PrivateKeyDer::from_pem_file(&identity.key).map_err(|error| unreadable(&identity.key, &error))?;
    Ok((certificates(&identity.certificate)?, key))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Insecure {
    Insecure(format!("reading {}: {error}", path.display()))
}
