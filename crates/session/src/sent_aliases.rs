//! Topic aliases of one connection, from us to the client: which topics have one, and which is worth one.
//!
//! A PUBLISH that sets an alias is three bytes longer than one without; each later one is shorter by its topic, less those
//! three. So an alias is set when a topic comes a second time in short order, and only for topics of some length: a
//! subscriber to ten thousand devices gets most topics plain and aliases for those that come often.
//!
//! The table has [`WAYS`] places per set, and a topic belongs into the set that its hash names. Each use of an alias is a
//! credit to its place, each topic that would like a place takes one from the poorest, and gets it when that has none left:
//! so topics that come in turn, more than there are aliases, do not drive each other out. A place is changed only when the
//! PUBLISH that tells the client about it is written ([`SentAliases::set`]): both sides always agree.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Shorter topics save too little.
pub(crate) const TOPIC_BYTES_MIN: usize = 8;
/// Longer topics are not kept, so that the table is bounded in bytes as well.
pub(crate) const TOPIC_BYTES_MAX: usize = 1024;
/// Places that one topic may have.
const WAYS: usize = 4;
/// Topics without alias that a set remembers: a few more than its places, so that some of a round of many get one.
const CANDIDATES: usize = 8;

/// What a topic that gets a place begins with: it has come twice.
const CREDIT_FIRST: u8 = 8;
/// So that yesterday's topics give way after a while.
const CREDIT_MAX: u8 = 32;

/// What to write for a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alias {
    /// The topic alone.
    None,
    /// The topic, and this alias for it from now on; then call [`SentAliases::set`].
    New(u16),
    /// The alias alone.
    Known(u16),
}

#[derive(Debug)]
struct Place {
    hash: u32,
    /// Uses, less the topics that would have liked this place.
    credit: u8,
    topic: Box<str>,
}

/// Topics by alias (its number less one); allocated when the first one is needed.
#[derive(Debug)]
pub(crate) struct SentAliases {
    places: Box<[Option<Place>]>,
    /// By set: the hashes of the topics without alias that came last, the newest first.
    candidates: Box<[[u32; CANDIDATES]]>,
    max: u16,
}

impl SentAliases {
    /// `max`: 1 or more aliases.
    pub(crate) fn new(max: u16) -> Self {
        SentAliases { places: Box::new([]), candidates: Box::new([]), max }
    }

    /// What to write for `topic`, which is about to be sent.
    pub(crate) fn choose(&mut self, topic: &str) -> Alias {
        if !(TOPIC_BYTES_MIN..=TOPIC_BYTES_MAX).contains(&topic.len()) {
            return Alias::None;
        }
        let hash = hash_of(topic);
        self.allocate();
        let (set, from, to) = self.set_of(hash);
        for (at, place) in self.places.iter_mut().enumerate().take(to).skip(from) {
            if let Some(place) = place
                && place.hash == hash
                && *place.topic == *topic
            {
                place.credit = (place.credit + 1).min(CREDIT_MAX);
                return Alias::Known(number(at));
            }
        }
        let candidates = &mut self.candidates[set];
        if !candidates.contains(&hash) {
            candidates.rotate_right(1);
            candidates[0] = hash;
            return Alias::None;
        }
        place_to_give(&mut self.places[from..to]).map_or(Alias::None, |at| Alias::New(number(from + at)))
    }

    /// The client has been told `alias` for `topic`.
    pub(crate) fn set(&mut self, alias: u16, topic: &str) {
        if let Some(place) = self.places.get_mut(usize::from(alias) - 1) {
            *place = Some(Place { hash: hash_of(topic), credit: CREDIT_FIRST, topic: topic.into() });
        }
    }

    fn allocate(&mut self) {
        if self.places.is_empty() {
            let max = usize::from(self.max);
            self.places = (0..max).map(|_| None).collect();
            self.candidates = vec![[0; CANDIDATES]; max.div_ceil(WAYS)].into();
        }
    }

    /// The set that `hash` belongs into, and its places; the last one may have fewer.
    fn set_of(&self, hash: u32) -> (usize, usize, usize) {
        let set = ((u64::from(hash) * self.candidates.len() as u64) >> 32) as usize;
        (set, set * WAYS, (set * WAYS + WAYS).min(self.places.len()))
    }
}

/// The poorest place of a set, an empty one first, if it has no credit left; else takes one from it.
fn place_to_give(set: &mut [Option<Place>]) -> Option<usize> {
    let credit_of = |place: &Option<Place>| place.as_ref().map(|place| place.credit);
    let (at, poorest) = set.iter_mut().enumerate().min_by_key(|(_, place)| credit_of(place))?;
    match poorest {
        Some(place) if place.credit > 0 => {
            place.credit -= 1;
            None
        }
        _ => Some(at),
    }
}

/// The alias of a place.
const fn number(at: usize) -> u16 {
    at as u16 + 1
}

/// Both halves of the hash in one: all bytes reach the upper one, which it does not have on a machine of 32 bits.
fn hash_of(topic: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(topic.as_bytes());
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says `topic` as a writer would.
    fn say(aliases: &mut SentAliases, topic: &str) -> Alias {
        let alias = aliases.choose(topic);
        if let Alias::New(alias) = alias {
            aliases.set(alias, topic);
        }
        alias
    }

    /// Plain, with its new alias, and then by the alias alone.
    #[test]
    fn a_topic_that_comes_again_gets_an_alias() {
        let mut aliases = SentAliases::new(1);
        let said: Vec<_> = (0..4).map(|_| say(&mut aliases, "spectrum/d1/readings")).collect();
        assert_eq!(said, [Alias::None, Alias::New(1), Alias::Known(1), Alias::Known(1)]);
    }

    /// An alias that could not be written is offered again.
    #[test]
    fn what_was_not_written_is_not_known() {
        let mut aliases = SentAliases::new(1);
        let said: Vec<_> = (0..4).map(|_| aliases.choose("spectrum/d1/readings")).collect();
        assert_eq!(said, [Alias::None, Alias::New(1), Alias::New(1), Alias::New(1)]);
    }

    /// Topics in turn: all get an alias if there are enough; if not, those that have one keep it for long enough to pay.
    #[test]
    fn a_round_of_topics_is_shortened() {
        for (topics, max, known_min) in [(1, 1, 98), (4, 4, 4 * 98), (6, 4, 4 * 90), (4, 1, 60), (8, 2, 100)] {
            let mut aliases = SentAliases::new(max);
            let (mut known, mut new) = (0, 0);
            for n in 0..100 * topics {
                match say(&mut aliases, &format!("devices/{}/state", n % topics)) {
                    Alias::None => {}
                    Alias::New(_) => new += 1,
                    Alias::Known(_) => known += 1,
                }
            }
            assert!(known >= known_min, "{topics} topics, {max} aliases: {known} known, {new} new");
            assert!(known >= 2 * new || new == max, "{topics} topics, {max} aliases: {known} known, {new} new");
        }
    }

    /// Short topics are not worth it, and very long ones not kept.
    #[test]
    fn topics_have_a_length_that_pays() {
        for (len, pays) in [(7, false), (8, true), (1024, true), (1025, false)] {
            let (mut aliases, topic) = (SentAliases::new(4), "x".repeat(len));
            let _ = say(&mut aliases, &topic);
            assert_eq!(say(&mut aliases, &topic) != Alias::None, pays, "{len}");
        }
    }

    /// Topics that come once only never take a place from one that comes often.
    #[test]
    fn strangers_do_not_displace_the_usual() {
        let mut aliases = SentAliases::new(1);
        (0..2).for_each(|_| _ = say(&mut aliases, "usual/topic"));
        for n in 0..1000 {
            assert_eq!(say(&mut aliases, &format!("stranger/{n}")), Alias::None);
            assert_eq!(say(&mut aliases, "usual/topic"), Alias::Known(1));
        }
    }

    /// One that comes often takes the place of one that no longer does, after a while.
    #[test]
    fn a_place_is_given_away_when_it_is_not_used() {
        let mut aliases = SentAliases::new(1);
        (0..3).for_each(|_| _ = say(&mut aliases, "yesterday"));
        let said: Vec<_> = (0..60).map(|_| say(&mut aliases, "today/now")).collect();
        // It comes first, uses up what the place began with, and the one use of it.
        let waits = 1 + usize::from(CREDIT_FIRST) + 1;
        assert_eq!(said[..waits], vec![Alias::None; waits]);
        assert_eq!(said[waits..waits + 2], [Alias::New(1), Alias::Known(1)]);
        assert_eq!(say(&mut aliases, "yesterday"), Alias::None, "the alias stands for another topic now");
    }

    /// Whatever is said, a client that keeps what it is told knows each topic, and no number is beyond the maximum.
    #[test]
    fn both_sides_agree() {
        for max in [1, 2, 3, 4, 5, 7, 16, 100] {
            let mut aliases = SentAliases::new(max);
            let mut client = vec![String::new(); usize::from(max) + 1];
            let (mut seed, mut known, mut numbers) = (7_u64, 0, std::collections::BTreeSet::new());
            for _ in 0..20_000 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Few topics often, many seldom.
                let wide = (seed >> 33) % 4 == 0;
                let topic = format!("devices/{}/state", (seed >> 40) % if wide { 1000 } else { 8 });
                match say(&mut aliases, &topic) {
                    Alias::None => {}
                    Alias::New(alias) => client[usize::from(alias)] = topic,
                    Alias::Known(alias) => {
                        assert_eq!(client[usize::from(alias)], topic);
                        numbers.insert(alias);
                        known += 1;
                    }
                }
            }
            assert!(numbers.iter().all(|alias| (1..=max).contains(alias)));
            // Eight topics are three quarters of all messages.
            assert!(max < 16 || known > 10_000, "{known} of 20000 with {max} aliases");
        }
    }
}
