//! Who has said DISCONNECT, and is answered again when it has not heard the answer.
//!
//! Nobody else is: a DISCONNECT from where nobody is connected may be another gateway's, and that one would answer ours. As each of
//! these has so many answers left, and only who was connected has any, two gateways come to an end.

use std::collections::VecDeque;

use lapwing_sn::peer::Settings;

use super::address::{Address, KeptAddress};

/// So many are remembered, the newest.
const GOODBYES_MAX: usize = 1024;

/// Those that are gone, in their order.
#[derive(Debug, Default)]
pub(super) struct Goodbyes(VecDeque<Goodbye>);

#[derive(Debug)]
struct Goodbye {
    address: KeptAddress,
    until_ms: u64,
    answers_left: u32,
}

impl Goodbyes {
    /// It is gone, and its DISCONNECT is answered; for as long as it may say that again.
    pub(super) fn note(&mut self, address: Address<'_>, settings: &Settings, now_ms: u64) {
        while self.0.len() >= GOODBYES_MAX || self.0.front().is_some_and(|oldest| now_ms >= oldest.until_ms) {
            self.0.pop_front();
        }
        let answers_left = settings.retries_max;
        let until_ms = now_ms + settings.retry_ms * (u64::from(answers_left) + 1);
        self.0.push_back(Goodbye { address: address.into(), until_ms, answers_left });
    }

    /// DISCONNECT of somebody who is not connected: whether that is answered.
    pub(super) fn answers_again(&mut self, address: &Address<'_>, now_ms: u64) -> bool {
        // Who has come and gone since is there again, later.
        let last = self.0.iter_mut().rfind(|goodbye| goodbye.address.get() == *address);
        let Some(goodbye) = last.filter(|goodbye| now_ms < goodbye.until_ms && goodbye.answers_left > 0) else {
            return false;
        };
        goodbye.answers_left -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn address(number: usize) -> Address<'static> {
        Address::new(0, SocketAddr::from(([127, 0, 0, 1], number as u16 + 1)), None)
    }

    /// Is a goodbye answered again as often as it may be said, for so long, and that of nobody else?
    #[test]
    fn a_goodbye_is_answered_so_often() {
        let settings = Settings { retry_ms: 10, retries_max: 2, ..Settings::default() };
        let mut goodbyes = Goodbyes::default();
        assert!(!goodbyes.answers_again(&address(0), 0));
        goodbyes.note(address(0), &settings, 100);
        goodbyes.note(address(1), &settings, 100);
        let answers = [100, 110, 120].map(|now_ms| goodbyes.answers_again(&address(0), now_ms));
        assert_eq!(answers, [true, true, false]);
        assert!(!goodbyes.answers_again(&address(2), 100));
        assert!(goodbyes.answers_again(&address(1), 129) && !goodbyes.answers_again(&address(1), 130));
        goodbyes.note(address(0), &settings, 120);
        assert!(goodbyes.answers_again(&address(0), 121), "it was there again");
    }

    /// Are as many remembered as may be, the newest, and none whose time is over?
    #[test]
    fn goodbyes_are_few() {
        let settings = Settings { retry_ms: 10, retries_max: 2, ..Settings::default() };
        let mut goodbyes = Goodbyes::default();
        for number in 0..=GOODBYES_MAX {
            goodbyes.note(address(number), &settings, 0);
        }
        assert_eq!(goodbyes.0.len(), GOODBYES_MAX);
        assert!(!goodbyes.answers_again(&address(0), 0) && goodbyes.answers_again(&address(1), 0));
        goodbyes.note(address(0), &settings, 30);
        assert_eq!(goodbyes.0.len(), 1);
    }
}
