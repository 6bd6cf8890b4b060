//! Which servers are believed, and the passwords that prove us to them.
//!
//! It says whether a certificate is accepted ([`Trust`]) and keeps passwords out of all output ([`secret::Secret`]). It opens no
//! connection.

mod certificates;
pub mod secret;

pub use certificates::{Demand, Fingerprint, Insecure, Trust, certificates, told};
