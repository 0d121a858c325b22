//! Whether to look for work for a moment before sleeping.

/// Whether spinning has paid lately. Between messages that come further apart than the spin lasts it only burns a core.
#[derive(Debug, Default)]
pub(super) struct Spinning {
    /// Goes up with each spin that found work, down with each that did not.
    credit: i32,
    skipped: u32,
}

impl Spinning {
    const CREDIT_MAX: i32 = 16;
    const REWARD: i32 = 2;
    /// Without credit one spin in so many is tried all the same: times change.
    const TRY_EVERY: u32 = 64;

    pub(super) fn is_worth_it(&mut self) -> bool {
        if self.credit > 0 {
            return true;
        }
        self.skipped = (self.skipped + 1) % Self::TRY_EVERY;
        self.skipped == 0
    }

    pub(super) fn note(&mut self, found: bool) {
        let change = if found { Self::REWARD } else { -1 };
        self.credit = (self.credit + change).clamp(0, Self::CREDIT_MAX);
    }
}
