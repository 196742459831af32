//! Reads the name that a client certificate proves. Pure; rustls has verified the certificate.

use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::{DirectoryString, GeneralName};
use x509_cert::{Certificate, TbsCertificate};

use super::settings::ClientName;

/// The name that counts.
///
/// A certificate that could be read in two ways proves nothing: several common names, several names of the
/// kind that was asked for, or one with control characters (a name cut short at a zero byte has been another's
/// elsewhere). `Auto` takes the first alternative name of any kind, in the certificate's order.
pub(super) fn name(der: &[u8], wanted: ClientName) -> Option<String> {
    let certificate = Certificate::from_der(der).ok()?;
    let subject = certificate.tbs_certificate();
    let found = match wanted {
        ClientName::Auto => match common_names(subject)? {
            names if names.is_empty() => alternatives(subject, wanted)?.into_iter().next(),
            names => only(names),
        },
        ClientName::CommonName => only(common_names(subject)?),
        ClientName::Dns | ClientName::Uri | ClientName::Email => {
            only(alternatives(subject, wanted)?)
        }
    };
    found.filter(|found| is_usable(found))
}

fn only(names: Vec<String>) -> Option<String> {
    <[String; 1]>::try_from(names).ok().map(|[name]| name)
}

/// None if one of them cannot be read.
fn common_names(certificate: &TbsCertificate) -> Option<Vec<String>> {
    let names = certificate.subject().iter().filter(|attribute| attribute.oid == COMMON_NAME);
    let text = |text: DirectoryString| text.value().into_owned();
    names.map(|name| name.value.decode_as::<DirectoryString>().ok().map(text)).collect()
}

/// The alternative names of the kind that counts, or of every kind that could.
fn alternatives(certificate: &TbsCertificate, wanted: ClientName) -> Option<Vec<String>> {
    let (_, names) = certificate.get_extension::<SubjectAltName>().ok()??;
    let any = wanted == ClientName::Auto;
    let found = names.0.iter().filter_map(|name| match name {
        GeneralName::DnsName(name) if any || wanted == ClientName::Dns => Some(name.as_str()),
        GeneralName::UniformResourceIdentifier(name) if any || wanted == ClientName::Uri => {
            Some(name.as_str())
        }
        GeneralName::Rfc822Name(name) if any || wanted == ClientName::Email => Some(name.as_str()),
        _ => None,
    });
    Some(found.map(str::to_owned).collect())
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
        proved_by(ClientName::Auto, subject, alternatives)
    }

    fn proved_by(
        wanted: ClientName,
        subject: &[(DnType, &str)],
        alternatives: Vec<SanType>,
    ) -> Option<String> {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        for (kind, text) in subject {
            params.distinguished_name.push(kind.clone(), *text);
        }
        params.subject_alt_names = alternatives;
        name(params.self_signed(&KeyPair::generate().unwrap()).unwrap().der(), wanted)
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
        assert_eq!(name(b"no certificate", ClientName::Auto), None);
    }

    #[test]
    fn only_the_kind_that_was_asked_for_counts_and_only_if_there_is_one() {
        let subject = [(DnType::CommonName, "cn")];
        let all = || {
            vec![
                SanType::DnsName(text("a.example")),
                SanType::URI(text("urn:a")),
                SanType::Rfc822Name(text("a@b.example")),
            ]
        };
        for (wanted, expected) in [
            (ClientName::CommonName, "cn"),
            (ClientName::Dns, "a.example"),
            (ClientName::Uri, "urn:a"),
            (ClientName::Email, "a@b.example"),
            (ClientName::Auto, "cn"),
        ] {
            assert_eq!(proved_by(wanted, &subject, all()).as_deref(), Some(expected));
            let without =
                if wanted == ClientName::CommonName { vec![] } else { vec![all()[0].clone()] };
            let subject: &[_] = if wanted == ClientName::CommonName { &[] } else { &subject };
            if wanted != ClientName::Dns && wanted != ClientName::Auto {
                assert_eq!(proved_by(wanted, subject, without), None, "{wanted:?}");
            }
        }
        let two = vec![SanType::DnsName(text("a.example")), SanType::DnsName(text("b.example"))];
        assert_eq!(proved_by(ClientName::Dns, &subject, two), None);
        let odd = vec![SanType::URI(text("urn:a\nb"))];
        assert_eq!(proved_by(ClientName::Uri, &subject, odd), None);
    }
}
