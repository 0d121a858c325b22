//! What one client may do: the rules with its names filled in.

use std::sync::Arc;

use lapwing_codec::topic::{SharedFilter, matches};

use crate::shares::Shares;
use crate::{covers, overlaps};

/// What one client may publish and subscribe to. Made by [`crate::Rules::rights`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    pub(crate) publish: Permits,
    pub(crate) subscribe: Permits,
    /// Whether it may be another broker.
    pub(crate) bridge: bool,
    /// Patterns that could not be filled in with this client's names.
    pub(crate) void: u32,
}

/// Topic filters that are permitted, and those that are forbidden whatever is permitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permits {
    pub(crate) allow: Vec<Pattern>,
    pub(crate) deny: Vec<Pattern>,
    /// A denial could not be filled in: nobody knows what it was to protect.
    pub(crate) deny_all: bool,
    /// What permits is not known any more: only denials count.
    pub(crate) allow_all: bool,
}

/// A topic filter of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) filter: Arc<str>,
    /// The groups that it is about; means nothing to publishers.
    pub(crate) shares: Shares,
}

impl Rights {
    /// Whether a message may be published to `topic`, a valid topic name with any alias resolved.
    pub fn may_publish(&self, topic: &str) -> bool {
        let Permits { allow, deny, deny_all, allow_all } = &self.publish;
        !deny_all
            && (*allow_all || allow.iter().any(|pattern| matches(&pattern.filter, topic)))
            && !deny.iter().any(|pattern| matches(&pattern.filter, topic))
    }

    /// Whether `filter`, valid, may be subscribed to: one permitted pattern covers it, and no topic that it matches is
    /// forbidden. Of `$share/GROUP/FILTER` FILTER counts so, and the permission has to be about GROUP too.
    pub fn may_subscribe(&self, filter: &str) -> bool {
        let Ok(shared) = SharedFilter::parse(filter) else { return false };
        let (group, filter) = shared.map_or((None, filter), |shared| (Some(shared.group), shared.filter));
        let Permits { allow, deny, deny_all, allow_all } = &self.subscribe;
        let is_permitted = |pattern: &Pattern| pattern.shares.permits(group) && covers(&pattern.filter, filter);
        !deny_all
            && (*allow_all || allow.iter().any(is_permitted))
            && !deny.iter().any(|pattern| pattern.shares.denies(group) && overlaps(&pattern.filter, filter))
    }

    /// Whether it may be another broker.
    pub const fn is_bridge(&self) -> bool {
        self.bridge
    }

    /// Patterns of rules for this client that permit nothing (or deny everything), because its client id or user name
    /// would change what they mean.
    pub const fn void_patterns(&self) -> u32 {
        self.void
    }
}

/// Whether `topic` is the broker's own: no client may publish there, whatever rules say.
pub fn is_reserved(topic: &str) -> bool {
    // Asked of each message: most are told by their first byte.
    if !topic.starts_with('$') {
        return false;
    }
    let root = topic.split('/').next().unwrap_or_default();
    root == "$SYS" || root == "$lapwing"
}

/// Whether `topic`, a reserved one, is where a bridge of another broker says whether it is connected:
/// `$SYS/broker/connection/NAME/state`, as Mosquitto's do. NAME may have levels; it is their client id.
pub fn is_bridge_state(topic: &str) -> bool {
    let name = topic.strip_prefix("$SYS/broker/connection/").and_then(|rest| rest.strip_suffix("/state"));
    name.is_some_and(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(allow: &[&str], deny: &[&str]) -> Permits {
        let pattern = |text: &&str| Pattern { filter: Arc::from(*text), shares: Shares::Any };
        let patterns = |texts: &[&str]| texts.iter().map(pattern).collect();
        Permits { allow: patterns(allow), deny: patterns(deny), ..Permits::default() }
    }

    fn rights(allow: &[&str], deny: &[&str]) -> Rights {
        Rights { publish: permits(allow, deny), subscribe: permits(allow, deny), ..Rights::default() }
    }

    #[test]
    fn what_is_not_permitted_is_refused() {
        let rights = rights(&["a/+", "b/#"], &[]);
        assert!(rights.may_publish("a/x") && rights.may_publish("b") && rights.may_publish("b/x/y"));
        assert!(!rights.may_publish("a") && !rights.may_publish("c"));
        assert!(rights.may_subscribe("a/+") && rights.may_subscribe("b/x/#") && rights.may_subscribe("a/x"));
        assert!(!rights.may_subscribe("a/#") && !rights.may_subscribe("#") && !rights.may_subscribe("+/x"));
        assert!(!Rights::default().may_publish("a") && !Rights::default().may_subscribe("a"));
    }

    #[test]
    fn a_denial_wins() {
        let rights = rights(&["#"], &["secret/#", "+/private"]);
        assert!(rights.may_publish("a/b") && rights.may_subscribe("a/b/+"));
        assert!(!rights.may_publish("secret") && !rights.may_publish("a/private"));
        assert!(!rights.may_subscribe("#"), "it would bring what is forbidden");
        assert!(!rights.may_subscribe("a/+") && !rights.may_subscribe("secret/x"));
    }

    #[test]
    fn a_shared_filter_counts_by_what_is_in_it() {
        let rights = rights(&["a/#"], &[]);
        assert!(rights.may_subscribe("$share/g/a/+"));
        assert!(!rights.may_subscribe("$share/g/b") && !rights.may_subscribe("$share/a/#"));
        assert!(!self::rights(&["#"], &[]).may_subscribe("$share/g"), "not even a filter");
    }

    #[test]
    fn system_topics_need_a_rule_of_their_own_and_are_never_written() {
        assert!(!rights(&["#"], &[]).may_subscribe("$SYS/#"));
        assert!(rights(&["$SYS/#"], &[]).may_subscribe("$SYS/broker/uptime"));
        for (topic, expected) in [
            ("$SYS", true),
            ("$SYS/a", true),
            ("$SYSTEM", false),
            ("a/$SYS/b", false),
            ("$x", false),
            ("$lapwing/report", true),
            ("$lapwings", false),
        ] {
            assert_eq!(is_reserved(topic), expected, "{topic}");
        }
    }

    #[test]
    fn a_bridge_has_one_topic_of_the_brokers() {
        for (topic, expected) in [
            ("$SYS/broker/connection/br-1/state", true),
            ("$SYS/broker/connection/site/br-1/state", true),
            ("$SYS/broker/connection//state", false),
            ("$SYS/broker/connection/state", false),
            ("$SYS/broker/connection/br-1/state/x", false),
            ("$SYS/broker/connections/x/state", false),
            ("$SYS/broker/uptime", false),
            ("x/$SYS/broker/connection/br-1/state", false),
        ] {
            assert_eq!(is_bridge_state(topic), expected, "{topic}");
            assert!(!expected || is_reserved(topic));
        }
    }

    #[test]
    fn a_denial_that_cannot_be_filled_in_denies_everything() {
        let mut rights = rights(&["#"], &[]);
        rights.publish.deny_all = true;
        rights.subscribe.deny_all = true;
        assert!(!rights.may_publish("a") && !rights.may_subscribe("a"));
    }
}
