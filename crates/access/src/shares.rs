//! Which consumer groups may take the messages of a permitted topic, and which may not those of a forbidden one.

use std::sync::Arc;

use crate::Effect;
use crate::name_pattern::{NamePattern, any_matches};

/// The share names that a topic filter of a rule is about, for one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shares {
    /// Every one, and no share name at all.
    Any,
    /// Those that match one of these.
    Named(Arc<[Box<str>]>),
}

impl Shares {
    /// Whether a permission reaches so far; `group`: `None` for a subscription of one's own, which no list of groups bounds.
    pub(crate) fn permits(&self, group: Option<&str>) -> bool {
        match (self, group) {
            (Shares::Any, _) | (_, None) => true,
            (Shares::Named(names), Some(group)) => any_matches(names, group),
        }
    }

    /// Whether a denial reaches so far: with a list of groups it is about these, and leaves subscriptions of one's own alone.
    pub(crate) fn denies(&self, group: Option<&str>) -> bool {
        match (self, group) {
            (Shares::Any, _) => true,
            (Shares::Named(_), None) => false,
            (Shares::Named(names), Some(group)) => any_matches(names, group),
        }
    }
}

/// The `groups` of a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupNames {
    /// `None`: the rule has none, and is about all.
    patterns: Option<Vec<NamePattern>>,
    /// What they come to, when there is nothing to fill in: shared by all clients.
    plain: Option<Arc<[Box<str>]>>,
}

impl GroupNames {
    pub(crate) fn new(patterns: Option<Vec<NamePattern>>) -> Self {
        let plain = |patterns: &Vec<NamePattern>| {
            let is_plain = patterns.iter().all(NamePattern::is_plain);
            is_plain.then(|| patterns.iter().filter_map(|pattern| pattern.fill(None, None)).collect())
        };
        let plain = patterns.as_ref().and_then(plain);
        GroupNames { patterns, plain }
    }

    /// Those for one client, and how many could not be filled in. One of a denial that could not may be about any group.
    pub(crate) fn fill(&self, effect: Effect, client_id: Option<&str>, username: Option<&str>) -> (Shares, u32) {
        let Some(patterns) = &self.patterns else { return (Shares::Any, 0) };
        if let Some(plain) = &self.plain {
            return (Shares::Named(plain.clone()), 0);
        }
        let mut names: Vec<Box<str>> =
            patterns.iter().filter_map(|pattern| pattern.fill(client_id, username)).collect();
        let void = patterns.len() - names.len();
        if void > 0 && effect == Effect::Deny {
            names.push("*".into());
        }
        (Shares::Named(names.into()), u32::try_from(void).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patterns: &[&str]) -> GroupNames {
        GroupNames::new(Some(patterns.iter().map(|text| NamePattern::parse(text).unwrap()).collect()))
    }

    #[test]
    fn a_list_bounds_groups_and_not_subscriptions_of_ones_own() {
        let (named, _) = names(&["alarms", "team-*"]).fill(Effect::Allow, None, None);
        let (none, _) = names(&[]).fill(Effect::Allow, None, None);
        let (any, _) = GroupNames::default().fill(Effect::Allow, None, None);
        for (group, by_name, by_none) in [
            (None, true, true),
            (Some("alarms"), true, false),
            (Some("team-1"), true, false),
            (Some("x"), false, false),
        ] {
            assert_eq!([named.permits(group), none.permits(group), any.permits(group)], [by_name, by_none, true]);
            assert_eq!([named.denies(group), any.denies(group)], [by_name && group.is_some(), true]);
        }
    }

    /// What cannot be filled in: does it permit no group, and forbid each?
    #[test]
    fn void_patterns_permit_nothing_and_deny_every_group() {
        let groups = names(&["%c-x", "ok"]);
        let fill = |effect| groups.fill(effect, Some("a*"), Some("u"));
        let (allow, void) = fill(Effect::Allow);
        assert_eq!(void, 1);
        assert!(allow.permits(Some("ok")) && !allow.permits(Some("ab-x")) && !allow.permits(Some("a*-x")));
        let (deny, _) = fill(Effect::Deny);
        assert!(deny.denies(Some("ok")) && deny.denies(Some("anything")) && !deny.denies(None));
    }
}
