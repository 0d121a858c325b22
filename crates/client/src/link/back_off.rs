//! How long to wait before the next attempt to connect: twice as long each time, with chance in it, so that a
//! thousand clients of a broker that starts again do not all come at once.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// The pauses between attempts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackOff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl BackOff {
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// Between half and all of the pause that is due; the one after is twice as long.
    pub fn pause(&mut self) -> Duration {
        let due = self.next;
        self.next = (due * 2).min(self.longest);
        due / 2 + (due / 2).mul_f64(chance())
    }

    /// The connection stands: the next pause is a short one.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

/// A number from 0 to 1; the hasher of the standard library has a random key, which is all that is needed.
fn chance() -> f64 {
    let number = RandomState::new().build_hasher().finish();
    number as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it double up to the longest, with at most half of it left to chance, and begin anew?
    #[test]
    fn doubles_and_begins_anew() {
        let ms = Duration::from_millis;
        let mut back_off = BackOff::new(ms(100), ms(300));
        for due in [100, 200, 300, 300] {
            let pause = back_off.pause();
            assert!(pause >= ms(due / 2) && pause <= ms(due), "{pause:?} of {due}");
        }
        back_off.reset();
        assert!(back_off.pause() <= ms(100));
    }
}
