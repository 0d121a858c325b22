//! A rate in whole windows of time, with what was left out of each.

/// What a window of events left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// So many.
    pub(crate) count: u64,
    /// In so many seconds, from the first one that passed.
    pub(crate) seconds: u64,
}

/// So many in so long a time, counted from the first one; pure, whoever asks says what time it is.
#[derive(Debug)]
pub(crate) struct Window {
    len_ms: u64,
    max: u64,
    /// When it began; None: nothing has come since the last one ended.
    begun_ms: Option<u64>,
    passed: u64,
    left_out: u64,
}

impl Window {
    /// At most `max` in `len_ms`.
    pub(crate) const fn new(max: u64, len_ms: u64) -> Self {
        Window { len_ms, max, begun_ms: None, passed: 0, left_out: 0 }
    }

    /// Whether one that comes now may pass. Call [`Window::end`] before.
    pub(crate) fn admit(&mut self, now_ms: u64) -> bool {
        self.begun_ms.get_or_insert(now_ms);
        let passes = self.passed < self.max;
        self.passed += u64::from(passes);
        self.left_out += u64::from(!passes);
        passes
    }

    /// Ends the window if its time is over: what it has left out, if anything.
    pub(crate) fn end(&mut self, now_ms: u64) -> Option<LeftOut> {
        let passed_ms = now_ms.saturating_sub(self.begun_ms?);
        if passed_ms < self.len_ms {
            return None;
        }
        let count = self.left_out;
        *self = Window::new(self.max, self.len_ms);
        (count > 0).then_some(LeftOut { count, seconds: passed_ms / 1000 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do as many pass as may, and is what did not pass told once, when the window is over?
    #[test]
    fn a_flood_is_cut_and_counted() {
        let mut window = Window::new(3, 60_000);
        let passed = (0..1000).filter(|ms| window.end(*ms).is_none() && window.admit(*ms)).count();
        assert_eq!(passed, 3);
        assert_eq!(window.end(59_999), None);
        assert_eq!(window.end(61_500), Some(LeftOut { count: 997, seconds: 61 }));
        assert_eq!(window.end(200_000), None, "told once");
        assert!(window.admit(200_000));
    }

    /// Does what comes within its rate always pass, with nothing to tell of it?
    #[test]
    fn a_trickle_passes() {
        let mut window = Window::new(2, 60_000);
        for minute in 0..100 {
            for ms in [0, 30_000] {
                let now_ms = minute * 60_000 + ms;
                assert_eq!(window.end(now_ms), None);
                assert!(window.admit(now_ms), "{now_ms}");
            }
        }
    }

    /// Does a clock that stands, or goes back, end no window early and none twice?
    #[test]
    fn time_that_stands_ends_nothing() {
        let mut window = Window::new(1, 60_000);
        assert!(window.admit(70_000) && !window.admit(70_000));
        assert_eq!(window.end(0), None);
        assert_eq!(window.end(130_000), Some(LeftOut { count: 1, seconds: 60 }));
    }
}
