//! The fuzz target's oracle on a stable compiler: any bytes are a name, a request, or a fault; and so is any text.

mod oracle;

use std::time::SystemTime;

use lapwing_authority::{Authority, NodeKey};
use lapwing_oracle::variants::check_near;
use proptest::prelude::*;

use oracle::{Outcome, certificates_seeds, check_certificates};

#[test]
fn any_certificates() {
    let mut named = 0;
    check_near("node_certificates", &certificates_seeds(), 5_000, |input| {
        named += usize::from(check_certificates(input) == Outcome::Named);
    });
    assert!(named > 100, "{named} names");
}

/// Are the seeds what they are meant to be?
#[test]
fn seeds_are_certificates() {
    let outcomes: Vec<Outcome> = certificates_seeds().iter().map(|seed| check_certificates(seed)).collect();
    assert_eq!(outcomes, [Outcome::Named, Outcome::Refused, Outcome::Issued]);
}

proptest! {
    /// Is any text no authority and no key?
    #[test]
    fn any_text_is_refused(text in any::<String>()) {
        prop_assert!(Authority::load(&text, &text).is_err());
        prop_assert!(Authority::load(include_str!("fixtures/authority.pem"), &text).is_err());
        prop_assert!(NodeKey::from_pem(&text).is_err());
        let authority = Authority::load(include_str!("fixtures/authority.pem"), include_str!("fixtures/authority.key"));
        prop_assert!(authority.expect("it was one").issue(1, &text, SystemTime::now()).is_err());
    }
}
