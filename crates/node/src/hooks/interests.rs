//! The hooks by name, and which of them somebody has written.

/// One hook. Tense is a contract: `on_publish` may change or refuse, `on_published` has happened.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookName {
    /// Judges a CONNECT.
    Connect,
    /// Takes a step of an enhanced authentication.
    Auth,
    /// Judges one filter of a SUBSCRIBE.
    Subscribe,
    /// Judges a message.
    Publish,
    /// A client is connected.
    Connected,
    /// A client's connection has ended.
    Disconnected,
    /// A subscription was granted.
    Subscribed,
    /// A subscription was given up.
    Unsubscribed,
    /// A message was accepted.
    Published,
}

impl HookName {
    /// How many there are.
    pub const COUNT: usize = 9;
    /// Every hook, in the order of its numbers.
    pub const ALL: [HookName; Self::COUNT] = [
        HookName::Connect,
        HookName::Auth,
        HookName::Subscribe,
        HookName::Publish,
        HookName::Connected,
        HookName::Disconnected,
        HookName::Subscribed,
        HookName::Unsubscribed,
        HookName::Published,
    ];

    /// The method's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            HookName::Connect => "on_connect",
            HookName::Auth => "on_auth",
            HookName::Subscribe => "on_subscribe",
            HookName::Publish => "on_publish",
            HookName::Connected => "on_connected",
            HookName::Disconnected => "on_disconnected",
            HookName::Subscribed => "on_subscribed",
            HookName::Unsubscribed => "on_unsubscribed",
            HookName::Published => "on_published",
        }
    }

    /// The hook of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.as_str() == name)
    }

    /// Whether something waits for its answer.
    pub const fn decides(self) -> bool {
        matches!(self, HookName::Connect | HookName::Auth | HookName::Subscribe | HookName::Publish)
    }
}

/// A set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests(u16);

impl Interests {
    /// No hook.
    pub const NONE: Interests = Interests(0);

    /// The same with `hook`.
    #[must_use]
    pub const fn with(self, hook: HookName) -> Self {
        Interests(self.0 | 1 << hook as u8)
    }

    /// Whether `hook` is in the set.
    #[inline]
    pub const fn has(self, hook: HookName) -> bool {
        self.0 & 1 << hook as u8 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<HookName> for Interests {
    fn from_iter<T: IntoIterator<Item = HookName>>(hooks: T) -> Self {
        hooks.into_iter().fold(Interests::NONE, Interests::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each hook find its own number, name and bit?
    #[test]
    fn names_and_numbers_agree() {
        for (n, hook) in HookName::ALL.into_iter().enumerate() {
            assert_eq!(hook as usize, n);
            assert_eq!(HookName::from_name(hook.as_str()), Some(hook));
            let others = HookName::ALL.into_iter().filter(|other| *other != hook).collect::<Interests>();
            assert!(!others.has(hook) && others.with(hook).has(hook));
        }
        assert_eq!(HookName::from_name("on_nothing"), None);
    }
}
