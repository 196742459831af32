//! Reads the name that a client certificate proves. Pure; rustls has verified the certificate.

use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::{DirectoryString, GeneralName};
use x509_cert::{Certificate, TbsCertificate};

/// The common name of the subject, else its first DNS, URI or e-mail name.
///
/// A certificate that could be read in two ways proves nothing: several common names, or one
/// with control characters (a name cut short at a zero byte has been another's elsewhere).
pub(super) fn name(der: &[u8]) -> Option<String> {
    let certificate = Certificate::from_der(der).ok()?;
    let subject = certificate.tbs_certificate();
    let mut names = subject.subject().iter().filter(|attribute| attribute.oid == COMMON_NAME);
    let found = match (names.next(), names.next()) {
        (Some(name), None) => name.value.decode_as::<DirectoryString>().ok()?.value().into_owned(),
        (None, _) => alternative(subject)?,
        (Some(_), Some(_)) => return None,
    };
    is_usable(&found).then_some(found)
}

fn alternative(certificate: &TbsCertificate) -> Option<String> {
    let (_, names) = certificate.get_extension::<SubjectAltName>().ok()??;
    names.0.iter().find_map(|name| match name {
        GeneralName::DnsName(name)
        | GeneralName::UniformResourceIdentifier(name)
        | GeneralName::Rfc822Name(name) => Some(name.as_str().into()),
        _ => None,
    })
}

fn is_usable(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use rcgen::string::Ia5String;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};

    use super::*;

    fn proved(subject: &[(DnType, &str)], alternatives: Vec<SanType>) -> Option<String> {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        for (kind, text) in subject {
            params.distinguished_name.push(kind.clone(), *text);
        }
        params.subject_alt_names = alternatives;
        name(params.self_signed(&KeyPair::generate().unwrap()).unwrap().der())
    }

    fn text(text: &str) -> Ia5String {
        text.try_into().unwrap()
    }

    #[test]
    fn the_common_name_comes_first() {
        let subject = [(DnType::OrganizationName, "Wing"), (DnType::CommonName, "39-7 å")];
        let alternatives = vec![SanType::DnsName(text("other"))];
        assert_eq!(proved(&subject, alternatives).as_deref(), Some("39-7 å"));
    }

    #[test]
    fn without_one_the_first_alternative_name_counts() {
        let address = SanType::IpAddress([127, 0, 0, 1].into());
        let rows = [
            SanType::DnsName(text("a.example")),
            SanType::URI(text("urn:a")),
            SanType::Rfc822Name(text("a@b.example")),
        ];
        for (row, expected) in rows.into_iter().zip(["a.example", "urn:a", "a@b.example"]) {
            let alternatives = vec![address.clone(), row, SanType::DnsName(text("second"))];
            assert_eq!(proved(&[], alternatives).as_deref(), Some(expected));
        }
        assert_eq!(proved(&[(DnType::OrganizationName, "Wing")], vec![address]), None);
    }

    #[test]
    fn a_name_that_could_be_read_in_two_ways_proves_nothing() {
        // CVE-2026-33248: certificate name mapping bypass.
        let again = DnType::CustomDnType(vec![2, 5, 4, 3]);
        assert_eq!(proved(&[(DnType::CommonName, "admin"), (again, "guest")], vec![]), None);
        let other = || vec![SanType::DnsName(text("admin"))];
        assert_eq!(proved(&[(DnType::CommonName, "admin\0.evil")], other()), None);
        assert_eq!(proved(&[(DnType::CommonName, "admin\n")], other()), None);
        assert_eq!(proved(&[(DnType::CommonName, "")], other()), None);
        assert_eq!(name(b"no certificate"), None);
    }
}
