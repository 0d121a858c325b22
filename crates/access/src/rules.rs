//! Rules: who may do what. What no rule permits is refused, once there is at least one.

use crate::error::AccessError;
use crate::rights::{Pattern, Permits};
use crate::rule::Rule;
use crate::{Effect, Identity, OwnRules, Right, Rights, RuleConfig};

/// All rules, checked.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Reads rules.
    ///
    /// # Errors
    /// The first one that is wrong: its key (`rules.0.topics.1`), what is wrong, what to do.
    pub fn new(rules: &[RuleConfig]) -> Result<Self, AccessError> {
        let rules = rules.iter().enumerate().map(|(n, rule)| Rule::new(&format!("rules.{n}"), rule));
        Ok(Rules { rules: rules.collect::<Result<_, _>>()? })
    }

    /// What a client may publish and subscribe to; `None`: anything, because there are no rules.
    ///
    /// `client_id`: `None` for somebody who comes without one, over HTTP.
    /// Rules that came with the identity permit and forbid beside these.
    pub fn rights(&self, identity: &Identity, client_id: Option<&str>) -> Option<Rights> {
        let own = identity.own_rules();
        if self.rules.is_empty() && !own.are_there() {
            return None;
        }
        let mut rights = Rights::default();
        self.add_to(&mut rights, identity, client_id);
        match own {
            OwnRules::None => {}
            OwnRules::These(own) => own.add_to(&mut rights, identity, client_id),
            OwnRules::Lost => (rights.publish.allow_all, rights.subscribe.allow_all) = (true, true),
        }
        rights.bridge = self.may(identity, Right::Bridge, "");
        Some(rights)
    }

    fn add_to(&self, rights: &mut Rights, identity: &Identity, client_id: Option<&str>) {
        for rule in self.rules.iter().filter(|rule| rule.who.is(identity)) {
            let (shares, void) = rule.groups.fill(rule.effect, client_id, identity.name());
            rights.void += void;
            for template in &rule.topics {
                let filter = template.fill(client_id, identity.name());
                rights.void += u32::from(filter.is_none());
                let pattern = filter.map(|filter| Pattern { filter, shares: shares.clone() });
                for (right, permits) in
                    [(Right::Publish, &mut rights.publish), (Right::Subscribe, &mut rights.subscribe)]
                {
                    if rule.may.contains(&right) {
                        permits.add(rule.effect, pattern.clone());
                    }
                }
            }
        }
    }

    /// Whether a client of this identity may have a client id; `is_given`: the broker has made it up, and only a denial counts.
    ///
    /// For whom a rule permits client ids may have those, and no other. Everybody else may have any that no such rule has for
    /// somebody else.
    pub fn may_connect(&self, identity: &Identity, client_id: &str, is_given: bool) -> bool {
        let (mut is_bound, mut is_permitted, mut is_anothers) = (false, false, false);
        for rule in self.rules.iter().filter(|rule| rule.may.contains(&Right::Connect)) {
            match (rule.who.is(identity), rule.effect) {
                (true, Effect::Deny) if rule.has_client_id(identity, client_id) => return false,
                (true, Effect::Allow) => {
                    is_bound = true;
                    is_permitted |= rule.has_client_id(identity, client_id);
                }
                (false, Effect::Allow) => is_anothers |= rule.reserves(client_id),
                (_, Effect::Deny) => {}
            }
        }
        is_given || if is_bound { is_permitted } else { !is_anothers }
    }

    /// Whether there are any.
    pub fn are_there(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether somebody may do something: connect with a client id, publish to a topic, subscribe to a filter, read a stream,
    /// be told of publishers, be a bridge, observe or administer (`what` does not matter for the last four). Without rules
    /// anything, but what rules that came with the identity leave out.
    pub fn may(&self, identity: &Identity, right: Right, what: &str) -> bool {
        if !self.are_there() {
            // Whoever came with rules of its own has what they permit, and they speak of topics only.
            return !(matches!(right, Right::Envelope | Right::Bridge) && identity.own_rules().are_there());
        }
        match right {
            Right::Connect => self.may_connect(identity, what, false),
            Right::Publish => self.rights(identity, None).is_none_or(|rights| rights.may_publish(what)),
            Right::Subscribe => self.rights(identity, None).is_none_or(|rights| rights.may_subscribe(what)),
            Right::Stream => self.permit(identity, right, |rule| rule.has_stream(what)),
            Right::Observe => {
                let is_permitted = self.permit(identity, right, |_| true) || self.may(identity, Right::Admin, what);
                is_permitted && !self.say(Effect::Deny, identity, right, |_| true)
            }
            Right::Envelope | Right::Bridge | Right::Admin => self.permit(identity, right, |_| true),
        }
    }

    fn permit(&self, identity: &Identity, right: Right, is_about: impl Fn(&Rule) -> bool) -> bool {
        self.say(Effect::Allow, identity, right, &is_about) && !self.say(Effect::Deny, identity, right, &is_about)
    }

    /// Whether some rule has this effect.
    fn say(&self, effect: Effect, identity: &Identity, right: Right, is_about: impl Fn(&Rule) -> bool) -> bool {
        let mut rules = self.rules.iter().filter(|rule| rule.effect == effect && rule.may.contains(&right));
        rules.any(|rule| rule.who.is(identity) && is_about(rule))
    }
}

impl Permits {
    fn add(&mut self, effect: Effect, pattern: Option<Pattern>) {
        match (effect, pattern) {
            (Effect::Allow, Some(pattern)) => self.allow.push(pattern),
            (Effect::Allow, None) => {}
            (Effect::Deny, Some(pattern)) => self.deny.push(pattern),
            (Effect::Deny, None) => self.deny_all = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Voucher;

    fn rules(json: &str) -> Rules {
        Rules::new(&serde_json::from_str::<Vec<RuleConfig>>(json).unwrap()).unwrap()
    }

    fn named(name: &str) -> Identity {
        Identity::named(name, Voucher::Users)
    }

    #[test]
    fn no_rules_no_restrictions() {
        let rules = Rules::default();
        assert_eq!(rules.rights(&Identity::ANONYMOUS, Some("c")), None);
        assert!(rules.may(&Identity::ANONYMOUS, Right::Admin, ""));
    }

    #[test]
    fn a_rule_is_about_those_it_names() {
        let rules = rules(
            r#"[{"identity": "device-*", "may": ["publish"], "topics": ["d/%c/up"]},
                {"identity": "*", "may": ["subscribe"], "topics": ["news/#"]},
                {"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["hello"]}]"#,
        );
        let device = rules.rights(&named("device-7"), Some("c7")).unwrap();
        assert!(device.may_publish("d/c7/up") && device.may_subscribe("news/x"));
        assert!(!device.may_publish("d/c8/up") && !device.may_subscribe("d/c7/up") && !device.may_publish("hello"));
        let nobody = rules.rights(&Identity::ANONYMOUS, Some("c7")).unwrap();
        assert!(nobody.may_publish("hello") && nobody.may_subscribe("hello"));
        assert!(!nobody.may_publish("d/c7/up") && !nobody.may_subscribe("news/x"));
        let liar = rules.rights(&named("anonymous"), Some("c")).unwrap();
        assert!(!liar.may_publish("hello"), "who is called anonymous is not");
    }

    #[test]
    fn a_pattern_that_a_name_would_change_is_void() {
        let rules = rules(
            r#"[{"identity": "*", "may": ["publish", "subscribe"], "topics": ["d/%c/#", "all"]},
                {"identity": "*", "may": ["publish"], "topics": ["locked/%u"], "effect": "deny"}]"#,
        );
        let evil = rules.rights(&named("alice"), Some("+")).unwrap();
        assert_eq!(evil.void_patterns(), 1);
        assert!(!evil.may_subscribe("d/+/#") && !evil.may_subscribe("d/x/#") && !evil.may_publish("d/+/a"));
        assert!(evil.may_publish("all"));
        let evil = rules.rights(&named("a/b"), Some("c")).unwrap();
        assert!(!evil.may_publish("all"), "the denial could not be filled in");
        assert!(evil.may_subscribe("all"), "it was not about subscribing");
    }

    /// Who may read a topic: does it join only the groups that its rule has, its own by name too?
    #[test]
    fn a_rule_names_the_groups_that_may_take_its_messages() {
        let rules = rules(
            r#"[{"identity": "*", "may": ["subscribe"], "topics": ["a/#"], "groups": ["team-*", "%u-*"]},
                {"identity": "*", "may": ["subscribe"], "topics": ["open/#"]},
                {"identity": "*", "may": ["subscribe"], "topics": ["alone/#"], "groups": []},
                {"identity": "*", "may": ["subscribe"], "topics": ["+/#"], "groups": ["team-secret"], "effect": "deny"}]"#,
        );
        let alice = rules.rights(&named("alice"), Some("c")).unwrap();
        for filter in ["a/b", "$share/team-1/a/+", "$share/alice-x/a/b", "$share/any/open/x", "open/#", "alone/x"] {
            assert!(alice.may_subscribe(filter), "{filter}");
        }
        for filter in ["$share/alarms/a/b", "$share/bob-x/a/b", "$share/team-secret/a/b", "$share/g/alone/x"] {
            assert!(!alice.may_subscribe(filter), "{filter}");
        }
        assert!(!alice.may_subscribe("$share/team-secret/open/x"), "a denial holds for other rules' topics too");
        let star = rules.rights(&named("*"), Some("c")).unwrap();
        assert!(!star.may_subscribe("$share/x-y/a/b") && star.void_patterns() == 1);
    }

    /// Has a bound identity its client ids and no other, and nobody those that are another's?
    #[test]
    fn client_ids_belong_to_whom_a_rule_gives_them() {
        let rules = rules(
            r#"[{"identity": "device-*", "may": ["connect"], "client_ids": ["%u", "%u/*"]},
                {"identity": "alice", "may": ["connect"], "client_ids": ["*"]},
                {"identity": "alice", "may": ["connect"], "client_ids": ["bob*"], "effect": "deny"},
                {"identity": "eve", "may": ["connect"], "client_ids": ["*"], "effect": "deny"}]"#,
        );
        let may = |name: &str, id: &str| rules.may_connect(&named(name), id, false);
        for (name, id, expected) in [
            ("device-7", "device-7", true),
            ("device-7", "device-7/a/b", true),
            ("device-7", "device-8", false),
            ("device-7", "x", false),
            ("alice", "device-7", true),
            ("alice", "bobby", false),
            ("bob", "device-7/x", false),
            ("bob", "bob", true),
            ("device-*", "device-*", false),
            ("eve", "x", false),
        ] {
            assert_eq!(may(name, id), expected, "{name} as {id}");
        }
        assert!(!rules.may_connect(&Identity::ANONYMOUS, "device-7", false));
        assert!(rules.may_connect(&Identity::ANONYMOUS, "anything", false));
        assert!(
            rules.may_connect(&named("device-7"), "given", true) && !rules.may_connect(&named("eve"), "given", true)
        );
        assert!(Rules::default().may_connect(&named("bob"), "x", false));
    }

    #[test]
    fn streams_and_administration() {
        let rules = rules(
            r#"[{"identity": "spark", "may": ["stream"], "streams": ["read*", "secret"]},
                {"identity": "*", "may": ["stream"], "streams": ["secret"], "effect": "deny"},
                {"identity": "root", "may": ["admin"]}]"#,
        );
        assert!(rules.may(&named("spark"), Right::Stream, "readings"));
        assert!(!rules.may(&named("spark"), Right::Stream, "secret") && !rules.may(&named("spark"), Right::Admin, ""));
        assert!(!rules.may(&named("eve"), Right::Stream, "readings") && rules.may(&named("root"), Right::Admin, ""));
        assert!(!rules.may(&Identity::ANONYMOUS, Right::Stream, "readings"));
    }

    /// Who administers sees too, unless that is denied; who only sees changes nothing.
    #[test]
    fn seeing_is_less_than_administering() {
        let rules = rules(
            r#"[{"identity": "prometheus", "may": ["observe"]},
                {"identity": "root*", "may": ["admin"]},
                {"identity": "root-blind", "may": ["observe"], "effect": "deny"}]"#,
        );
        let may = |name: &str| [Right::Observe, Right::Admin].map(|right| rules.may(&named(name), right, ""));
        assert_eq!(may("prometheus"), [true, false]);
        assert_eq!(may("root"), [true, true]);
        assert_eq!(may("root-blind"), [false, true]);
        assert_eq!(may("eve"), [false, false]);
        assert!(!rules.may(&Identity::ANONYMOUS, Right::Observe, ""));
    }

    /// Is nobody told of publishers whom no rule names, an administrator neither?
    #[test]
    fn publishers_are_told_of_by_rule_only() {
        let rules = rules(
            r#"[{"identity": "bridge*", "may": ["envelope"]},
                {"identity": "root", "may": ["admin"]},
                {"identity": "bridge-guest", "may": ["envelope"], "effect": "deny"}]"#,
        );
        let may = |name: &str| rules.may(&named(name), Right::Envelope, "");
        assert_eq!(["bridge-1", "bridge-guest", "root", "eve"].map(may), [true, false, false, false]);
        assert!(!rules.may(&Identity::ANONYMOUS, Right::Envelope, ""));
        assert!(Rules::default().may(&Identity::ANONYMOUS, Right::Envelope, ""));
    }

    /// Does being a bridge need its right, and the topic of its state a permission as every topic?
    #[test]
    fn bridges_are_named_by_rules_and_may_publish_what_rules_permit() {
        let rules = rules(
            r##"[{"identity": "site-*", "may": ["bridge"]},
                {"identity": "*", "may": ["publish"], "topics": ["#", "$SYS/broker/connection/%u/state"]},
                {"identity": "site-guest", "may": ["bridge"], "effect": "deny"}]"##,
        );
        let is_bridge = |name: &str| {
            let rights = rules.rights(&named(name), Some("c")).unwrap();
            assert_eq!(rights.is_bridge(), rules.may(&named(name), Right::Bridge, ""), "{name}");
            rights.is_bridge()
        };
        assert_eq!(["site-1", "site-guest", "eve"].map(is_bridge), [true, false, false]);
        let site = rules.rights(&named("site-1"), Some("c")).unwrap();
        assert!(site.may_publish("$SYS/broker/connection/site-1/state"));
        assert!(!site.may_publish("$SYS/broker/connection/site-2/state"));
        assert!(Rules::default().may(&Identity::ANONYMOUS, Right::Bridge, ""));
    }

    #[test]
    fn wrong_rules_name_their_key() {
        for (json, key) in [
            (r#"{"identity": "", "may": ["admin"]}"#, "rules.0.identity"),
            (r#"{"identity": "a", "may": []}"#, "rules.0.may"),
            (r#"{"identity": "a", "may": ["publish"]}"#, "rules.0.topics"),
            (r#"{"identity": "a", "may": ["admin"], "topics": ["a"]}"#, "rules.0.topics"),
            (r#"{"identity": "a", "may": ["stream"]}"#, "rules.0.streams"),
            (r#"{"identity": "a", "may": ["publish"], "topics": ["a"], "streams": ["s"]}"#, "rules.0.streams"),
            (r#"{"identity": "a", "may": ["publish"], "topics": ["ok", "a/#/b"]}"#, "rules.0.topics.1"),
            (r#"{"identity": "a", "may": ["publish"], "topics": ["%d"]}"#, "rules.0.topics.0"),
            (r#"{"identity": "a", "may": ["subscribe"], "topics": ["$share/g/a"]}"#, "rules.0.topics.0"),
            (r#"{"identity": "anonymous", "may": ["publish"], "topics": ["%u"]}"#, "rules.0.topics.0"),
            (r#"{"identity": "a", "may": ["publish"], "topics": ["a"], "groups": ["g"]}"#, "rules.0.groups"),
            (r#"{"identity": "a", "may": ["admin"], "groups": []}"#, "rules.0.groups"),
            (
                r#"{"identity": "a", "may": ["subscribe"], "topics": ["a"], "groups": [], "effect": "deny"}"#,
                "rules.0.groups",
            ),
            (
                r#"{"identity": "a", "may": ["publish", "subscribe"], "topics": ["a"], "groups": ["g"], "effect": "deny"}"#,
                "rules.0.groups",
            ),
            (r#"{"identity": "a", "may": ["subscribe"], "topics": ["a"], "groups": ["g", "a/b"]}"#, "rules.0.groups.1"),
            (r#"{"identity": "a", "may": ["subscribe"], "topics": ["a"], "groups": ["%x"]}"#, "rules.0.groups.0"),
            (r#"{"identity": "a", "may": ["subscribe"], "topics": ["a"], "groups": [""]}"#, "rules.0.groups.0"),
            (
                r#"{"identity": "anonymous", "may": ["subscribe"], "topics": ["a"], "groups": ["%u"]}"#,
                "rules.0.groups.0",
            ),
            (r#"{"identity": "a", "may": ["connect"]}"#, "rules.0.client_ids"),
            (r#"{"identity": "a", "may": ["admin"], "client_ids": ["a"]}"#, "rules.0.client_ids"),
            (r#"{"identity": "a", "may": ["connect"], "client_ids": ["a", "%c"]}"#, "rules.0.client_ids.1"),
            (r#"{"identity": "anonymous", "may": ["connect"], "client_ids": ["%u"]}"#, "rules.0.client_ids.0"),
        ] {
            let error = Rules::new(&[serde_json::from_str(json).unwrap()]).unwrap_err();
            assert_eq!(error.key, key, "{json}: {error}");
            assert!(!error.what.is_empty() && !error.remedy.is_empty());
        }
    }
}
