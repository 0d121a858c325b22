//! The publishes that came to nothing: which, where to, and why.
//!
//! This is the broker's word on what we publish; a consumer's word on what it was given is a `Refusal`. A broker may
//! refuse a million of them before anybody asks: numbers are kept of the first, texts of the first of those.

use crate::events::Rejected;
use crate::words::cut;
use lapwing_codec::ReasonCode;
use std::fmt;

/// Numbers kept, 16 bytes each.
const NUMBERS_MAX: usize = 65_536;
/// Bytes of topics and words kept, with what holds them.
const TEXTS_BYTES_MAX: usize = 256 << 10;

/// Publishes that the broker refused, or that could not be sent, in the order in which that became known.
#[derive(Debug, Default)]
pub struct Rejections {
    count: usize,
    numbers: Vec<(u64, ReasonCode)>,
    /// Of the first so many of `numbers`.
    texts: Vec<Texts>,
    texts_bytes: usize,
}

#[derive(Debug)]
struct Texts {
    topic: Box<str>,
    words: Box<str>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection<'a> {
    /// What `publish` gave for it.
    pub number: u64,
    /// Why.
    pub reason: ReasonCode,
    /// Where it was to go; empty where that is not known any more.
    pub topic: &'a str,
    /// The broker's own words, or what could not be sent about it; may be empty.
    pub words: &'a str,
}

impl Rejections {
    /// Notes one more.
    pub(crate) fn push(&mut self, number: u64, rejected: &Rejected<'_>) {
        self.count += 1;
        if self.numbers.len() == NUMBERS_MAX {
            return;
        }
        let topic = rejected.topic.unwrap_or_default();
        let words = cut(rejected.words.unwrap_or_default());
        let bytes = size_of::<Texts>() + topic.len() + words.len();
        if self.texts.len() == self.numbers.len() && self.texts_bytes + bytes <= TEXTS_BYTES_MAX {
            self.texts.push(Texts { topic: topic.into(), words: words.into() });
            self.texts_bytes += bytes;
        }
        self.numbers.push((number, rejected.reason));
    }

    /// None were.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many there were, those included that `iter` does not give.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The first 65,536.
    pub fn iter(&self) -> impl Iterator<Item = Rejection<'_>> {
        let texts = self.texts.iter().map(|texts| (&*texts.topic, &*texts.words)).chain(std::iter::repeat(("", "")));
        self.numbers.iter().zip(texts).map(|((number, reason), (topic, words))| Rejection {
            number: *number,
            reason: *reason,
            topic,
            words,
        })
    }
}

impl Rejection<'_> {
    /// Why, for a person: `Not authorized (0x87): <the broker's words>`.
    pub fn why(&self) -> String {
        let (reason, words) = (self.reason, self.words);
        if words.is_empty() { reason.to_string() } else { format!("{reason}: {words}") }
    }
}

/// The first, and how many more.
impl fmt::Display for Rejections {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.iter().next() else { return out.write_str("nothing was refused") };
        match first.topic {
            "" => write!(out, "a publish was refused: {}", first.why())?,
            topic => write!(out, "publish to {topic:?} was refused: {}", first.why())?,
        }
        if self.count > 1 { write!(out, ", and {} more", self.count - 1) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASON: ReasonCode = ReasonCode::NotAuthorized;

    fn rejected<'a>(topic: &'a str, words: &'a str) -> Rejected<'a> {
        Rejected { topic: Some(topic), reason: REASON, words: Some(words).filter(|words| !words.is_empty()) }
    }

    /// Does it name the first with all that is known of it, and count the others?
    #[test]
    fn named() {
        let mut rejections = Rejections::default();
        rejections.push(7, &rejected("a/b", "closed on Sundays"));
        assert_eq!(rejections.to_string(), "publish to \"a/b\" was refused: Not authorized (0x87): closed on Sundays");
        rejections.push(9, &rejected("c", ""));
        assert!(
            rejections.to_string().ends_with("Not authorized (0x87): closed on Sundays, and 1 more"),
            "{rejections}"
        );
        let second = Rejection { number: 9, reason: REASON, topic: "c", words: "" };
        assert_eq!(rejections.iter().nth(1), Some(second));
        assert_eq!(second.why(), "Not authorized (0x87)");
        let mut unknown = Rejections::default();
        unknown.push(1, &Rejected { topic: None, reason: REASON, words: None });
        assert_eq!(unknown.to_string(), "a publish was refused: Not authorized (0x87)");
    }

    /// However many there are and however much the broker says: are all counted, and is no more kept than may be?
    #[test]
    fn bounded() {
        let mut rejections = Rejections::default();
        let long = "\u{20ac}".repeat(300);
        for number in 1..=100_000 {
            // One that fits behind one that did not would be shown with the texts of another.
            rejections.push(number, &rejected("t", if number == 2000 { "" } else { &long }));
        }
        assert_eq!((rejections.count(), rejections.iter().count()), (100_000, NUMBERS_MAX));
        assert!(rejections.texts_bytes <= TEXTS_BYTES_MAX);
        assert_eq!(rejections.iter().next().map(|first| first.words.len()), Some(510));
        let last = rejections.iter().last();
        assert_eq!(last, Some(Rejection { number: NUMBERS_MAX as u64, reason: REASON, topic: "", words: "" }));
        let with_texts = rejections.iter().take_while(|one| one.words.len() == 510).count();
        assert!(with_texts > 400 && rejections.iter().skip(with_texts).all(|one| one.topic.is_empty()));
    }
}
