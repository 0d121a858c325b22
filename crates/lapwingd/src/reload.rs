//! SIGHUP: users, rules, topics, groups and certificates are read again, all of it or on an error nothing.

use std::path::Path;

use lapwing_node::{Handle, kind_at};
use serde_json::{Map, Value as Json, json};

use crate::access::Access;
use crate::arguments::Arguments;
use crate::configuration::{self, Configuration};
use crate::fault::{Fault, Faults};
use crate::key_files::KeyFiles;
use crate::log::Log;
use crate::serve::notices;

/// Names of one kind that are written into the audit trail.
const NAMES_MAX: usize = 50;

/// A file that cannot be used is no reason to stop: what was read before stays in force.
pub(crate) fn at_signal(
    node: &Handle,
    arguments: &Arguments,
    in_force: &mut Configuration,
    told: &mut Vec<String>,
    log: &Log,
) {
    match reload(node, arguments, in_force, told, log) {
        Ok(counts) => {
            log.notice(&format!("SIGHUP: users, rules, groups and certificates are read again ({counts})"), "other");
        }
        Err(faults) => {
            // A trail that cannot be written says so itself.
            let _ = node.audit("reload_failed", &json!({"error": "ConfigError"}).to_string(), None);
            faults.iter().for_each(|fault| log.warning(&format!("SIGHUP: {fault}; what was in force stays")));
        }
    }
}

fn reload(
    node: &Handle,
    arguments: &Arguments,
    in_force: &mut Configuration,
    told: &mut Vec<String>,
    log: &Log,
) -> Result<String, Faults> {
    arguments.config.as_deref().map_or(Ok(()), check_is_file)?;
    let now = configuration::load(arguments)?;
    check_not_cut_off(in_force, &now)?;
    let lines = notices(&now)?;
    check_still_closed(in_force, &now)?;
    let mut document = json!({ "access": now.access.0, "groups": changed(&in_force.groups, &now.groups) });
    if in_force.topics != now.topics {
        document["topics"] = now.topics.clone();
    }
    let listeners = node.reload(&document.to_string())?;
    lines.iter().filter(|line| !told.contains(line)).for_each(|line| log.notice(line, "start"));
    *told = lines;
    node.audit("access_reloaded", &access_changes(&in_force.access, &now.access).to_string(), None)?;
    let parts = [("topics", in_force.topics != now.topics), ("groups", in_force.groups != now.groups)];
    let changed: Vec<&str> = parts.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name).collect();
    // Those of the listeners that there are: others in the configuration begin with the next start.
    let key_files = KeyFiles::of(&in_force.node.listeners);
    let others = in_force.key_files.changes_to(&key_files, &in_force.node.listeners);
    let fields = json!({ "changed": changed, "listeners_with_certificates": listeners, "files_changed": others });
    node.audit("reloaded", &fields.to_string(), None)?;
    let words = format!("{}; listeners with certificates: {listeners}", change_words(&in_force.access, &now.access));
    // Of the rest, what the node was started with stays in force.
    *in_force = Configuration { node: in_force.node.clone(), key_files, ..now };
    Ok(words)
}

/// A pipe may have nobody at its other end.
fn check_is_file(file: &Path) -> Result<(), Fault> {
    let Some(kind) = kind_at(file) else { return Ok(()) };
    let what = format!("the configuration is {kind}, which was read at the start");
    Err(Fault::wrong(what, file.display().to_string(), "give --config a file: it is read again at a reload"))
}

/// A file that was cut off, or is just being written, is the beginning of the one in force; most such files are no TOML, or
/// have lost all users or rules, which needs a word. The others read well, and each line that they lack may be worth more than
/// it looks: what forbids, the subscriptions of a rule that permits, a group with what it was to keep. So such a file changes
/// nothing that a reload takes over.
fn check_not_cut_off(before: &Configuration, now: &Configuration) -> Result<(), Fault> {
    let is_beginning = now.text.len() < before.text.len() && before.text.starts_with(&now.text);
    if !is_beginning || has_lost_all(before, now) {
        return Ok(());
    }
    let tables = [
        ("auth", settings_of_auth(before) != settings_of_auth(now)),
        ("rules", rules(&before.access) != rules(&now.access)),
        ("groups", before.groups != now.groups),
        ("topics", before.topics != now.topics),
    ];
    let lacking: Vec<&str> = tables.into_iter().filter(|(_, is_other)| *is_other).map(|(name, _)| name).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let what = format!(
        "this is the beginning of the file in force, and lacks lines about {}: it was cut off, or is being written",
        lacking.join(", ")
    );
    let place = now.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let remedy = "write it as a whole; if that is meant, add a line at its end, a comment say";
    Err(Fault::wrong(what, place, remedy))
}

fn has_lost_all(before: &Configuration, now: &Configuration) -> bool {
    let lost_rules = !rules(&before.access).is_empty() && rules(&now.access).is_empty() && !now.own.no_rules;
    let has_file = |configuration: &Configuration| configuration.own.rest.file("auth.users").is_some();
    lost_rules || (has_file(before) && !has_file(now) && !now.own.no_users)
}

fn settings_of_auth(configuration: &Configuration) -> (Vec<(&String, &Json)>, Json) {
    let node = json!([&configuration.access.0["auth"]["certificates"], &configuration.node.guesses]);
    (configuration.own.rest.below("auth."), node)
}

/// A file that is just being written must neither let everybody in nor lock everybody out.
fn check_still_closed(before: &Configuration, now: &Configuration) -> Result<(), Fault> {
    let (was, is) = (Counts::of(&before.access), Counts::of(&now.access));
    let has_users = |counts: &Counts| counts.users.is_some_and(|users| users > 0);
    let asks_nobody = !has_users(&is) && is.others.is_empty();
    let lost_users = (has_users(&was) && !has_users(&is)) || (!was.others.is_empty() && asks_nobody);
    if lost_users && !now.own.no_users {
        return Err(lost("users", &was, &is));
    }
    if was.rules > 0 && is.rules == 0 && !now.own.no_rules {
        return Err(lost("rules", &was, &is));
    }
    Ok(())
}

fn lost(what: &str, before: &Counts, now: &Counts) -> Fault {
    let words = format!("{before} are in force, and what was read has {now}");
    Fault::wrong(words, format!("auth.no_{what}"), format!("if that is meant, say no_{what} = true in [auth]"))
}

/// How many users and rules there are, and who else is asked.
struct Counts {
    /// None: there is no users file.
    users: Option<usize>,
    rules: usize,
    others: Vec<&'static str>,
}

impl Counts {
    fn of(access: &Access) -> Self {
        let auth = &access.0["auth"];
        let others = [("jwt", "tokens"), ("outside", "a check over HTTP")];
        Counts {
            users: auth["users"].as_array().map(Vec::len),
            rules: rules(access).len(),
            others: others.into_iter().filter(|(key, _)| !auth[*key].is_null()).map(|(_, words)| words).collect(),
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let users = self.users.map_or_else(|| "no users file".to_owned(), |users| count(users, "user"));
        let parts =
            [users, count(self.rules, "rule")].into_iter().chain(self.others.iter().map(|&words| words.to_owned()));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

fn change_words(before: &Access, now: &Access) -> String {
    let (was, is) = (Counts::of(before).to_string(), Counts::of(now).to_string());
    if was != is {
        return format!("{was} before, {is} now");
    }
    let of = |access: &Access, key: &str| access.0["auth"][key].clone();
    let changed = [
        ("users", of(before, "users") != of(now, "users")),
        ("rules", rules(before) != rules(now)),
        ("settings of tokens", of(before, "jwt") != of(now, "jwt")),
        ("settings of a check over HTTP", of(before, "outside") != of(now, "outside")),
    ];
    let changed: Vec<&str> = changed.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name).collect();
    if changed.is_empty() { is } else { format!("{is}; changed: {}", changed.join(", ")) }
}

/// Users and rules, and who else is asked, for the audit trail.
pub(crate) fn counts(access: &Access) -> Json {
    let counts = Counts::of(access);
    let others = [("jwt", "jwt"), ("http", "outside")].into_iter().filter(|(_, key)| !access.0["auth"][*key].is_null());
    let others: Vec<&str> = others.map(|(name, _)| name).collect();
    json!({ "users": counts.users, "rules": counts.rules, "others": others })
}

/// From these to those, for the audit trail: counts, users by name, and which other parts of `[auth]`.
fn access_changes(before: &Access, now: &Access) -> Json {
    let (was, is) = (users(before), users(now));
    let names = |found: Vec<&str>| found.into_iter().take(NAMES_MAX).map(Json::from).collect::<Vec<_>>();
    let mut fields = counts(now);
    fields["before"] = counts(before);
    fields["users_added"] = names(is.keys().filter(|name| !was.contains_key(*name)).copied().collect()).into();
    fields["users_removed"] = names(was.keys().filter(|name| !is.contains_key(*name)).copied().collect()).into();
    let is_changed = |(name, user): &(&&str, &&Json)| was.get(**name).is_some_and(|other| other != *user);
    fields["users_changed"] = names(is.iter().filter(is_changed).map(|(name, _)| *name).collect()).into();
    fields["rules_changed"] = (rules(before) != rules(now)).into();
    let sections = [("jwt", "jwt"), ("http", "outside"), ("certificates", "certificates")];
    let others = sections.into_iter().filter(|(_, key)| before.0["auth"][*key] != now.0["auth"][*key]);
    fields["auth_changed"] = others.map(|(name, _)| name).collect::<Vec<_>>().into();
    fields
}

fn users(access: &Access) -> std::collections::BTreeMap<&str, &Json> {
    let users = access.0["auth"]["users"].as_array().map(Vec::as_slice).unwrap_or_default();
    users.iter().filter_map(|user| Some((user["name"].as_str()?, user))).collect()
}

fn rules(access: &Access) -> &[Json] {
    access.0["rules"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Tables of groups that are new or changed, and null for those that are gone.
fn changed(before: &Map<String, Json>, now: &Map<String, Json>) -> Map<String, Json> {
    let new = now.iter().filter(|(name, table)| before.get(*name) != Some(*table));
    let gone = before.keys().filter(|name| !now.contains_key(*name)).map(|name| (name.clone(), Json::Null));
    new.map(|(name, table)| (name.clone(), table.clone())).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::load_file;

    fn loaded(text: &str) -> Configuration {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("lapwing.toml");
        std::fs::write(&file, text).expect("written");
        std::fs::write(folder.path().join("users.toml"), "[users.a]\n[users.b]\n").expect("written");
        load_file(&file).expect("it is right")
    }

    const ALLOW: &str = "[[rules]]\nidentity = \"*\"\nmay = [\"publish\"]\ntopics = [\"#\"]\n";
    const DENY: &str = "[[rules]]\nidentity = \"*\"\nmay = [\"publish\"]\ntopics = [\"a\"]\neffect = \"deny\"\n";

    const TABLES: &str = "[topics.\"a/#\"]\ndurability = \"disk\"\n[groups.alarms]\nfilters = [\"a/#\"]\n";

    /// Is the beginning of the file in force refused where it lacks any of what a reload takes over, and is it taken with a
    /// line more, or where it lacks a comment?
    #[test]
    fn a_file_that_was_cut_off_changes_nothing() {
        let data = "[broker]\ndata = \"d\"\n";
        let whole = loaded(&format!("{data}{ALLOW}{DENY}{TABLES}# the end\n"));
        let denied = format!("{data}{ALLOW}{DENY}");
        let cuts = [
            (format!("{data}{ALLOW}"), "rules, groups, topics"),
            (denied.replace("effect = \"deny\"\n", ""), "rules, groups, topics"),
            (denied.clone(), "about groups, topics"),
            (format!("{denied}{}", &TABLES[..TABLES.find("[groups").expect("it is there")]), "about groups:"),
            (format!("{denied}{}", &TABLES[..TABLES.find("filters").expect("it is there")]), "about groups:"),
        ];
        for (cut, lacking) in cuts {
            let fault = check_not_cut_off(&whole, &loaded(&cut)).expect_err(&cut).to_string();
            assert!(fault.contains(lacking), "{fault}");
            assert_eq!(check_not_cut_off(&whole, &loaded(&format!("{cut}# that is meant\n"))), Ok(()));
        }
        assert_eq!(check_not_cut_off(&whole, &loaded(&format!("{denied}{TABLES}"))), Ok(()));
        assert!(check_not_cut_off(&loaded(&format!("{ALLOW}{ALLOW}")), &loaded(ALLOW)).is_err());
        let groups = &TABLES[TABLES.find("[groups").expect("it is there")..];
        assert!(check_not_cut_off(&loaded(groups), &loaded("")).is_err(), "there is nothing that needs a word");
    }

    /// Does nobody's last user or rule go without a word?
    #[test]
    fn what_was_closed_stays_closed_without_a_word() {
        let (open, closed) = (loaded(""), loaded(&format!("[auth]\nusers = \"users.toml\"\n{ALLOW}")));
        let fault = check_still_closed(&closed, &open).expect_err("users are gone").to_string();
        assert!(
            fault.contains("2 users, 1 rule are in force, and what was read has no users file, 0 rules"),
            "{fault}"
        );
        assert_eq!(check_still_closed(&closed, &loaded("[auth]\nno_users = true\nno_rules = true\n")), Ok(()));
        assert_eq!(check_still_closed(&open, &closed), Ok(()));
        assert_eq!(change_words(&open.access, &closed.access), "no users file, 0 rules before, 2 users, 1 rule now");
        let added = access_changes(&open.access, &closed.access);
        assert_eq!(added["users_added"], json!(["a", "b"]));
        assert_eq!(added["rules_changed"], json!(true));
        assert_eq!((&added["auth_changed"], &added["others"]), (&json!([]), &json!([])));
        let asks = |port: u16| loaded(&format!("[auth.http]\nurl = \"http://127.0.0.1:{port}/secret-path\"\n"));
        let elsewhere = access_changes(&asks(1).access, &asks(2).access);
        assert_eq!((&elsewhere["auth_changed"], &elsewhere["others"]), (&json!(["http"]), &json!(["http"])));
        assert!(!elsewhere.to_string().contains("secret-path"), "it may have a secret in it");
    }

    #[test]
    fn groups_that_are_gone_are_null() {
        let one = loaded("[groups.a]\n[groups.b]\nworkers = 2\n[groups.d]\n");
        let found = changed(&one.groups, &loaded("[groups.b]\nworkers = 3\n[groups.c]\n[groups.d]\n").groups);
        let names: Vec<(&str, bool)> = found.iter().map(|(name, table)| (name.as_str(), table.is_null())).collect();
        assert_eq!(names, [("a", true), ("b", false), ("c", false)]);
    }
}
