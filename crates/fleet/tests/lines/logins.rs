//! The ways to log in to a server, and TLS, each with the server's own check, and what is said when it fails.

use super::nats_server::{Access, NatsServer, private};
use super::{LONG, agent, build, lab, missing};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fleet::bridge::Bridge;
use fleet::{Arrangement, FleetError};
use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa};
use serde_json::{Value, json};
use std::path::Path;

/// An agent and a conductor find each other over this server.
fn meet(server: &NatsServer) {
    let going = agent(server, "b.example");
    let bridge = Bridge::connect(&lab(server), build('a')).unwrap();
    let seen = bridge.roll_call().unwrap();
    assert_eq!(seen.iter().map(|seen| seen.present.name.as_str()).collect::<Vec<_>>(), ["b.example"]);
    assert_eq!(bridge.down(LONG).unwrap().asked.len(), 1);
    going.join().unwrap().unwrap();
}

/// What is said where the fleet's file has other keys.
fn refused(server: &NatsServer, instead: impl FnOnce(&str) -> String) -> FleetError {
    std::fs::write(server.file(), instead(&server.text(""))).unwrap();
    Bridge::connect(&Arrangement::read(&server.file()).unwrap(), build('a')).unwrap_err()
}

#[test]
fn an_nkey_opens_a_server_that_knows_it() {
    if missing() {
        return;
    }
    let server = NatsServer::with(|folder, _| {
        let (user, other) = (KeyPair::new_user(), KeyPair::new_user());
        private(folder, "seed", &user.seed().unwrap());
        private(folder, "other", &other.seed().unwrap());
        let config = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", user.public_key());
        Access { config, scheme: "nats", keys: "nkey = \"seed\"".to_owned() }
    });
    meet(&server);
    let wrong = refused(&server, |text| text.replace("\"seed\"", "\"other\""));
    assert!(matches!(&wrong, FleetError::Login { .. }), "{wrong}");
}

#[test]
fn one_server_of_a_cluster_whose_name_is_known_is_enough() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    let listed = |text: &str| {
        let (before, rest) = text.split_once("server = ").unwrap();
        let (address, after) = rest.split_once('\n').unwrap();
        format!("{before}server = [\"nats://nowhere.invalid:4222\", {address}]\n{after}")
    };
    std::fs::write(server.file(), listed(&server.text(""))).unwrap();
    meet(&server);
}

/// A claim signed by a key, in the form of a JSON Web Token.
fn signed(by: &KeyPair, about: &KeyPair, name: &str, nats: &Value) -> String {
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = encoded(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let (iss, sub) = (by.public_key(), about.public_key());
    let claims =
        encoded(&json!({ "jti": name, "iat": 1_700_000_000, "iss": iss, "sub": sub, "name": name, "nats": nats }));
    let signature = URL_SAFE_NO_PAD.encode(by.sign(format!("{header}.{claims}").as_bytes()).unwrap());
    format!("{header}.{claims}.{signature}")
}

/// A user's file, as `nsc` writes it.
fn credentials(token: &str, user: &KeyPair) -> String {
    format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        user.seed().unwrap()
    )
}

#[test]
fn credentials_open_a_server_of_their_operator() {
    if missing() {
        return;
    }
    let server = NatsServer::with(|folder, _| {
        let (operator, account, user) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user());
        let any = json!({ "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1 });
        let of_operator = signed(&operator, &operator, "operator", &json!({ "type": "operator", "version": 2 }));
        let of_account = signed(
            &operator,
            &account,
            "lab",
            &json!({ "type": "account", "version": 2, "limits": any, "default_permissions": {} }),
        );
        let of_user =
            json!({ "type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1 });
        private(folder, "user.creds", &credentials(&signed(&account, &user, "agent", &of_user), &user));
        // Another account, which this operator has not signed.
        let stranger = KeyPair::new_account();
        private(folder, "other.creds", &credentials(&signed(&stranger, &user, "agent", &of_user), &user));
        let preload = format!("resolver_preload: {{ {}: {of_account} }}", account.public_key());
        let config = format!("operator: {of_operator}\nresolver: MEMORY\n{preload}");
        Access { config, scheme: "nats", keys: "credentials = \"user.creds\"".to_owned() }
    });
    meet(&server);
    let wrong = refused(&server, |text| text.replace("user.creds", "other.creds"));
    assert!(matches!(&wrong, FleetError::Login { .. }), "{wrong}");
    private(server.file().parent().unwrap(), "broken.creds", "nothing of that kind\n");
    let broken = refused(&server, |text| text.replace("user.creds", "broken.creds"));
    assert!(matches!(&broken, FleetError::Arrangement(_)) && broken.to_string().contains("broken.creds"), "{broken}");
}

/// Writes a certificate for the server's address or a user, and its key.
fn certificate(folder: &Path, name: &str, subject: &str, issuer: &CertifiedIssuer<'static, rcgen::KeyPair>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let signed = CertificateParams::new(vec![subject.to_owned()]).unwrap().signed_by(&key, issuer).unwrap();
    std::fs::write(folder.join(format!("{name}.crt")), signed.pem()).unwrap();
    private(folder, &format!("{name}.key"), &key.serialize_pem());
}

fn authority(folder: &Path, name: &str) -> CertifiedIssuer<'static, rcgen::KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    std::fs::write(folder.join(name), authority.pem()).unwrap();
    authority
}

#[test]
fn tls_takes_certificates_of_both_sides_and_names_what_is_wrong() {
    if missing() {
        return;
    }
    let server = NatsServer::with(|folder, address| {
        let ours = authority(folder, "ca.pem");
        authority(folder, "other-ca.pem");
        certificate(folder, "server", &address.to_string(), &ours);
        certificate(folder, "agent", "agent", &ours);
        let file = |name: &str| folder.join(name).display().to_string();
        let config = format!(
            "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}",
            file("server.crt"),
            file("server.key"),
            file("ca.pem")
        );
        let keys = "ca = \"ca.pem\"\ncertificate = \"agent.crt\"\nkey = \"agent.key\"".to_owned();
        Access { config, scheme: "tls", keys }
    });
    meet(&server);
    let unknown = refused(&server, |text| text.replace("\"ca.pem\"", "\"other-ca.pem\""));
    assert!(matches!(&unknown, FleetError::Tls { .. }), "{unknown}");
    let without = refused(&server, |text| text.replace("certificate = \"agent.crt\"\nkey = \"agent.key\"", ""));
    assert!(matches!(&without, FleetError::Tls { .. }), "{without}");
    let missing_file = refused(&server, |text| text.replace("\"ca.pem\"", "\"no.pem\"")).to_string();
    assert!(missing_file.contains("no.pem"), "{missing_file}");
}
