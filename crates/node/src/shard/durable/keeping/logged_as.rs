//! What the log knows of a session, in the session's entry.

use std::ops::Deref;

use super::KeptAs;

/// Behind a pointer: of a session that ends with its connection and has no will the log knows nothing.
#[derive(Debug, Default)]
pub(crate) struct LoggedAs(Option<Box<KeptAs>>);

const NOTHING: &KeptAs =
    &KeptAs { kept: None, will_alone: None, expiry_s: 0, will: None, is_keeper: false, rules_version: 0 };

impl LoggedAs {
    /// From now on it knows this.
    pub(crate) fn set(&mut self, known: KeptAs) {
        self.0 = (known != *NOTHING).then(|| Box::new(known));
    }

    /// To change something of it.
    pub(crate) fn edit(&mut self) -> &mut KeptAs {
        self.0.get_or_insert_default()
    }
}

impl Deref for LoggedAs {
    type Target = KeptAs;

    fn deref(&self) -> &KeptAs {
        self.0.as_deref().unwrap_or(NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it say what was said last, and has it no memory where the log knows nothing?
    #[test]
    fn nothing_takes_no_memory() {
        let mut logged = LoggedAs::default();
        assert_eq!(*logged, KeptAs::default());
        logged.edit().expiry_s = 7;
        assert_eq!((logged.expiry_s, logged.is_keeper), (7, false));
        logged.set(KeptAs { is_keeper: true, ..KeptAs::default() });
        assert_eq!((logged.expiry_s, logged.is_keeper), (0, true));
        logged.set(KeptAs::default());
        assert!(logged.0.is_none() && *logged == KeptAs::default());
    }
}
