//! Is a state what it was when it was written down, and is nothing else taken for one?

use lapwing_cluster::{
    Boot, ClusterId, ClusterState, Entry, Fault, Features, FolderId, Newcomer, NodeId, SNAPSHOT_BYTES_MAX, SecretHash,
    TableHash, Tables,
};
use proptest::prelude::*;

fn newcomer(number: u8) -> Newcomer {
    Newcomer {
        name: format!("n{number}"),
        folder: FolderId([number; 16]),
        addresses: vec![format!("10.0.0.{number}:1890")],
        zone: "\"\u{1}ü".into(),
        release: "0.1.0".into(),
        features: Features { least: 1, most: 3 },
    }
}

fn founded() -> ClusterState {
    let mut state = ClusterState::new();
    let entry = Entry::Founded { cluster: ClusterId([7; 16]), name: "marsh".into(), founder: newcomer(1) };
    state.apply(1, &entry).expect("the first");
    state
}

fn entries() -> impl Strategy<Value = Entry> {
    let (number, node) = (0..12_u8, (0..12_u8).prop_map(NodeId));
    let secret = number.clone().prop_map(|number| SecretHash([number; 32]));
    prop_oneof![
        (secret.clone(), 0..9_u64).prop_map(|(secret, made_at_ms)| Entry::TokenMade { secret, made_at_ms }),
        (secret, number.clone()).prop_map(|(secret, number)| Entry::Joined {
            secret,
            newcomer: newcomer(number),
            joined_at_ms: 9
        }),
        (number, 0..9_u64).prop_map(|(number, boot)| Entry::Booted {
            node: NodeId(number),
            folder: FolderId([number; 16]),
            boot: Boot(boot),
            addresses: vec!["h:1".into()],
            release: "0.2.0".into(),
            features: Features { least: 1, most: 4 },
        }),
        node.clone().prop_map(|node| Entry::Promoted { node }),
        node.prop_map(|node| Entry::Removed { node }),
        any::<u8>().prop_map(|byte| Entry::TablesSet { tables: Tables::new([TableHash([byte; 32]); 5]) }),
        (0..5_u32).prop_map(|level| Entry::LevelRaised { level }),
    ]
}

proptest! {
    /// Does whatever entries add up to come back, and goes on alike?
    #[test]
    fn there_and_back(entries in proptest::collection::vec(entries(), 0..60)) {
        let mut state = founded();
        for (sequence, entry) in (2..).zip(&entries) {
            let mut again = ClusterState::restore(&state.snapshot()).expect("as it was written");
            prop_assert_eq!(&again, &state);
            prop_assert_eq!(again.apply(sequence, entry), state.apply(sequence, entry));
            prop_assert_eq!(again, state.clone());
        }
    }

    /// Does anything at all give a fault, or a state that can be written and goes on?
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..100), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut spoiled = founded().snapshot();
        let at = at.index(spoiled.len());
        spoiled[at] = byte;
        for bytes in [bytes, spoiled] {
            if let Ok(mut state) = ClusterState::restore(&bytes) {
                prop_assert_eq!(ClusterState::restore(&state.snapshot()), Ok(state.clone()));
                let _ = state.apply(state.applied().saturating_add(1), &Entry::Removed { node: NodeId(1) });
            }
        }
    }
}

/// Is a snapshot of version 1 read as it was written once and for all?
#[test]
fn version_1_is_read_for_ever() {
    let text = r#"{"version":1,"applied":1,"cluster":{"id":"07070707070707070707070707070707","name":"marsh"},"members":[{"id":1,"said":{"name":"n1","folder":"01010101010101010101010101010101","addresses":["10.0.0.1:1890"],"zone":"\"\u0001ü","release":"0.1.0","features":{"least":1,"most":3}},"boot":0,"standing":"voter"}],"tokens":[],"tables":{},"level":3}"#;
    assert_eq!(ClusterState::restore(text.as_bytes()), Ok(founded()));
    assert_eq!(String::from_utf8(founded().snapshot()).expect("text"), text);
    assert_eq!(ClusterState::restore(&ClusterState::new().snapshot()), Ok(ClusterState::new()));
}

/// Is what no entries add up to refused, and a newer version named?
#[test]
fn nothing_else_is_a_state() {
    let text = String::from_utf8(founded().snapshot()).expect("text");
    let with = |from: &str, to: &str| {
        let other = text.replace(from, to);
        assert_ne!(other, text, "{from}");
        ClusterState::restore(other.as_bytes())
    };
    assert_eq!(with(r#""version":1"#, r#""version":2"#), Err(Fault::Newer { found: 2, supported: 1 }));
    let wrong = [
        (r#""level":3"#, r#""level":3,"more":1"#),
        (r#""boot":0"#, r#""boot":0,"more":1"#),
        (r#""id":1"#, r#""id":2"#),
        (r#""voter""#, r#""gone""#),
        (r#""name":"marsh""#, r#""name":"""#),
        (r#""tables":{}"#, r#""tables":{"colours":""}"#),
        (r#"{"id":"07070707070707070707070707070707","name":"marsh"}"#, "null"),
    ];
    for (from, to) in wrong {
        assert!(matches!(with(from, to), Err(Fault::Malformed { .. })), "{to}");
    }
    let long = vec![b' '; SNAPSHOT_BYTES_MAX + 1];
    assert!(matches!(ClusterState::restore(&long), Err(Fault::TooLong { .. })));
}

/// Does a start that says more of its program than fits never come into a state?
#[test]
fn a_start_keeps_to_the_bounds_of_a_newcomer() {
    let booted = |release: &str, least: u32| Entry::Booted {
        node: NodeId(1),
        folder: FolderId([0; 16]),
        boot: Boot(1),
        addresses: vec!["h:1".into()],
        release: release.into(),
        features: Features { least, most: 3 },
    };
    assert!(Entry::decode(&booted("0.1.0", 1).encode()).is_ok());
    assert!(matches!(Entry::decode(&booted(&"r".repeat(65), 1).encode()), Err(Fault::TooLong { .. })));
    assert!(matches!(Entry::decode(&booted("0.1.0", 4).encode()), Err(Fault::Malformed { .. })));
}
