//! TLS: whose certificates count, what garbage does, and which file is at fault.

use std::io::Write;
use std::path::PathBuf;

use slipring_core::{Authentication, Plan, Users, Verifier};
use slipring_engine::{ClientCertificates, TlsFiles};

use crate::papers::{self, Authority, Files};
use crate::{dial, engine, event, refusal};

#[test]
fn a_required_client_certificate_is_required() {
    let files = Files::new("required");
    let engine = engine(papers::listener(files.tls_with_clients(ClientCertificates::Required)));
    let known = files.authority.sign(&[], "aircraft-7");
    let stranger = Authority::new().sign(&[], "aircraft-7");
    let dial = |paper| dial::tls(engine.address(), &files.authority.client(paper));
    assert!(dial::is_let_in(dial(Some(&known))));
    assert!(!dial::is_let_in(dial(None)));
    event(&engine, "peer sent no certificates");
    assert!(!dial::is_let_in(dial(Some(&stranger))));
    event(&engine, "invalid peer certificate");
}

#[test]
fn an_optional_client_certificate_may_be_absent_but_not_wrong() {
    let files = Files::new("optional");
    let engine = engine(papers::listener(files.tls_with_clients(ClientCertificates::Optional)));
    let known = files.authority.sign(&[], "aircraft-7");
    let stranger = Authority::new().sign(&[], "aircraft-7");
    let dial = |paper| dial::tls(engine.address(), &files.authority.client(paper));
    assert!(dial::is_let_in(dial(Some(&known))));
    assert!(dial::is_let_in(dial(None)));
    assert!(!dial::is_let_in(dial(Some(&stranger))));
}

#[test]
fn a_name_that_a_certificate_proves_needs_no_password() {
    let files = Files::new("proved");
    let engine = engine(papers::listener(files.tls_with_clients(ClientCertificates::Optional)));
    let verifier = Verifier::new(b"pencil", b"a salt, 16 bytes", 4096).unwrap();
    let users = Users::new([("user".to_owned(), verifier)]).unwrap();
    let authentication = Authentication { users, anonymous: false, ..Authentication::default() };
    engine.apply(Plan { authentication, ..Plan::default() });
    let known = files.authority.sign(&[], "aircraft-7");
    let dial = |paper| dial::tls(engine.address(), &files.authority.client(paper));
    assert!(dial::is_let_in(dial(Some(&known))));
    assert!(!dial::is_let_in(dial(None)));
    event(&engine, "a user name and a password are needed");
}

#[test]
fn where_no_client_certificate_is_asked_for_none_is_looked_at() {
    let files = Files::new("unasked");
    let engine = engine(papers::listener(files.tls()));
    let stranger = Authority::new().sign(&[], "aircraft-7");
    let config = files.authority.client(Some(&stranger));
    assert!(dial::is_let_in(dial::tls(engine.address(), &config)));
}

#[test]
fn garbage_instead_of_a_hello_is_refused_and_disturbs_nobody() {
    let files = Files::new("garbage");
    let engine = engine(papers::listener(files.tls()));
    let config = files.authority.client(None);
    let mut other = dial::greet(dial::tls(engine.address(), &config), "other");
    let plain_connect = crate::talk::connect(slipring_wire::Version::V5, "plain", 60, None);
    let huge_record = [0x16, 3, 1, 0xff, 0xff].repeat(20_000);
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &plain_connect, &[0; 500], &huge_record] {
        let mut stream = dial::tcp(engine.address());
        let _ = stream.write_all(garbage);
        dial::rest(&mut stream);
        event(&engine, "");
    }
    other.subscribe("t");
    other.publish("t", b"undisturbed");
    assert_eq!(other.message().1, "undisturbed");
}

#[test]
fn the_file_at_fault_is_named() {
    let files = Files::new("faults");
    let write = |name, text: &str| files.folder.write(name, text);
    let other = files.authority.sign(&[], "other");
    let missing = files.folder.file("missing.pem");
    let empty = write("empty.pem", "nothing here\n");
    let cut = write("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n");
    let damaged =
        write("bad.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    let other_key = write("other.key", &other.key);
    let good = files.tls();
    let certificate = |file: &PathBuf| TlsFiles { certificate: file.clone(), ..good.clone() };
    let key = |file: &PathBuf| TlsFiles { key: file.clone(), ..good.clone() };
    let client_ca = |file: &PathBuf| TlsFiles { client_ca: Some(file.clone()), ..good.clone() };
    let rows = [
        (certificate(&missing), "missing.pem cannot be read: No such file"),
        (certificate(&empty), "empty.pem has no certificate in it"),
        (certificate(&cut), "cut.pem is not PEM: 'CERTIFICATE' has no end"),
        (certificate(&damaged), "bad.pem cannot be used: "),
        (key(&missing), "missing.pem cannot be read: No such file"),
        (key(&files.certificate), "server.pem has no private key in it"),
        (key(&other_key), "other.key is not the key of the certificate in "),
        (client_ca(&missing), "missing.pem cannot be read: No such file"),
        (client_ca(&empty), "empty.pem has no certificate in it"),
        (client_ca(&damaged), "bad.pem cannot be used: "),
    ];
    for (tls, expected) in rows {
        let error = refusal(papers::listener(tls));
        assert!(error.starts_with("listener 'secure': "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}
