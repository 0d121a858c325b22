//! Bytes that no node has written.

use lapwing_cluster::{ClusterState, ENTRY_BYTES_MAX, Entry, Fault};
use proptest::prelude::*;

/// Is an entry of version 1 read as it was written once and for all?
#[test]
fn version_1_is_read_for_ever() {
    let node = r#"{"name":"n","folder":"01010101010101010101010101010101","addresses":["h:1"],"zone":"a","release":"0.1.0","features":{"least":1,"most":1}}"#;
    let hash = "ab".repeat(32);
    let kinds = [
        format!(r#"{{"kind":"founded","cluster":"02020202020202020202020202020202","name":"marsh","founder":{node}}}"#),
        format!(r#"{{"kind":"token_made","secret":"{hash}","made_at_ms":5}}"#),
        format!(r#"{{"kind":"joined","secret":"{hash}","newcomer":{node},"joined_at_ms":6}}"#),
        r#"{"kind":"booted","node":0,"folder":"01010101010101010101010101010101","boot":1,"addresses":["h:1"],"release":"0.1.0","features":{"least":1,"most":1}}"#.into(),
        r#"{"kind":"promoted","node":1}"#.into(),
        r#"{"kind":"removed","node":1}"#.into(),
        format!(r#"{{"kind":"tables_set","tables":{{"groups":"{hash}"}}}}"#),
        r#"{"kind":"level_raised","level":2}"#.into(),
    ];
    for kind in kinds {
        let document = format!(r#"{{"version":1,"entry":{kind}}}"#);
        let entry = Entry::decode(document.as_bytes()).unwrap_or_else(|fault| panic!("{document}: {fault}"));
        assert_eq!(String::from_utf8(entry.encode()).expect("text"), document);
    }
}

/// Is what a newer program has written said to be so, and not taken for damage?
#[test]
fn a_newer_version_is_named() {
    let newer = br#"{"version":2,"entry":{"kind":"something_else","and":[1,2]}}"#;
    assert_eq!(Entry::decode(newer), Err(Fault::Newer { found: 2, supported: 1 }));
}

/// Is every field bounded?
#[test]
fn what_is_too_long_is_no_entry() {
    assert!(matches!(Entry::decode(&vec![b' '; ENTRY_BYTES_MAX + 1]), Err(Fault::TooLong { .. })));
    let founded = |name: &str, addresses: &str| {
        let node = format!(
            r#"{{"name":"{name}","folder":"01010101010101010101010101010101","addresses":{addresses},"zone":"","release":"","features":{{"least":1,"most":1}}}}"#
        );
        format!(
            r#"{{"version":1,"entry":{{"kind":"founded","cluster":"02020202020202020202020202020202","name":"m","founder":{node}}}}}"#
        )
    };
    assert!(Entry::decode(founded("n", r#"["h:1"]"#).as_bytes()).is_ok());
    let long = format!(r#"["{}"]"#, "h".repeat(300));
    let wrong =
        [(&*"n".repeat(65), r#"["h:1"]"#), ("", r#"["h:1"]"#), ("a\\nb", r#"["h:1"]"#), ("n", "[]"), ("n", &*long)];
    for (name, addresses) in wrong {
        assert!(Entry::decode(founded(name, addresses).as_bytes()).is_err(), "{name} {addresses}");
    }
    assert!(Entry::decode(br#"{"version":1,"entry":{"kind":"removed","node":1,"more":2}}"#).is_err());
    assert!(Entry::decode(br#"{"version":1,"entry":{"kind":"tables_set","tables":{"colours":""}}}"#).is_err());
}

proptest! {
    /// Does anything at all give an entry or a fault, and an entry that can be written and applied?
    #[test]
    fn any_bytes(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        r#"\{"version":[0-3],"entry":\{"kind":"(removed|promoted|level_raised|booted)","(node|level)":-?[0-9]{1,12}(\.5)?\}\}"#.prop_map(String::into_bytes),
    ]) {
        if let Ok(entry) = Entry::decode(&bytes) {
            prop_assert_eq!(Entry::decode(&entry.encode()), Ok(entry.clone()));
            let mut state = ClusterState::new();
            let _ = state.apply(1, &entry);
            prop_assert_eq!(state.applied(), 1);
        }
    }
}
