//! How long a durable group has been without members and messages.

/// Begins with the first look at a group that has nobody and nothing, and ends when somebody joins or something waits:
/// nobody has to say when the last one left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vacancy {
    since_us: Option<u64>,
    is_over: bool,
}

impl Vacancy {
    /// The group is seen to be vacant.
    pub(crate) fn begin(&mut self, now_us: u64) {
        self.since_us.get_or_insert(now_us);
    }

    /// The group has somebody or something.
    pub(crate) fn end(&mut self) {
        *self = Vacancy::default();
    }

    /// Whether it has lasted as long as it may; see [`Vacancy::judge`].
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Time has come to `now_us`, or the setting is another one. `most_us`: how long it may last; None: for ever.
    pub(crate) fn judge(&mut self, most_us: Option<u64>, now_us: u64) {
        self.is_over = self.end_us(most_us).is_some_and(|end_us| end_us <= now_us);
    }

    /// When to look at the group next: at once if it was not yet seen to be vacant.
    pub(crate) fn next_us(&self, most_us: Option<u64>, now_us: u64) -> Option<u64> {
        most_us.filter(|_| !self.is_over)?;
        self.end_us(most_us).or(Some(now_us)).map(|at_us| at_us.max(now_us.saturating_add(1)))
    }

    fn end_us(&self, most_us: Option<u64>) -> Option<u64> {
        Some(self.since_us?.saturating_add(most_us?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_as_long_as_is_set_from_when_it_was_seen() {
        let mut vacancy = Vacancy::default();
        assert_eq!((vacancy.next_us(Some(10), 5), vacancy.next_us(None, 5)), (Some(6), None));
        vacancy.begin(6);
        vacancy.begin(9);
        vacancy.judge(Some(10), 15);
        assert_eq!((vacancy.is_over(), vacancy.next_us(Some(10), 15)), (false, Some(16)));
        vacancy.judge(Some(10), 16);
        assert_eq!((vacancy.is_over(), vacancy.next_us(Some(10), 16)), (true, None));
        vacancy.judge(Some(20), 16);
        assert!(!vacancy.is_over());
        vacancy.judge(Some(1), 16);
        vacancy.end();
        assert_eq!((vacancy.is_over(), vacancy.next_us(Some(1), 17)), (false, Some(18)));
    }
}
