//! Which nodes speak to each other, and what is said to those that do not.

use std::collections::HashSet;

use lapwing_peer::{
    Agreed, Hello, Known, Levels, Link, NodeId, Refusal, Table, TableHashes, Versions, bounds::WORDS_BYTES_MAX, judge,
};

use crate::samples::{HELLO, NODE};

/// The other node, as it should be.
const THEIRS: Hello<'static> = Hello { node: NodeId::new(2).unwrap(), folder: [0xF1; 16], boot: 9, start: 77, ..HELLO };
const KNOWN: Known = Known { folder: THEIRS.folder, boot: 9, start: Some(77) };

fn refusal(theirs: &Hello<'_>, known: Option<&Known>) -> Refusal {
    judge(&HELLO, theirs, known).expect_err("it should be refused")
}

fn versions(oldest: u16, newest: u16) -> Versions {
    Versions::new(oldest, newest).unwrap()
}

#[test]
fn who_is_in_order_is_spoken_to() {
    let newer_boot = Hello { boot: 10, start: 78, ..THEIRS };
    let not_heard = Known { start: None, ..KNOWN };
    for (theirs, known) in
        [(THEIRS, None), (THEIRS, Some(&KNOWN)), (newer_boot, Some(&KNOWN)), (THEIRS, Some(&not_heard))]
    {
        assert_eq!(judge(&HELLO, &theirs, known), Ok(Agreed { version: 3 }));
        assert_eq!(judge(&theirs, &HELLO, None), Ok(Agreed { version: 3 }), "both come to the same");
    }
    let other_place = Hello { software: "x", addresses: Default::default(), window_bytes: 0, ..THEIRS };
    assert!(judge(&HELLO, &other_place, None).is_ok(), "these are for whoever connects");
}

#[test]
fn another_cluster_is_refused_before_anything_else() {
    let theirs = Hello { cluster: [9; 16], link: Link::Snapshot, versions: versions(8, 9), ..HELLO };
    assert_eq!(refusal(&theirs, None), Refusal::OtherCluster { mine: HELLO.cluster, theirs: [9; 16] });
}

#[test]
fn a_node_knows_itself_and_a_copy_of_itself() {
    assert_eq!(refusal(&HELLO, None), Refusal::Itself);
    let copied = Refusal::CopiedFolder { node: NODE, boot: 5 };
    assert_eq!(refusal(&Hello { start: 1, ..HELLO }, None), copied);
    let other = Hello { folder: [1; 16], ..HELLO };
    assert_eq!(refusal(&other, None), Refusal::OtherFolder { node: NODE });
}

#[test]
fn a_folder_that_is_not_the_nodes_any_more_is_refused() {
    let node = THEIRS.node;
    let emptied = Hello { folder: [1; 16], boot: 1, ..THEIRS };
    assert_eq!(refusal(&emptied, Some(&KNOWN)), Refusal::OtherFolder { node });
    let restored = Hello { boot: 8, start: 78, ..THEIRS };
    assert_eq!(refusal(&restored, Some(&KNOWN)), Refusal::OlderBoot { node, boot: 8, known: 9 });
    let copied = Hello { start: 78, ..THEIRS };
    assert_eq!(refusal(&copied, Some(&KNOWN)), Refusal::CopiedFolder { node, boot: 9 });
}

#[test]
fn both_mean_the_same_connection() {
    let theirs = Hello { link: Link::Snapshot, ..THEIRS };
    assert_eq!(refusal(&theirs, None), Refusal::OtherLink { mine: Link::Raft, theirs: Link::Snapshot });
}

#[test]
fn a_version_is_agreed_on_or_none_is() {
    let agreed = |range| judge(&HELLO, &Hello { versions: range, ..THEIRS }, None);
    assert_eq!(agreed(versions(1, 1)), Ok(Agreed { version: 1 }));
    assert_eq!(agreed(versions(2, 9)), Ok(Agreed { version: 3 }));
    let theirs = versions(4, 9);
    assert_eq!(agreed(theirs), Err(Refusal::NoCommonVersion { mine: HELLO.versions, theirs }));
    assert_eq!(versions(4, 9).common(HELLO.versions), None);
}

#[test]
fn who_cannot_read_what_the_cluster_writes_is_named() {
    let levels = |in_force, newest| Hello { levels: Levels::new(in_force, newest).unwrap(), ..THEIRS };
    let too_new = |node, newest, in_force| Refusal::LevelTooNew { node, newest, in_force };
    assert_eq!(refusal(&levels(0, 0), None), too_new(THEIRS.node, 0, 1));
    assert_eq!(refusal(&levels(3, 3), None), too_new(NODE, 2, 3));
    for theirs in [levels(1, 1), levels(2, 2), levels(0, 7)] {
        assert!(judge(&HELLO, &theirs, None).is_ok(), "{theirs:?}");
    }
}

#[test]
fn the_first_table_that_differs_is_named() {
    let refused_for = |others: &[Table]| {
        let hashes = Table::ALL.map(|table| if others.contains(&table) { [0; 32] } else { *HELLO.tables.of(table) });
        refusal(&Hello { tables: TableHashes::new(&hashes), ..THEIRS }, None)
    };
    for (first, table) in Table::ALL.into_iter().enumerate() {
        let differs = Refusal::TablesDiffer { table, mine: NODE, theirs: THEIRS.node };
        assert_eq!(refused_for(&Table::ALL[first..]), differs);
        assert_eq!(refused_for(&[table]), differs);
    }
}

/// Is each reason told in words that a frame can have, under a name and a code of its own?
#[test]
fn every_reason_says_what_to_do() {
    let node = NODE;
    let all = [
        (Refusal::OtherCluster { mine: [0xAB; 16], theirs: [1; 16] }, "abababab"),
        (Refusal::Itself, "cluster.advertise"),
        (Refusal::CopiedFolder { node, boot: 3 }, "lapwing cluster remove 7"),
        (Refusal::OtherFolder { node }, "lapwing cluster remove 7"),
        (Refusal::OlderBoot { node, boot: 3, known: 4 }, "lapwing cluster remove 7"),
        (Refusal::OtherLink { mine: Link::Raft, theirs: Link::Snapshot }, "report"),
        (Refusal::NoCommonVersion { mine: versions(1, 1), theirs: versions(2, 3) }, "2 to 3"),
        (Refusal::LevelTooNew { node, newest: 1, in_force: 2 }, "upgrade node 7"),
        (Refusal::TablesDiffer { table: Table::Users, mine: THEIRS.node, theirs: node }, "table of users"),
    ];
    let mut names = HashSet::new();
    for (index, (refusal, what)) in all.into_iter().enumerate() {
        let words = refusal.to_string();
        assert!(words.contains(what) && words.is_ascii() && words.len() <= WORDS_BYTES_MAX, "{words}");
        assert_eq!(usize::from(refusal.code()), index + 1);
        assert!(names.insert(refusal.name()));
    }
}
