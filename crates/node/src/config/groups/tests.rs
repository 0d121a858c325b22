//! What a table of a group means, what is refused, and which table holds for a name.

use lapwing_groups::Lane;

use super::*;

fn groups(names: &[&str]) -> BTreeMap<String, GroupConfig> {
    let table = |name: &&str| GroupConfig { behind_ms: name.len() as u64, ..GroupConfig::default() };
    names.iter().map(|name| ((*name).to_owned(), table(name))).collect()
}

/// Does the own table win over patterns, and the longest pattern over shorter ones?
#[test]
fn the_nearest_table_holds() {
    let groups = groups(&["*", "alarm-*", "alarm-fire-*", "alarm-fire-1", "*-9"]);
    for (share, found) in [
        ("alarm-fire-1", Some(12)),
        ("alarm-fire-2", Some(12)),
        ("alarm-x", Some(7)),
        ("alarm-9", Some(7)),
        ("x-9", Some(3)),
        ("other", Some(1)),
    ] {
        assert_eq!(for_share(&groups, share).map(|config| config.behind_ms), found, "{share}");
    }
    assert_eq!(for_share(&BTreeMap::<String, GroupConfig>::new(), "alarms"), None);
    let mut same_length = BTreeMap::from([("a*".to_owned(), GroupConfig::default())]);
    same_length.insert("*a".to_owned(), GroupConfig { workers: 2, ..GroupConfig::default() });
    assert_eq!(for_share(&same_length, "aa").map(|config| config.workers), Some(2), "\"*a\" is first by name");
}

/// Is an empty table the default, and is the default that of the room of groups?
#[test]
fn defaults_are_those_of_the_group() {
    let config = GroupConfig::from_json("alarms", "{}").unwrap();
    assert_eq!(config, GroupConfig::default());
    assert_eq!(config.settings(&DispatchConfig::default(), false), Settings::default());
    assert_eq!(config.parameters(), Ok(Parameters::default()));
    assert_eq!(config.strategy(), Ok(Strategy::Auto));
    assert!(!config.is_durable());
}

/// Does every key reach what acts on it?
#[test]
fn a_full_table() {
    let text = r#"{"strategy": "lef", "parameters": {"window": 5}, "filters": ["alarms/#"], "expiry_ms": 9,
        "queue_messages_max": 7, "queue_bytes_max": 8, "overflow": "drop-newest", "expired": "dead-letter",
        "dead_letter_topic": "dead/alarms", "missed_topic": "missed/alarms", "behind_ms": 2500,
        "acknowledges": "processed", "workers": 4,
        "rules": [{"topics": ["alarms/fire/#", "x"], "priority": "critical", "deadline_ms": 250},
                  {"topics": ["alarms/#"], "priority": "bulk"}]}"#;
    let config = GroupConfig::from_json("alarms", text).unwrap();
    let settings = config.settings(&DispatchConfig { members_per_group_max: 6, ..DispatchConfig::default() }, true);
    assert!(settings.is_durable && config.is_durable());
    assert_eq!((settings.queue_messages_max, settings.queue_bytes_max), (7, 8));
    assert_eq!(settings.overflow, lapwing_groups::Overflow::DropNewest);
    assert_eq!(settings.expired, lapwing_groups::Expired::DeadLetter);
    assert_eq!(settings.behind_s, 2.5);
    assert_eq!((settings.tells_missed, settings.members_max, settings.expires_after_us), (true, 6, Some(9000)));
    assert_eq!(config.strategy(), Ok(Strategy::Lef));
    assert_eq!(config.parameters().map(|parameters| parameters.get("window")), Ok(Some(5.0)));
    let acknowledges: lapwing_dispatch::Acknowledges = config.acknowledges.into();
    assert_eq!(acknowledges, lapwing_dispatch::Acknowledges::Processed);
    let fire = config.rule_for("alarms/fire/3").unwrap();
    assert_eq!((fire.priority.map(Lane::from), fire.deadline_ms), (Some(Lane::Critical), Some(250)));
    let other = config.rule_for("alarms/door").unwrap();
    assert_eq!((other.priority.map(Lane::from), other.deadline_ms), (Some(Lane::Bulk), None));
    assert_eq!(config.rule_for("other"), None);
    let again = serde_json::to_string(&config).unwrap();
    assert_eq!(GroupConfig::from_json("alarms", &again).unwrap(), config);
}

/// Does the fallback stand in where the strategy is one in Python?
#[test]
fn a_strategy_in_python_has_a_fallback() {
    let text = r#"{"use": "package.module:Class", "fallback": "round-robin", "timeout_ms": 7}"#;
    let config = GroupConfig::from_json("alarms", text).unwrap();
    assert_eq!(config.strategy(), Ok(Strategy::RoundRobin));
    assert_eq!((config.r#use.as_deref(), config.timeout_ms), (Some("package.module:Class"), 7));
}

/// Does each wrong value name its key, and a wrong strategy or parameter those there are?
#[test]
fn wrong_values_name_their_key() {
    for (name, json, said) in [
        ("a", r#"{"strategy": "fastest"}"#, "groups.a.strategy: no strategy \"fastest\"; there are auto, lef"),
        ("a", r#"{"fallback": "x"}"#, "groups.a.fallback"),
        (
            "a",
            r#"{"parameters": {"windov": 1}}"#,
            "groups.a.parameters: no parameter \"windov\"; there are bulk_factor",
        ),
        ("a", r#"{"parameters": {"window": 0}}"#, "window = 0: it must be 1 to 1000"),
        ("a", r#"{"use": "module"}"#, "groups.a.use"),
        ("a", r#"{"timeout_ms": 0}"#, "groups.a.timeout_ms"),
        ("a", r#"{"queue_messages_max": 0}"#, "groups.a.queue_messages_max"),
        ("a", r#"{"queue_bytes_max": 0}"#, "groups.a.queue_bytes_max"),
        ("a", r#"{"workers": 0}"#, "groups.a.workers"),
        ("a", r#"{"workers": 1025}"#, "groups.a.workers"),
        ("a", r#"{"overflow": "drop"}"#, "drop-newest"),
        ("a", r#"{"filters": ["$share/a/b"]}"#, "groups.a.filters.0"),
        ("a", r#"{"filters": ["b", "b"]}"#, "groups.a.filters.1"),
        ("a*", r#"{"filters": ["b"]}"#, "groups.a*.filters"),
        ("a", r#"{"expired": "dead-letter"}"#, "groups.a.dead_letter_topic"),
        ("a", r#"{"dead_letter_topic": "a/+"}"#, "groups.a.dead_letter_topic"),
        ("a", r#"{"missed_topic": "$SYS/x"}"#, "groups.a.missed_topic"),
        ("a", r#"{"filters": ["a/#"], "missed_topic": "a/missed"}"#, "the group's own filter"),
        ("a", r#"{"rules": [{"topics": [], "priority": "bulk"}]}"#, "groups.a.rules.0.topics"),
        ("a", r#"{"rules": [{"topics": ["a/#/b"], "priority": "bulk"}]}"#, "groups.a.rules.0.topics.0"),
        ("a", r#"{"rules": [{"topics": ["a"]}]}"#, "groups.a.rules.0: says nothing"),
        ("a", r#"{"rules": [{"topics": ["a"], "deadline_ms": 0}]}"#, "groups.a.rules.0.deadline_ms"),
        ("a", r#"{"rules": [{"topics": ["a"], "deadline_ms": 86400001}]}"#, "groups.a.rules.0.deadline_ms"),
        ("a/b", "{}", "is not the name of a group"),
        ("", "{}", "is not the name of a group"),
        ("a", r#"{"strategi": "lef"}"#, "strategi"),
    ] {
        let error = GroupConfig::from_json(name, json).unwrap_err().to_string();
        assert!(error.contains(said), "{json}: {error}");
    }
}

/// Are too many tables refused?
#[test]
fn tables_are_bounded() {
    let tables = |count: usize| (0..count).map(|number| (format!("g{number}"), GroupConfig::default())).collect();
    assert!(check_groups(&tables(GROUP_TABLES_MAX)).is_ok());
    assert!(check_groups(&tables(GROUP_TABLES_MAX + 1)).unwrap_err().to_string().contains("more than 1000"));
}
