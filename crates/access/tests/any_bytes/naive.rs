//! What rules say, by a reader that fills in nothing: a place stands for the characters of its name, whatever they are.

use lapwing_access::{Effect, Right, RuleConfig};

/// Somebody, and what is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub client_id: &'a str,
    /// `None`: anonymous.
    pub username: Option<&'a str>,
    pub topic: &'a str,
    pub filter: &'a str,
}

impl Asked<'_> {
    /// Whether some rule of this effect says so of the topic.
    pub fn says_of_topic(&self, rules: &[RuleConfig], effect: Effect, right: Right) -> bool {
        let mut rules = self.own(rules, effect, right);
        rules.any(|rule| rule.topics.iter().any(|template| self.matches(template)))
    }

    /// Whether some rule of this effect says so of the client id.
    pub fn says_of_client_id(&self, rules: &[RuleConfig], effect: Effect) -> bool {
        let mut rules = self.own(rules, effect, Right::Connect);
        rules.any(|rule| rule.client_ids.iter().any(|pattern| glob(&self.filled(pattern), self.client_id.as_bytes())))
    }

    /// Whether any rule permits client ids to this one.
    pub fn is_bound(&self, rules: &[RuleConfig]) -> bool {
        self.own(rules, Effect::Allow, Right::Connect).next().is_some()
    }

    /// Whether every name is one that means the same wherever it is filled in.
    pub fn is_plain(&self) -> bool {
        let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain(self.client_id) && self.username.is_some_and(is_plain)
    }

    fn own<'r>(&self, rules: &'r [RuleConfig], effect: Effect, right: Right) -> impl Iterator<Item = &'r RuleConfig> {
        let username = self.username.map(str::to_owned);
        rules.iter().filter(move |rule| rule.effect == effect && rule.may.contains(&right)).filter(move |rule| {
            match (&username, rule.identity.as_str()) {
                (None, identity) => identity == "anonymous",
                (Some(_), "anonymous") => false,
                (Some(name), identity) => glob(&pieces(identity), name.as_bytes()),
            }
        })
    }

    /// Level by level; what a place stands for does not leave its level.
    fn matches(&self, template: &str) -> bool {
        if self.topic.starts_with('$') && template.starts_with(['+', '#']) {
            return false;
        }
        let (mut wanted, mut there) = (template.split('/'), self.topic.split('/'));
        loop {
            match (wanted.next(), there.next()) {
                (Some("#"), _) | (None, None) => return true,
                (Some("+"), Some(_)) => {}
                (Some(level), Some(name)) if self.level(level) == name => {}
                _ => return false,
            }
        }
    }

    fn level(&self, template: &str) -> String {
        let text = self.filled(template);
        String::from_utf8(text.into_iter().map(|piece| piece.unwrap_or(b'*')).collect()).unwrap_or_default()
    }

    /// `None`: any characters.
    fn filled(&self, template: &str) -> Vec<Option<u8>> {
        let mut text = vec![];
        let mut bytes = template.bytes();
        while let Some(byte) = bytes.next() {
            let place = if byte == b'%' { bytes.next() } else { None };
            match place {
                Some(b'c') => text.extend(self.client_id.bytes().map(Some)),
                Some(b'u') => text.extend(self.username.unwrap_or_default().bytes().map(Some)),
                _ => text.push((byte != b'*').then_some(byte)),
            }
        }
        text
    }
}

fn pieces(pattern: &str) -> Vec<Option<u8>> {
    pattern.bytes().map(|byte| (byte != b'*').then_some(byte)).collect()
}

/// By a table of which beginnings of the pattern reach which of the name.
fn glob(pattern: &[Option<u8>], name: &[u8]) -> bool {
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for piece in pattern {
        match piece {
            None => {
                let first = reached.iter().position(|is| *is).unwrap_or(reached.len());
                reached[first..].fill(true);
            }
            Some(byte) => {
                let next = |at: usize| at > 0 && reached[at - 1] && name[at - 1] == *byte;
                reached = (0..reached.len()).map(next).collect();
            }
        }
    }
    reached[name.len()]
}
