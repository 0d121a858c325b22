//! What becomes of groups from before beside what is configured, ordered and read again.

use super::*;

fn table(filters: &[&str]) -> GroupConfig {
    GroupConfig { filters: filters.iter().map(|filter| (*filter).to_owned()).collect(), ..GroupConfig::default() }
}

fn json(table: &GroupConfig) -> Vec<u8> {
    serde_json::to_vec(table).unwrap()
}

fn configured(name: &str, table: GroupConfig) -> GroupTables {
    GroupTables::from(BTreeMap::from([(name.to_owned(), table)]))
}

/// One that publishes dead letters where a group on jobs/# would take them itself.
fn with_letters() -> GroupConfig {
    GroupConfig {
        expired: Expired::DeadLetter,
        dead_letter_topic: Some("jobs/dead".into()),
        missed_topic: Some("missed/jobs".into()),
        queue_messages_max: 7,
        ..table(&["jobs/in/#"])
    }
}

const NOBODY: fn(&str) -> bool = |_| false;

/// A group from before: is it declared in the table of its name, else as it was, and not with topics of its own?
#[test]
fn groups_from_before_are_declared_again() {
    let mut tables = configured("jobs", GroupConfig { workers: 3, ..table(&["jobs/#"]) });
    let like = GroupConfig { workers: 7, dead_letter_topic: Some("dead/x".into()), ..table(&["f", "a/b"]) };
    let before = json(&like);
    for (name, filter) in [("jobs", "work/#"), ("more", "a/b"), ("more", "f")] {
        assert_eq!(tables.redeclare(name, filter, &before, NOBODY), [""; 0]);
    }
    let lacks = tables.redeclare("letters", "dead/#", &before, NOBODY);
    assert!(lacks[0].contains("without dead_letter_topic dead/x"), "{lacks:?}");
    let lacks = tables.redeclare("strange", "s", b"no table", NOBODY);
    assert!(lacks[0].contains("cannot be read"), "{lacks:?}");
    let found = |name: &str| (tables.get(name).unwrap().filters.join(" "), tables.get(name).unwrap().workers);
    assert_eq!(found("jobs"), ("jobs/# work/#".to_owned(), 3));
    assert_eq!(found("more"), ("a/b f".to_owned(), 7));
    assert_eq!(found("letters"), ("dead/#".to_owned(), 7));
    assert_eq!(tables.get("letters").unwrap().dead_letter_topic, None);
    assert_eq!(found("strange"), ("s".to_owned(), 1));
}

/// A group from before that would take the dead letters of the table of its name: does the table hold as it is configured,
/// and for the group all of it but that topic, then and after each change; and does it go with the table?
#[test]
fn what_is_configured_holds_whatever_is_on_disk() {
    let mut tables = configured("jobs", with_letters());
    let lacks = tables.redeclare("jobs", "jobs/#", &json(&table(&["jobs/#"])), NOBODY);
    assert!(lacks.len() == 2 && lacks[0].contains("without dead_letter_topic jobs/dead"), "{lacks:?}");
    assert_eq!(**tables.get("jobs").unwrap(), with_letters());
    let beside = |tables: &GroupTables| tables.of("jobs", "jobs/#").unwrap().as_ref().clone();
    let alone = GroupConfig {
        filters: vec!["jobs/#".into()],
        expired: Expired::Deliver,
        dead_letter_topic: None,
        ..with_letters()
    };
    assert_eq!(beside(&tables), alone);
    assert_eq!(**tables.of("jobs", "jobs/in/#").unwrap(), with_letters());
    assert_eq!(tables.declared().collect::<Vec<_>>(), [("jobs", "jobs/in/#"), ("jobs", "jobs/#")]);

    tables.put("jobs", GroupConfig { queue_messages_max: 8, ..with_letters() }).unwrap();
    assert_eq!(beside(&tables), GroupConfig { queue_messages_max: 8, ..alone.clone() });
    tables.replace(BTreeMap::from([("jobs".to_owned(), None)])).unwrap();
    tables.let_go("jobs", "jobs/in/#");
    assert!(tables.get("jobs").is_none() && tables.declaration("jobs", "jobs/#").is_some());
    tables.put("jobs", table(&["jobs/#"])).unwrap();
    assert_eq!(tables.declared().collect::<Vec<_>>(), [("jobs", "jobs/#")], "its own now");
    tables.redeclare("jobs", "other", b"{}", NOBODY);
    assert!(tables.remove("jobs") && !tables.remove("jobs"));
    assert_eq!(tables.declared().count(), 0);
}

/// A file that was read again: do groups from before go on that it never named, whatever it changes, in the table where they
/// can be and beside it where not; and do they end where somebody orders a table without them?
#[test]
fn groups_from_before_go_on_when_a_file_is_read_again() {
    let fresh = || {
        let mut tables = configured("jobs", table(&["work/#"]));
        assert_eq!(tables.redeclare("jobs", "jobs/#", &json(&table(&["jobs/#"])), NOBODY), [""; 0]);
        tables
    };
    let read = |tables: &mut GroupTables, table| tables.replace(BTreeMap::from([("jobs".to_owned(), table)])).unwrap();
    let filters = |tables: &GroupTables| tables.get("jobs").unwrap().filters.join(" ");

    let mut tables = fresh();
    read(&mut tables, Some(GroupConfig { behind_ms: 20_000, ..table(&["work/#"]) }));
    assert_eq!((filters(&tables).as_str(), tables.get("jobs").unwrap().behind_ms), ("work/# jobs/#", 20_000));
    read(&mut tables, Some(with_letters()));
    tables.let_go("jobs", "work/#");
    assert_eq!(filters(&tables), "jobs/in/#");
    assert_eq!(tables.of("jobs", "jobs/#").unwrap().dead_letter_topic, None);
    assert!(tables.declaration("jobs", "jobs/#").is_some());

    let mut tables = fresh();
    read(&mut tables, None);
    tables.let_go("jobs", "work/#");
    assert_eq!(filters(&tables), "jobs/#");
    read(&mut tables, Some(table(&["jobs/#", "work/#"])));
    read(&mut tables, Some(table(&["work/#"])));
    tables.let_go("jobs", "jobs/#");
    assert_eq!(filters(&tables), "work/#", "the file has named it, and does so no more");

    let mut tables = fresh();
    tables.put("jobs", table(&["work/#", "jobs/#"])).unwrap();
    read(&mut tables, Some(table(&["work/#"])));
    assert_eq!(filters(&tables), "work/# jobs/#");
    tables.put("jobs", table(&["work/#"])).unwrap();
    read(&mut tables, Some(table(&["work/#", "more"])));
    assert_eq!(filters(&tables), "work/# more");
}

/// A file that names a group no more: is it declared until it is known what is in it, gone with its table where that is
/// nothing, and else there with the settings that it had, until the file names it again or somebody ends it?
#[test]
fn what_a_file_leaves_out_goes_on_with_what_waits() {
    let read = |tables: &mut GroupTables, table| tables.replace(BTreeMap::from([("jobs".to_owned(), table)])).unwrap();
    let left_out = |tables: &GroupTables| tables.left_out().map(|(_, filter)| filter.to_owned()).collect::<Vec<_>>();
    let both = || GroupConfig { workers: 3, ..table(&["a", "b"]) };

    let mut tables = configured("jobs", both());
    read(&mut tables, None);
    assert_eq!(
        (left_out(&tables), tables.declared().count(), tables.by_name().count()),
        (vec!["a".into(), "b".into()], 2, 0)
    );
    tables.let_go("jobs", "a");
    tables.keep("jobs", "b");
    assert_eq!(
        (left_out(&tables).len(), tables.by_name().collect::<Vec<_>>()),
        (0, vec![("jobs", &GroupConfig { filters: vec!["b".into()], ..both() })])
    );
    tables.let_go("jobs", "b");
    assert!(tables.declaration("jobs", "b").is_some(), "it was kept");
    read(&mut tables, None);
    assert!(left_out(&tables).is_empty(), "the file had not named it");
    read(&mut tables, Some(both()));
    read(&mut tables, None);
    tables.let_go("jobs", "b");
    tables.let_go("jobs", "a");
    assert!(tables.get("jobs").is_none() && tables.declared().count() == 0);

    let mut tables = configured("jobs", both());
    read(&mut tables, Some(GroupConfig { workers: 4, ..table(&["b"]) }));
    assert_eq!((left_out(&tables), tables.of("jobs", "a").map(|table| table.workers)), (vec!["a".into()], Some(4)));
    read(&mut tables, Some(both()));
    assert!(left_out(&tables).is_empty(), "named again");
    read(&mut tables, Some(table(&[])));
    for filter in ["a", "b"] {
        tables.let_go("jobs", filter);
    }
    assert!(tables.get("jobs").is_some_and(|table| table.filters.is_empty()), "its settings are there still");

    let mut tables = configured("jobs", both());
    read(&mut tables, None);
    tables.put("jobs", table(&["b"])).unwrap();
    assert!(left_out(&tables).is_empty() && tables.declared().eq([("jobs", "b")]), "ordered");
    read(&mut tables, None);
    assert!(tables.remove("jobs") && tables.declared().count() == 0);
}

/// Do as many tables as there may be give way to as many others, before it is known what is in their groups?
#[test]
fn what_is_left_out_takes_no_place() {
    let named =
        |begin: &str| (0..GROUP_TABLES_MAX).map(|n| (format!("{begin}{n}"), table(&["f"]))).collect::<BTreeMap<_, _>>();
    let mut tables = GroupTables::from(named("old"));
    let gone = named("old").into_keys().map(|name| (name, None));
    tables.replace(gone.chain(named("new").into_iter().map(|(name, table)| (name, Some(table)))).collect()).unwrap();
    assert_eq!((tables.by_name().count(), tables.left_out().count()), (GROUP_TABLES_MAX, GROUP_TABLES_MAX));
}

/// With as many tables as there may be: is a group from before declared all the same, and may others still change?
#[test]
fn what_was_promised_has_no_bound() {
    let full = (0..GROUP_TABLES_MAX).map(|n| (format!("g{n}"), GroupConfig::default())).collect::<BTreeMap<_, _>>();
    let mut tables = GroupTables::from(full);
    tables.redeclare("jobs", "jobs/#", &json(&table(&["jobs/#"])), NOBODY);
    assert!(tables.declaration("jobs", "jobs/#").is_some());
    assert!(tables.put("one-more", GroupConfig::default()).is_err());
    tables.put("jobs", GroupConfig { workers: 2, ..table(&["jobs/#"]) }).unwrap();
    let change = |name: &str| BTreeMap::from([(name.to_owned(), Some(GroupConfig::default()))]);
    tables.replace(change("g1")).unwrap();
    assert!(tables.clone().replace(change("one-more")).is_err());
    // Nor is it lost where no table can declare it.
    tables.redeclare("a*", "a/#", &json(&GroupConfig { workers: 4, ..GroupConfig::default() }), NOBODY);
    assert_eq!(tables.declaration("a*", "a/#").map(|table| table.workers), Some(4));
    assert_eq!(tables.of("ab", "a/#").map(|table| table.workers), None, "it is no pattern");
    assert!(tables.remove("a*"));
    let many: Vec<String> = (0..1000).map(|n| format!("f/{n}")).collect();
    tables.put("g0", GroupConfig { filters: many, ..GroupConfig::default() }).unwrap();
    tables.redeclare("g0", "f/1000", b"{}", NOBODY);
    assert!(tables.declaration("g0", "f/1000").is_some());
}

/// Does a group come back with its strategy in Python where that is loaded, and else with the one that stands in for it?
#[test]
fn a_strategy_that_is_gone_is_not_kept() {
    let before = GroupConfig { r#use: Some("strat:Nobody".into()), fallback: "round-robin".into(), ..table(&["j"]) };
    let mut tables = GroupTables::new();
    let lacks = tables.redeclare("jobs", "j", &json(&before), NOBODY);
    assert_eq!(lacks, ["its strategy strat:Nobody is not loaded: round-robin chooses"]);
    let now = tables.get("jobs").unwrap();
    assert_eq!((now.r#use.as_deref(), now.strategy.as_str()), (None, "round-robin"));
    assert_eq!(tables.redeclare("more", "j", &json(&before), |class| class == "strat:Nobody"), [""; 0]);
    assert_eq!(tables.get("more").unwrap().r#use.as_deref(), Some("strat:Nobody"));
}
