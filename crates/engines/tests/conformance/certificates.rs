//! A certificate authority for tests, and the certificates that it signs.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
    pub file: PathBuf,
}

/// Files of a certificate and its key.
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    pub fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = folder.join(format!("{name}.pem"));
        fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, folder: folder.to_owned(), file }
    }

    /// Signs a certificate for a host or a user of that name.
    pub fn sign(&self, name: &str) -> Files {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        write(&self.folder, name, &certificate.pem(), &key)
    }
}

/// A certificate that its owner made and signed as an authority, as most instructions on the web suggest.
pub fn self_signed(folder: &Path, name: &str) -> Files {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    write(folder, &format!("own-{name}"), &certificate.pem(), &key)
}

fn write(folder: &Path, name: &str, certificate: &str, key: &KeyPair) -> Files {
    let files = Files { certificate: folder.join(format!("{name}.crt")), key: folder.join(format!("{name}.key")) };
    fs::write(&files.certificate, certificate).unwrap();
    fs::write(&files.key, key.serialize_pem()).unwrap();
    fs::set_permissions(&files.key, Permissions::from_mode(0o600)).unwrap();
    files
}

impl Files {
    /// A server refuses a key file that belongs to another account.
    pub fn give_to_owner_of(&self, data: &Path) {
        let owner = fs::metadata(data).unwrap();
        chown(&self.key, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
}
