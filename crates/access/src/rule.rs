//! One rule, checked: of whom it speaks, and what about.

use crate::error::AccessError;
use crate::name_pattern::{NameError, NamePattern, any_matches};
use crate::shares::GroupNames;
use crate::template::{Template, TemplateError};
use crate::{Effect, Identity, Right, RuleConfig, wildcard};

/// The name under which rules speak of those without one.
pub(crate) const ANONYMOUS: &str = "anonymous";

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) who: Who,
    pub(crate) may: Vec<Right>,
    pub(crate) topics: Vec<Template>,
    /// The groups that may take messages of these topics.
    pub(crate) groups: GroupNames,
    streams: Vec<String>,
    client_ids: Vec<NamePattern>,
    /// The client ids of all whom the rule names, where it permits any: patterns.
    reserved: Vec<Box<str>>,
    pub(crate) effect: Effect,
}

/// Of whom a rule speaks.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    Anonymous,
    /// A name with wildcards.
    Named(String),
}

impl Who {
    fn new(identity: &str) -> Self {
        match identity {
            ANONYMOUS => Who::Anonymous,
            name => Who::Named(name.to_owned()),
        }
    }

    pub(crate) fn is(&self, identity: &Identity) -> bool {
        match (self, identity.name()) {
            (Who::Anonymous, None) => true,
            (Who::Named(pattern), Some(name)) => wildcard::matches(pattern, name),
            _ => false,
        }
    }

    /// Whether there is a name for `%u`.
    fn has_name(&self) -> bool {
        matches!(self, Who::Named(_))
    }
}

impl Rule {
    /// Reads a rule; `key`: its place, for what is wrong with it.
    pub(crate) fn new(key: &str, config: &RuleConfig) -> Result<Self, AccessError> {
        check_shape(key, config)?;
        let who = Who::new(&config.identity);
        let topic = |key: &str, text: &String| parse_topic(key, text, &who);
        let topics = parse_all(&format!("{key}.topics"), &config.topics, topic)?;
        let group = |key: &str, text: &String| parse_group(key, text, &who);
        let groups =
            config.groups.as_ref().map(|texts| parse_all(&format!("{key}.groups"), texts, group)).transpose()?;
        let client_id = |key: &str, text: &String| parse_client_id(key, text, &who);
        let client_ids = parse_all(&format!("{key}.client_ids"), &config.client_ids, client_id)?;
        let reserved = match config.effect {
            Effect::Allow => reserved(&config.identity, &client_ids),
            Effect::Deny => Vec::new(),
        };
        Ok(Rule {
            reserved,
            may: config.may.clone(),
            topics,
            groups: GroupNames::new(groups),
            streams: config.streams.clone(),
            client_ids,
            effect: config.effect,
            who,
        })
    }

    pub(crate) fn has_stream(&self, name: &str) -> bool {
        self.streams.iter().any(|pattern| wildcard::matches(pattern, name))
    }

    /// Whether it is about this client id for that identity, of which it speaks. A pattern of a denial that cannot be filled in
    /// is about every one.
    pub(crate) fn has_client_id(&self, identity: &Identity, client_id: &str) -> bool {
        let has = |pattern: &NamePattern| match pattern.fill(None, identity.name()) {
            Some(pattern) => wildcard::matches(&pattern, client_id),
            None => self.effect == Effect::Deny,
        };
        self.client_ids.iter().any(has)
    }

    /// Whether it permits this client id to anybody.
    pub(crate) fn reserves(&self, client_id: &str) -> bool {
        any_matches(&self.reserved, client_id)
    }
}

/// The client ids of all whom `identity` names. Who may have any has none in particular.
fn reserved(identity: &str, client_ids: &[NamePattern]) -> Vec<Box<str>> {
    let own = client_ids.iter().filter(|pattern| !pattern.is_any());
    own.map(|pattern| pattern.for_all_of(identity)).collect()
}

/// Whether the rule says of whom, what, and about what: a rule that is about nothing is a mistake.
fn check_shape(key: &str, config: &RuleConfig) -> Result<(), AccessError> {
    let error = |name: &str, what: &str, remedy| Err(AccessError::new(format!("{key}.{name}"), what, remedy));
    let may = |right| config.may.contains(&right);
    if config.identity.is_empty() {
        return error("identity", "is empty", "Name a user, \"*\" for everybody with a name, or \"anonymous\".");
    }
    if config.may.is_empty() {
        let remedy = "List at least one of connect, publish, subscribe, stream, envelope, bridge, observe, admin.";
        return error("may", "is empty", remedy);
    }
    let subjects = [
        ("topics", may(Right::Publish) || may(Right::Subscribe), &config.topics, TOPICS_REMEDY),
        ("streams", may(Right::Stream), &config.streams, "Give streams with stream, and only then."),
        ("client_ids", may(Right::Connect), &config.client_ids, "Give client_ids with connect, and only then."),
    ];
    for (name, is_wanted, texts, remedy) in subjects {
        if is_wanted == texts.is_empty() {
            let what = if is_wanted { "is empty" } else { "is set, but the rule is not about that" };
            return error(name, what, remedy);
        }
    }
    match &config.groups {
        Some(_) if !may(Right::Subscribe) => error(
            "groups",
            "is set, but the rule is not about subscribing",
            "Give groups with subscribe, and only then.",
        ),
        Some(_) if config.effect == Effect::Deny && may(Right::Publish) => {
            let what = "is set, and the rule forbids to publish too";
            error("groups", what, "Forbid publishing in a rule of its own: it knows no groups.")
        }
        Some(groups) if config.effect == Effect::Deny && groups.is_empty() => {
            error("groups", "is empty, so that the rule forbids nothing", "Name groups, or leave the key out.")
        }
        _ => Ok(()),
    }
}

const TOPICS_REMEDY: &str = "Give topics with publish or subscribe, and only then.";

/// Each of `texts`, under its own key.
fn parse_all<T>(
    key: &str,
    texts: &[String],
    parse: impl Fn(&str, &String) -> Result<T, AccessError>,
) -> Result<Vec<T>, AccessError> {
    texts.iter().enumerate().map(|(n, text)| parse(&format!("{key}.{n}"), text)).collect()
}

fn parse_topic(key: &str, text: &str, who: &Who) -> Result<Template, AccessError> {
    let template = Template::parse(text).map_err(|error| template_error(key, text, error))?;
    check_user(key, text, template.names_user(), who)?;
    Ok(template)
}

fn parse_group(key: &str, text: &str, who: &Who) -> Result<NamePattern, AccessError> {
    let pattern = NamePattern::parse(text).map_err(|error| name_error(key, text, error))?;
    if text.contains(['/', '+', '#']) {
        let what = format!("\"{text}\" has /, + or #, which no share name has");
        return Err(AccessError::new(key, what, "Name the GROUP of $share/GROUP/FILTER, * for any characters."));
    }
    check_user(key, text, pattern.names_user(), who)?;
    Ok(pattern)
}

fn parse_client_id(key: &str, text: &str, who: &Who) -> Result<NamePattern, AccessError> {
    let pattern = NamePattern::parse(text).map_err(|error| name_error(key, text, error))?;
    if pattern.names_client() {
        let what = format!("\"{text}\" has %c, and every client id is as itself");
        return Err(AccessError::new(key, what, "Use %u, or * for any characters."));
    }
    check_user(key, text, pattern.names_user(), who)?;
    Ok(pattern)
}

fn check_user(key: &str, text: &str, names_user: bool, who: &Who) -> Result<(), AccessError> {
    if !names_user || who.has_name() {
        return Ok(());
    }
    let what = format!("\"{text}\" has %u, and the anonymous have no user name");
    Err(AccessError::new(key, what, "Leave it out, or name an identity."))
}

fn name_error(key: &str, text: &str, error: NameError) -> AccessError {
    match error {
        NameError::Empty => AccessError::new(key, "is empty", "Write a name, * for any characters."),
        NameError::Percent => percent_error(key, text),
    }
}

fn template_error(key: &str, text: &str, error: TemplateError) -> AccessError {
    match error {
        TemplateError::Percent => percent_error(key, text),
        TemplateError::Shared => {
            let what = format!("\"{text}\" is a shared filter");
            AccessError::new(key, what, "Name the topics behind $share/GROUP/, and GROUP in groups.")
        }
        TemplateError::Filter(error) => {
            let what = format!("\"{text}\" is no topic filter: {error}");
            AccessError::new(key, what, "Write a topic filter, as a/+/b or a/#.")
        }
    }
}

fn percent_error(key: &str, text: &str) -> AccessError {
    let what = format!("\"{text}\" has % without c, u or % behind it");
    AccessError::new(key, what, "Write %% for a percent sign.")
}
