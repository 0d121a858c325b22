//! When each message is due: decided before the run, whatever the broker does (open loop).
//!
//! Message number g of the whole run is due at `start + g / rate` and belongs to publisher `order[g % P]`, where
//! `order` is a seeded permutation of the P publishers. Each lane (thread) walks only its own publishers; the
//! lanes of all threads and processes together make one even stream. Nothing is stored per message: a late
//! message's due time is computed again from its publisher and serial.

use crate::clock::SECOND_NS;
use crate::random::Random;

/// One message of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Index of the publisher among this lane's publishers.
    pub publisher: usize,
    /// Its serial number.
    pub serial: u32,
    /// When it is due, after the start.
    pub after_ns: u64,
}

/// One lane's part of the schedule.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// (place in `order`, index in the lane), by place.
    places: Vec<(u32, u32)>,
    /// Place in `order` by index in the lane.
    place_of: Vec<u32>,
    publishers: u64,
    interval_ns: f64,
    messages: u64,
    round: u32,
    turn: usize,
}

impl Schedule {
    /// The part of lane `lane` of `lanes`: publishers `lane, lane + lanes, ...` of `publishers`.
    ///
    /// `rate`: messages per second over all publishers, more than 0. `seconds`: how long.
    pub fn new(publishers: u32, lane: u32, lanes: u32, rate: f64, seconds: f64, seed: u64) -> Self {
        let order = Random::new(seed).order(publishers);
        let mut place_of = Vec::new();
        let mut places = Vec::new();
        for (place, publisher) in order.iter().enumerate() {
            if publisher % lanes == lane {
                places.push((place as u32, publisher / lanes));
            }
        }
        place_of.resize(places.len(), 0);
        for (place, index) in &places {
            place_of[*index as usize] = *place;
        }
        let messages = messages_in(rate, seconds);
        let interval_ns = SECOND_NS as f64 / rate;
        Self { places, place_of, publishers: publishers.into(), interval_ns, messages, round: 0, turn: 0 }
    }

    /// The next message, or `None` when this lane has none left.
    #[inline]
    pub fn peek(&self) -> Option<Due> {
        let (place, index) = *self.places.get(self.turn)?;
        let number = self.number(place, self.round);
        (number < self.messages).then(|| Due {
            publisher: index as usize,
            serial: self.round,
            after_ns: self.after_ns(number),
        })
    }

    /// Goes on to the message after the one `peek` gave.
    #[inline]
    pub fn advance(&mut self) {
        self.turn += 1;
        if self.turn == self.places.len() {
            self.turn = 0;
            self.round += 1;
        }
    }

    /// When serial `serial` of the lane's publisher `publisher` is (or was) due, after the start.
    #[inline]
    pub fn due_of(&self, publisher: usize, serial: u32) -> u64 {
        self.after_ns(self.number(self.place_of[publisher], serial))
    }

    #[inline]
    fn number(&self, place: u32, round: u32) -> u64 {
        u64::from(round) * self.publishers + u64::from(place)
    }

    #[inline]
    fn after_ns(&self, number: u64) -> u64 {
        (number as f64 * self.interval_ns) as u64
    }
}

/// How many messages are due at `rate` per second in `seconds`.
pub fn messages_in(rate: f64, seconds: f64) -> u64 {
    (rate * seconds).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut schedule: Schedule) -> Vec<Due> {
        let mut dues = Vec::new();
        while let Some(due) = schedule.peek() {
            assert_eq!(schedule.due_of(due.publisher, due.serial), due.after_ns);
            dues.push(due);
            schedule.advance();
        }
        dues
    }

    /// Do all lanes together make one even stream of the rate asked for?
    #[test]
    fn lanes_make_one_stream() {
        let mut times: Vec<u64> =
            (0..3).flat_map(|lane| all(Schedule::new(10, lane, 3, 1000.0, 0.5, 42))).map(|due| due.after_ns).collect();
        times.sort_unstable();
        let expected: Vec<u64> = (0..500).map(|number| number * 1_000_000).collect();
        assert_eq!(times, expected);
    }

    /// Does each publisher of a lane send at its own even rate, serials in order?
    #[test]
    fn publisher_is_even() {
        let dues = all(Schedule::new(10, 1, 3, 1000.0, 0.5, 42));
        for publisher in 0..3 {
            let own: Vec<&Due> = dues.iter().filter(|due| due.publisher == publisher).collect();
            assert_eq!(own.len(), 50);
            assert!(own.windows(2).all(|w| w[1].serial == w[0].serial + 1));
            assert!(own.windows(2).all(|w| w[1].after_ns - w[0].after_ns == 10_000_000));
        }
    }

    /// Is a lane without publishers simply empty?
    #[test]
    fn empty_lane() {
        assert_eq!(Schedule::new(1, 1, 2, 10.0, 10.0, 0).peek(), None);
    }
}
