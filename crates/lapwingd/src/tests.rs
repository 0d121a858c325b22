//! What lapwingd makes of configurations: the same as the package, or a refusal by name.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_node::Config;

use crate::configuration::load_file;
use crate::rights;

/// Errors of a configuration in a folder of its own, a line each.
fn errors(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lapwing.toml");
    std::fs::write(&file, text).expect("written");
    let faults = load_file(&file).expect_err("it is refused");
    assert_eq!(faults.exit_code(), 2);
    let shown = format!("{}/", folder.path().display());
    faults.iter().map(|fault| fault.to_string().replace(&shown, "")).collect()
}

/// Does it start its node with just what `lapwing broker` starts its with? `tools/lapwingd_model.py FILE` prints that.
#[test]
fn the_node_is_the_same_as_of_the_package() {
    for name in ["edge", "asked", "small"] {
        let made = load_file(Path::new(&format!("tests/same/{name}.toml"))).expect("it is right");
        let json = std::fs::read_to_string(format!("tests/same/{name}.json")).expect("it is there");
        assert_eq!(made.node, Config::from_json(&json).expect("the package's is right"), "{name}.toml");
    }
}

/// Does it take, and refuse, the values that the package does? `tools/lapwingd_verdicts.py` prints which.
#[test]
fn it_takes_and_refuses_what_the_package_does() {
    let json = std::fs::read_to_string("tests/same/values.json").expect("it is there");
    let verdicts: BTreeMap<String, BTreeMap<String, Vec<String>>> = serde_json::from_str(&json).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lapwing.toml");
    let mut others = Vec::new();
    for (text, of_one) in verdicts {
        for value in of_one.values().flatten() {
            std::fs::write(&file, text.replace("%s", value)).expect("written");
            let (found, is_taken) = (load_file(&file), of_one["taken"].contains(value));
            if found.is_ok() != is_taken {
                others.push(format!("{text:?} with {value}: {:?}", found.err()));
            }
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

/// Is a text of another form told of with its line, what it must be, and nothing of it?
#[test]
fn forms_are_named_and_not_quoted() {
    let found = errors(
        "[broker]\nlisten = [\"tcp://h:1\", \"hidden\"]\nhttp = \"hidden\"\n[[listeners]]\nurl = \"ws://127.0.0.1\"\n\
         origins = [\"hidden\"]\n[streams.\"-a\"]\nfilter = \"a\"\n",
    );
    for said in [
        "broker.http is wrong (lapwing.toml:3): must be HOST:PORT (0..65535), as in ",
        "broker.listen[1] is wrong (lapwing.toml:2): must be a URL of the form \"tcp://HOST:PORT\"",
        "listeners[0].origins[0] is wrong (lapwing.toml:6): must be an origin without a path, as in ",
        "listeners[0].url is wrong (lapwing.toml:5): must be HOST:PORT",
        "streams.-a: bad name (lapwing.toml:7): must be 1 to 64 of letters, digits, ",
    ] {
        assert!(found.iter().any(|line| line.starts_with(said)), "{said}: {found:#?}");
    }
    assert!(found.len() == 5 && !found.iter().any(|line| line.contains("hidden")), "{found:#?}");
}

/// Are values that are no value, of no key, or out of bounds errors with their line, and all of them at once?
#[test]
fn mistakes_are_named_with_their_line() {
    let found = errors(
        "[broker]\nshard = 2\nshards = 65\ndrain = \"30\"\ndurability = \"disc\"\nhttp = \"off\"\n[limits]\nqueue_bytes_max = \
         \"64M\"\nreceive_maximum = 0\n[streams.a]\n[[rules]]\nidentity = \"a\"\nmay = [\"fly\"]\n[nothing]\n",
    );
    for said in [
        "unknown key broker.shard (lapwing.toml:2): did you mean broker.shards?",
        "broker.shards is wrong (lapwing.toml:3): must be 0 to 64",
        "broker.drain is wrong (lapwing.toml:4): must be a duration",
        "broker.durability is wrong (lapwing.toml:5): must be one of \"disk\", \"memory\"",
        "limits.queue_bytes_max is wrong (lapwing.toml:8): must be a size",
        "limits.receive_maximum is wrong (lapwing.toml:9): must be 1 to 65535",
        "streams.a.filter is missing (lapwing.toml:10)",
        "rules[0].may[0] is wrong (lapwing.toml:13)",
        "unknown key nothing (lapwing.toml:14)",
    ] {
        assert!(found.iter().any(|line| line.starts_with(said)), "{said}: {found:#?}");
    }
    assert_eq!(found.len(), 9);
}

/// Is a file that is none said so, with its line, and nothing of what is in it?
#[test]
fn what_is_no_toml_is_not_quoted() {
    let found = errors("[broker]\nshards = 1\npassword = hidden-word\n");
    assert!(found[0].starts_with("not valid TOML: ") && found[0].contains("(lapwing.toml:3)"), "{found:?}");
    assert!(!found[0].contains("hidden"), "{found:?}");
}

/// Is everything that only the package has refused by name, with its line and with a way out?
#[test]
fn what_only_the_package_has_is_refused() {
    let found = errors(
        "[broker]\nuser = \"lapwing\"\nhttp = \"127.0.0.1:8080\"\n[hooks]\nuse = \"a:B\"\n[groups.g]\nuse = \"a:S\"\n[log]\n\
         format = \"journald\"\n[http]\nplain = true\nopen = true\nhosts = [\"h\"]\n[bridge.kafka]\nservers = \"k:9092\"\n",
    );
    for said in [
        "broker.user is not in lapwingd (lapwing.toml:2): start it as that account",
        "hooks.use is not in lapwingd (lapwing.toml:5): ",
        "groups.\"g\".use is not in lapwingd (lapwing.toml:7): ",
        "log.format = \"journald\" is not in lapwingd (lapwing.toml:9): ",
        "http.plain is not in lapwingd (lapwing.toml:11): ",
        "bridge is not in lapwingd (lapwing.toml:14): the bridge is Python: give lapwing bridge a file of its own",
    ] {
        assert!(found.iter().any(|line| line.starts_with(said)), "{said}: {found:#?}");
    }
    assert_eq!(found.len(), 6);
}

/// What says "off", or its default, asks for nothing.
#[test]
fn what_is_off_asks_for_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lapwing.toml");
    let text = "[broker]\nuser = \"off\"\nhttp = \"off\"\n[hooks]\nuse = \"off\"\ntimeout = \"2s\"\n[bridge]\n[log]\nformat = \"auto\"\n";
    std::fs::write(&file, text).expect("written");
    let found = load_file(&file).expect("it is right");
    assert_eq!(found.node.listen, ["tcp://127.0.0.1:1883"]);
    assert_eq!(found.node.data_dir, Some("lapwing-data".into()));
}

/// Is what the node alone can judge an error too: a filter, a listener nobody may come through, a key of another scheme?
#[test]
fn what_the_node_refuses_is_refused() {
    for (text, said) in [
        ("[streams.a]\nfilter = \"a/#/b\"\n", "streams.a.filter"),
        (
            "[broker]\nlisten = \"tcp://0.0.0.0:1883\"\n",
            "tcp://0.0.0.0:1883 (lapwing.toml:2): no open listener beyond loopback",
        ),
        (
            "[broker]\nlisten = \"tcp://127.0.0.1:1\"\n[[listeners]]\nurl = \"tcp://127.0.0.1:2\"\nmode = \"0660\"\n",
            "configuration key listeners[0].mode: has no meaning for tcp (tcp://127.0.0.1:2) (lapwing.toml:5): ",
        ),
        ("[broker]\nlisten = []\n", "broker.listen is empty (lapwing.toml:2): "),
        (
            "[streams.a]\nfilter = \"a/#/b\"\n",
            "is not a topic filter: # must be the whole last level, as in a/# (lapwing.toml:2): ",
        ),
        (
            "[[listeners]]\nurl = \"tcp://127.0.0.1:1\"\nretry = \"1s\"\n",
            "listeners[0].retry has no meaning for tcp (lapwing.toml:3)",
        ),
        ("[[listeners]]\nurl = \"tcp://127.0.0.1:1\"\nkey = \"k\"\n", "key"),
        (
            "[log.levels]\nnothing = \"off\"\n",
            "log.levels.nothing: bad name (lapwing.toml:2): must be one of memory, disk",
        ),
        ("[streams.\"a/b\"]\nfilter = \"a\"\n", "streams.a/b: bad name (lapwing.toml:1): "),
        ("[limits]\nmemory_high_bytes = 2\nmemory_max_bytes = 1\n", "limits.memory_high_bytes"),
        ("[auth]\nusers = \"none.toml\"\n", "cannot read the users file"),
        ("[broker]\nhttp = \"0.0.0.0:8080\"\n", "other machines"),
        ("[auth.jwt]\nalgorithms = [\"RS256\"]\n", "name where the keys are"),
    ] {
        let found = errors(text);
        assert!(found.iter().any(|line| line.contains(said)), "{said}: {found:#?}");
    }
}

/// Is a file of users that has lost its last line no file of users, and one with a wrong entry named without its hash?
#[test]
fn users_are_read_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lapwing.toml");
    std::fs::write(&file, "[auth]\nusers = \"users.toml\"\n").expect("written");
    let head =
        "# Written by `lapwing user`, down to its last line. Passwords are kept as argon2id, tokens as SHA-256.\n";
    for (users, said) in [
        (format!("{head}[users.a]\n"), "was cut off"),
        ("[users.a]\npassword = \"plain-word\"\n".into(), "users.a is wrong"),
        ("[users.a]\nkey = 1\n".into(), "users.a is wrong"),
        ("[other]\n".into(), "more than users"),
        ("[users.a\n".into(), "not valid TOML"),
    ] {
        std::fs::write(folder.path().join("users.toml"), users).expect("written");
        let faults = load_file(&file).expect_err("it is refused");
        let line = faults.iter().map(ToString::to_string).collect::<String>();
        assert!(line.contains(said) && !line.contains("plain-word"), "{said}: {line}");
    }
}

/// Is a file that others may write refused, or told where that is allowed?
#[test]
fn files_of_others_are_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lapwing.toml");
    for (files, is_told) in [("strict", false), ("warn", true)] {
        std::fs::write(&file, format!("[broker]\nfiles = \"{files}\"\n")).expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).expect("set");
        let looked = rights::look(&load_file(&file).expect("it is right"));
        let lines = match &looked {
            Ok(told) => told.clone(),
            Err(faults) => faults.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(looked.is_ok(), is_told);
        assert!(
            lines.iter().any(|line| line.contains("every user of this machine may write it (mode 0666)")),
            "{lines:?}"
        );
    }
}
