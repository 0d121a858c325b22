//! Topic filters of rules, with `%c` for the client id, `%u` for the user name and `%%` for `%`.

use std::sync::Arc;

use lapwing_codec::Limits;
use lapwing_codec::topic::{TopicError, validate_filter};

use crate::places::{Places, StrayPercent};

/// A topic filter with places to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    places: Places,
    /// The filter, when there is nothing to fill in: shared by all clients.
    plain: Option<Arc<str>>,
}

/// Why a text is no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateError {
    /// `%` with something else behind it.
    Percent,
    /// `$share/...`: rules speak of the topics behind it.
    Shared,
    /// No topic filter.
    Filter(TopicError),
}

impl Template {
    /// Reads a template. Any value that may be filled in later gives a valid filter.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let places = Places::parse(text).map_err(|StrayPercent| TemplateError::Percent)?;
        // What is filled in is neither empty nor a wildcard nor a level more: a letter stands for it.
        let sample = places.join("x", "x");
        if sample == "$share" || sample.starts_with("$share/") {
            return Err(TemplateError::Shared);
        }
        validate_filter(&sample, &Limits::PROTOCOL).map_err(TemplateError::Filter)?;
        let plain = places.is_plain().then(|| Arc::from(sample));
        Ok(Template { places, plain })
    }

    /// Whether a user name is to be filled in.
    pub(crate) fn names_user(&self) -> bool {
        self.places.names_user()
    }

    /// The filter for one client; `None` when a value is missing, or would make it another filter than it was meant to be.
    pub(crate) fn fill(&self, client_id: Option<&str>, username: Option<&str>) -> Option<Arc<str>> {
        match &self.plain {
            Some(plain) => Some(plain.clone()),
            None => self.places.fill(client_id, username, is_harmless).map(Arc::from),
        }
    }
}

/// Whether `value` stays within its level; at the beginning of a topic a `$` would reach the topics that wildcards do not.
fn is_harmless(value: &str, is_first: bool) -> bool {
    let reaches_out = value.contains(['+', '#', '/', '\0']) || (is_first && value.starts_with('$'));
    !value.is_empty() && !reaches_out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, client_id: &str, username: &str) -> Option<String> {
        let template = Template::parse(template).unwrap();
        template.fill(Some(client_id), Some(username)).map(|filter| filter.to_string())
    }

    #[test]
    fn places_are_filled_in() {
        assert_eq!(filled("spectrum/%c/readings", "d-7", "u").as_deref(), Some("spectrum/d-7/readings"));
        assert_eq!(filled("%u/%c/+/#", "c", "u").as_deref(), Some("u/c/+/#"));
        assert_eq!(filled("room-%c-x", "7", "u").as_deref(), Some("room-7-x"));
        assert_eq!(filled("100%%/%%c", "c", "u").as_deref(), Some("100%/%c"));
        assert_eq!(filled("a/b", "+", "#").as_deref(), Some("a/b"), "nothing is filled in there");
        assert_eq!(Template::parse("%u").unwrap().fill(Some("c"), None), None);
        assert_eq!(Template::parse("%c").unwrap().fill(None, Some("u")), None);
    }

    /// Does a name get more than the level it stands in?
    #[test]
    fn names_do_not_become_wildcards_levels_or_system_topics() {
        for evil in ["+", "#", "a/b", "a+", "/", "", "a\0"] {
            assert_eq!(filled("x/%c/y", evil, "u"), None, "client id {evil:?}");
            assert_eq!(filled("x/%u/y", "c", evil), None, "user name {evil:?}");
        }
        assert_eq!(filled("%c/#", "$SYS", "u"), None);
        assert_eq!(filled("x/%c/#", "$SYS", "u").as_deref(), Some("x/$SYS/#"));
        assert_eq!(filled("x/%c", "%u", "u").as_deref(), Some("x/%u"), "what is filled in is not read again");
    }

    #[test]
    fn what_is_no_filter_is_no_template() {
        let error = |text: &str| Template::parse(text).unwrap_err();
        for text in ["%", "a/%x", "a%"] {
            assert_eq!(error(text), TemplateError::Percent, "{text}");
        }
        assert_eq!(error(""), TemplateError::Filter(TopicError::Empty));
        assert_eq!(error("a/#/b"), TemplateError::Filter(TopicError::HashPlace));
        assert_eq!(error("%c+"), TemplateError::Filter(TopicError::PlusPlace));
        assert_eq!(error("$share/g/a"), TemplateError::Shared);
    }
}
