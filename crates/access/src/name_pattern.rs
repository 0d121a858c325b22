//! Patterns of rules for names: share names, client ids. `*` stands for any characters, `%c` and `%u` for this client's own.

use crate::places::{Places, StrayPercent};
use crate::wildcard;

/// A pattern with places to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamePattern(Places);

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameError {
    /// It is empty.
    Empty,
    /// `%` with something else behind it.
    Percent,
}

impl NamePattern {
    pub(crate) fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        Places::parse(text).map(NamePattern).map_err(|StrayPercent| NameError::Percent)
    }

    /// Whether there is nothing to fill in.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.is_plain()
    }

    /// Whether it is every name, as it is written.
    pub(crate) fn is_any(&self) -> bool {
        self.is_plain() && self.0.join("", "").bytes().all(|byte| byte == b'*')
    }

    /// Whether the client id is to be filled in.
    pub(crate) fn names_client(&self) -> bool {
        self.0.names_client()
    }

    /// Whether a user name is to be filled in.
    pub(crate) fn names_user(&self) -> bool {
        self.0.names_user()
    }

    /// The pattern for one client; `None` when a value is missing, or has a `*`, which would be any characters.
    pub(crate) fn fill(&self, client_id: Option<&str>, username: Option<&str>) -> Option<Box<str>> {
        let harmless = |value: &str, _| !value.is_empty() && !value.contains('*');
        self.0.fill(client_id, username, harmless).map(Box::from)
    }

    /// What it may be for anybody whose name is as `identity` says, a pattern too: rather too much than too little.
    pub(crate) fn for_all_of(&self, identity: &str) -> Box<str> {
        self.0.join("*", identity).into()
    }
}

/// Whether `name` is as one of these filled patterns says.
pub(crate) fn any_matches(patterns: &[Box<str>], name: &str) -> bool {
    patterns.iter().any(|pattern| wildcard::matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pattern: &str, client_id: &str, username: &str) -> Option<String> {
        NamePattern::parse(pattern).unwrap().fill(Some(client_id), Some(username)).map(String::from)
    }

    #[test]
    fn places_are_filled_in() {
        assert_eq!(filled("%u-*", "c", "alice").as_deref(), Some("alice-*"));
        assert_eq!(filled("%c", "a/b#+", "u").as_deref(), Some("a/b#+"), "no topic: these are letters here");
        assert_eq!(filled("100%%*", "c", "u").as_deref(), Some("100%*"));
        assert_eq!(NamePattern::parse("%u").unwrap().fill(Some("c"), None), None);
    }

    /// Does a name with a star in it become any name?
    #[test]
    fn names_do_not_become_wildcards() {
        for evil in ["*", "a*", ""] {
            assert_eq!(filled("%u-x", "c", evil), None, "user name {evil:?}");
            assert_eq!(filled("%c-x", evil, "u"), None, "client id {evil:?}");
        }
        assert_eq!(filled("%c", "%u", "u").as_deref(), Some("%u"), "what is filled in is not read again");
    }

    /// Is there no name of those meant that it leaves out?
    #[test]
    fn for_all_of_a_pattern() {
        let all = |pattern: &str, identity: &str| NamePattern::parse(pattern).unwrap().for_all_of(identity);
        assert_eq!(&*all("%u-*", "device-*"), "device-*-*");
        assert_eq!(&*all("%u", "*"), "*");
        assert_eq!(&*all("fixed", "alice"), "fixed");
        let is_any = |text: &str| NamePattern::parse(text).unwrap().is_any();
        assert!(is_any("*") && is_any("**") && !is_any("%u") && !is_any("a*"));
    }

    #[test]
    fn what_is_no_pattern() {
        assert_eq!(NamePattern::parse(""), Err(NameError::Empty));
        assert_eq!(NamePattern::parse("a%"), Err(NameError::Percent));
    }
}
