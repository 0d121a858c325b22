//! Rules: who may do what. What no rule permits is refused, once there is at least one.

use crate::error::AccessError;
use crate::rights::Permits;
use crate::template::{Template, TemplateError};
use crate::{Effect, Identity, Right, Rights, RuleConfig, wildcard};

/// The name under which rules speak of those without one.
pub(crate) const ANONYMOUS: &str = "anonymous";

/// All rules, checked.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    who: Who,
    may: Vec<Right>,
    topics: Vec<Template>,
    streams: Vec<String>,
    effect: Effect,
}

#[derive(Clone, Debug)]
enum Who {
    Anonymous,
    /// A name with wildcards.
    Named(String),
}

impl Who {
    fn is(&self, identity: &Identity) -> bool {
        match (self, identity.name()) {
            (Who::Anonymous, None) => true,
            (Who::Named(pattern), Some(name)) => wildcard::matches(pattern, name),
            _ => false,
        }
    }
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
    pub fn rights(&self, identity: &Identity, client_id: Option<&str>) -> Option<Rights> {
        if self.rules.is_empty() {
            return None;
        }
        let mut rights = Rights::default();
        for rule in self.rules.iter().filter(|rule| rule.who.is(identity)) {
            for template in &rule.topics {
                let filter = template.fill(client_id, identity.name());
                rights.void += u32::from(filter.is_none());
                for (right, permits) in
                    [(Right::Publish, &mut rights.publish), (Right::Subscribe, &mut rights.subscribe)]
                {
                    if rule.may.contains(&right) {
                        permits.add(rule.effect, filter.clone());
                    }
                }
            }
        }
        Some(rights)
    }

    /// Whether somebody may do something: publish to a topic, subscribe to a filter, read a stream, be told of publishers,
    /// observe or administer (`what` does not matter for the last three).
    pub fn may(&self, identity: &Identity, right: Right, what: &str) -> bool {
        if self.rules.is_empty() {
            return true;
        }
        match right {
            Right::Publish => self.rights(identity, None).is_none_or(|rights| rights.may_publish(what)),
            Right::Subscribe => self.rights(identity, None).is_none_or(|rights| rights.may_subscribe(what)),
            Right::Stream => self.permit(identity, right, |rule| rule.has_stream(what)),
            Right::Observe => {
                let is_permitted = self.permit(identity, right, |_| true) || self.may(identity, Right::Admin, what);
                is_permitted && !self.say(Effect::Deny, identity, right, |_| true)
            }
            Right::Envelope | Right::Admin => self.permit(identity, right, |_| true),
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
    fn add(&mut self, effect: Effect, filter: Option<std::sync::Arc<str>>) {
        match (effect, filter) {
            (Effect::Allow, Some(filter)) => self.allow.push(filter),
            (Effect::Allow, None) => {}
            (Effect::Deny, Some(filter)) => self.deny.push(filter),
            (Effect::Deny, None) => self.deny_all = true,
        }
    }
}

impl Rule {
    fn new(key: &str, config: &RuleConfig) -> Result<Self, AccessError> {
        check_shape(key, config)?;
        let who = match &*config.identity {
            ANONYMOUS => Who::Anonymous,
            name => Who::Named(name.to_owned()),
        };
        let mut topics = Vec::with_capacity(config.topics.len());
        for (n, text) in config.topics.iter().enumerate() {
            let key = format!("{key}.topics.{n}");
            let template = Template::parse(text).map_err(|error| template_error(&key, text, error))?;
            if matches!(who, Who::Anonymous) && template.names_user() {
                let what = format!("\"{text}\" has %u, and the anonymous have no user name");
                return Err(AccessError::new(key, what, "Use %c, or name an identity."));
            }
            topics.push(template);
        }
        Ok(Rule { who, may: config.may.clone(), topics, streams: config.streams.clone(), effect: config.effect })
    }

    fn has_stream(&self, name: &str) -> bool {
        self.streams.iter().any(|pattern| wildcard::matches(pattern, name))
    }
}

/// Whether the rule says of whom, what, and about what: a rule that is about nothing is a mistake.
fn check_shape(key: &str, config: &RuleConfig) -> Result<(), AccessError> {
    let error = |name: &str, what: &str, remedy| Err(AccessError::new(format!("{key}.{name}"), what, remedy));
    let wants_topics = config.may.iter().any(|right| matches!(right, Right::Publish | Right::Subscribe));
    let wants_streams = config.may.contains(&Right::Stream);
    if config.identity.is_empty() {
        return error("identity", "is empty", "Name a user, \"*\" for everybody with a name, or \"anonymous\".");
    }
    if config.may.is_empty() {
        return error("may", "is empty", "List at least one of publish, subscribe, stream, envelope, observe, admin.");
    }
    if wants_topics == config.topics.is_empty() {
        let what = if wants_topics { "is empty" } else { "is set, but the rule is not about topics" };
        return error("topics", what, "Give topics with publish or subscribe, and only then.");
    }
    if wants_streams == config.streams.is_empty() {
        let what = if wants_streams { "is empty" } else { "is set, but the rule is not about streams" };
        return error("streams", what, "Give streams with stream, and only then.");
    }
    Ok(())
}

fn template_error(key: &str, text: &str, error: TemplateError) -> AccessError {
    let (what, remedy) = match error {
        TemplateError::Percent => ("has % without c, u or % behind it".to_owned(), "Write %% for a percent sign."),
        TemplateError::Shared => ("is a shared filter".to_owned(), "Name the topics behind $share/GROUP/."),
        TemplateError::Filter(error) => {
            (format!("is no topic filter: {error}"), "Write a topic filter, as a/+/b or a/#.")
        }
    };
    AccessError::new(key, format!("\"{text}\" {what}"), remedy)
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
        ] {
            let error = Rules::new(&[serde_json::from_str(json).unwrap()]).unwrap_err();
            assert_eq!(error.key, key, "{json}: {error}");
            assert!(!error.what.is_empty() && !error.remedy.is_empty());
        }
    }
}
