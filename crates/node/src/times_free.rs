//! How much one holder may have of a table that all share: by what is free in it, so that nobody needs to say a number.
//!
//! The dynamic threshold that switches share their buffers by. Alone, a holder gets N of N + 1 parts of a table, and each further
//! one as much of what is left; nobody takes the last place of a table that has more than N + 1, and whoever has nothing finds
//! one. A fixed share would be too small for a fleet with one name, or too large for a table that ten names fill.

/// `limits.held_times_free_max`. 0: whatever is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimesFree(pub(crate) u32);

impl TimesFree {
    pub(crate) const fn is_on(self) -> bool {
        self.0 > 0
    }

    /// Whether who has `held` may take more of a table in which so much is `free`.
    pub(crate) const fn allows(self, held: u64, free: u64) -> bool {
        !self.is_on() || held <= free.saturating_mul(self.0 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many places each of `holders` has, when they fill a table of so many one after the other.
    fn filled(times: u32, places: u64, holders: usize) -> Vec<u64> {
        let mut free = places;
        let mut fill = |()| {
            let mut held = 0;
            while free > 0 && TimesFree(times).allows(held, free) {
                held += 1;
                free -= 1;
            }
            held
        };
        vec![(); holders].into_iter().map(&mut fill).collect()
    }

    /// Has one alone nine tenths, and each further one nine tenths of what is left, so that there is always one place more?
    #[test]
    fn each_has_nine_tenths_of_what_is_left() {
        assert_eq!(filled(9, 10_000, 4), [9_001, 900, 90, 9]);
        assert_eq!(filled(9, 100_000, 3), [90_001, 9_000, 900]);
        assert_eq!(filled(9, 100, 2), [91, 9], "the second has what there is, and not as much as the first");
        assert_eq!(filled(1, 100, 3), [51, 25, 13]);
    }

    /// Is a table of ten places, or one without the rule, there for whoever comes first, as it was?
    #[test]
    fn a_small_table_is_whoevers_comes_first() {
        for places in 0..=10 {
            assert_eq!(filled(9, places, 2), [places, 0]);
        }
        assert_eq!(filled(9, 11, 2), [10, 1]);
        assert_eq!(filled(0, 1_000, 2), [1_000, 0]);
        assert!(TimesFree(9).allows(u64::MAX, u64::MAX) && TimesFree(9).allows(0, 0) && !TimesFree(9).allows(1, 0));
    }
}
