//! Any bytes are a name, an authority, a request, or a fault.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use lapwing_authority::{Authority, Fault, NodeKey, NodeName};
use proptest::collection::vec;
use proptest::prelude::*;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

const CERTIFICATE: &str = include_str!("fixtures/node.pem");

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| {
    let key = include_str!("fixtures/authority.key");
    Authority::load(include_str!("fixtures/authority.pem"), key).expect("it was one")
});

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600)
}

proptest! {
    /// Does nothing that is no certificate have a name?
    #[test]
    fn any_bytes_have_no_name(bytes in vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(NodeName::of(&bytes), Err(Fault::NoCertificate));
    }

    /// Is a certificate with other bytes in it read or refused, and a name that is read one that could be written?
    #[test]
    fn a_changed_certificate_is_read_or_refused(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut der = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap().to_vec();
        for (place, byte) in changes {
            let place = place.index(der.len());
            der[place] = byte;
        }
        if let Ok(name) = NodeName::of(&der) {
            prop_assert_eq!(NodeName::new(name.cluster(), name.node()), Ok(name));
        }
    }

    /// Is any text that is no request refused, whether it looks like one or not?
    #[test]
    fn any_text_is_no_request(text in any::<String>(), der in vec(any::<u8>(), 0..400)) {
        let body = data_encoding::BASE64.encode(&der);
        let armored = format!("-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n");
        for text in [text, armored] {
            prop_assert_eq!(AUTHORITY.issue(1, &text, now()), Err(Fault::NoRequest));
            prop_assert!(Authority::load(&text, &text).is_err());
            prop_assert!(NodeKey::from_pem(&text).is_err());
        }
    }
}
