//! What the operator hears of those who guess: the first at once, then one line in ten seconds, however many they are.

use std::collections::BTreeMap;

use lapwing_codec::ReasonCode;
use serde_json::json;

use super::failures::Bar;
use super::source::Source;
use crate::notices::Line;
use crate::secrets::without_secrets;

/// Between two lines of wrong passwords; and so often bars are counted anew.
const PAUSE_MS: u64 = 10_000;
/// Addresses told apart between two lines.
const SOURCES_MAX: usize = 256;
/// Bars that have a line of their own in that time; what is beyond is a number.
const BARS_MAX: usize = 5;
/// As much of a name as is shown.
const NAME_CHARS_MAX: usize = 64;

/// What is to be told.
#[derive(Debug)]
pub(crate) struct GuessWords {
    window_s: u64,
    bar_s: u64,
    /// 0: nothing was told yet.
    told_ms: u64,
    wrong: u64,
    by_source: BTreeMap<Source, u64>,
    /// The name that was tried last.
    last: Option<(Source, String)>,
    bars: Vec<Line>,
    bars_told: usize,
    bars_untold: u64,
}

impl GuessWords {
    pub(crate) fn new(window_ms: u64, bar_ms: u64) -> Self {
        GuessWords {
            window_s: window_ms.div_ceil(1000),
            bar_s: bar_ms.div_ceil(1000),
            told_ms: 0,
            wrong: 0,
            by_source: BTreeMap::new(),
            last: None,
            bars: Vec::new(),
            bars_told: 0,
            bars_untold: 0,
        }
    }

    /// A wrong password.
    pub(crate) fn wrong(&mut self, source: Source, username: &str) {
        self.wrong += 1;
        self.last = Some((source, shown(username)));
        if self.by_source.len() < SOURCES_MAX || self.by_source.contains_key(&source) {
            *self.by_source.entry(source).or_default() += 1;
        }
    }

    /// Somebody is kept out from now on.
    pub(crate) fn barred(&mut self, bar: &Bar) {
        if self.bars_told + self.bars.len() >= BARS_MAX {
            self.bars_untold += 1;
            return;
        }
        let name = bar.username.as_deref().map(|name| format!(" as \"{}\"", shown(name))).unwrap_or_default();
        let Bar { source, failures, .. } = bar;
        let GuessWords { window_s, bar_s, .. } = self;
        let line = format!(
            "{source} may not log in{name} for {bar_s} s: {failures} wrong passwords within {window_s} s; see lapwing bans"
        );
        let facts = json!({
            "event": "barred", "address": source.to_string(), "claimed_username": bar.username.as_deref().map(shown),
            "count": failures, "seconds": bar_s,
        });
        self.bars.push((line, facts).into());
    }

    /// The lines that are due.
    pub(crate) fn take(&mut self, now_ms: u64) -> Vec<Line> {
        let mut lines = std::mem::take(&mut self.bars);
        self.bars_told += lines.len();
        if self.told_ms == 0 || now_ms >= self.told_ms + PAUSE_MS {
            lines.extend(self.line());
            if self.bars_untold > 0 {
                let text = format!("{} more addresses and names may not log in; see lapwing bans", self.bars_untold);
                lines.push((text, json!({"event": "barred", "count": self.bars_untold})).into());
            }
            if !lines.is_empty() {
                self.told_ms = now_ms.max(1);
            }
            (self.bars_told, self.bars_untold) = (0, 0);
        }
        lines
    }

    fn line(&mut self) -> Option<Line> {
        let (last, username) = self.last.take()?;
        let (wrong, by_source) = (std::mem::take(&mut self.wrong), std::mem::take(&mut self.by_source));
        let (most, of_most) =
            by_source.iter().max_by_key(|(_, count)| **count).map_or((last, wrong), |(s, n)| (*s, *n));
        let text = match (wrong, by_source.len()) {
            (1, _) => format!("{last} gave a wrong password for \"{username}\""),
            (_, 1) => format!("{most} gave {wrong} wrong passwords, the last for \"{username}\""),
            (_, sources) => {
                let at_least = if sources < SOURCES_MAX { "" } else { "at least " };
                format!(
                    "{at_least}{sources} addresses gave {wrong} wrong passwords, {of_most} of them {most}; \
                     the last was {last} for \"{username}\""
                )
            }
        };
        let reason = ReasonCode::BadUserNameOrPassword;
        let facts = json!({
            "event": "refused", "address": last.to_string(), "claimed_username": username, "count": wrong,
            "addresses": by_source.len(), "reason": reason.name(), "reason_code": reason.value(),
        });
        Some((text, facts).into())
    }
}

fn shown(username: &str) -> String {
    let hidden = without_secrets(username);
    let mut name: String = hidden.chars().take(NAME_CHARS_MAX).collect();
    if name.len() < hidden.len() {
        name.push('…');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(n: u8) -> Source {
        Source::V4([192, 0, 2, n].into())
    }

    fn words() -> GuessWords {
        GuessWords::new(60_000, 300_000)
    }

    fn texts(words: &mut GuessWords, now_ms: u64) -> Vec<String> {
        words.take(now_ms).into_iter().map(|line| line.text).collect()
    }

    /// Do programs have who, from where, how often and why by name, also of what is told together?
    #[test]
    fn a_line_has_its_facts() {
        let mut words = words();
        words.wrong(from(1), "bob");
        assert_eq!(
            words.take(1)[0].facts,
            Some(json!({
                "event": "refused", "address": "192.0.2.1", "claimed_username": "bob", "count": 1, "addresses": 1,
                "reason": "Bad User Name or Password", "reason_code": 0x86,
            }))
        );
        words.wrong(from(1), "bob");
        words.wrong(from(2), "eve");
        let together = words.take(20_000).remove(0).facts.unwrap();
        assert_eq!((&together["count"], &together["addresses"]), (&json!(2), &json!(2)));
        assert_eq!((&together["address"], &together["claimed_username"]), (&json!("192.0.2.2"), &json!("eve")));
        words.barred(&Bar { source: from(1), username: Some("bob".into()), failures: 20, until_ms: 1 });
        assert_eq!(
            words.take(20_001)[0].facts,
            Some(json!({
                "event": "barred", "address": "192.0.2.1", "claimed_username": "bob", "count": 20, "seconds": 300
            }))
        );
    }

    /// Is the first wrong password told at once, with address and name, and what follows once in ten seconds?
    #[test]
    fn the_first_at_once_and_the_others_together() {
        let mut words = words();
        assert!(texts(&mut words, 1).is_empty());
        words.wrong(from(1), "bob");
        assert_eq!(texts(&mut words, 2), ["192.0.2.1 gave a wrong password for \"bob\""]);
        for n in 0..1000u64 {
            words.wrong(from(1), "bob");
            assert!(texts(&mut words, 3 + n).is_empty());
        }
        assert_eq!(texts(&mut words, 10_002), ["192.0.2.1 gave 1000 wrong passwords, the last for \"bob\""]);
        (0..3).for_each(|_| words.wrong(from(1), "bob"));
        words.wrong(from(2), &"x".repeat(65_000));
        let lines = texts(&mut words, 30_000);
        assert!(
            lines[0].starts_with("2 addresses gave 4 wrong passwords, 3 of them 192.0.2.1; the last was 192.0.2.2")
        );
        assert!(lines[0].len() < 300 && texts(&mut words, 60_000).is_empty());
    }

    /// Is a token that somebody gives for a name in no line, be it one of ours or another's?
    #[test]
    fn a_token_for_a_name_stays_secret() {
        let (mut words, secret) = (words(), "aB-_0".repeat(9));
        words.wrong(from(1), &format!("lapwing_{secret}"));
        assert_eq!(texts(&mut words, 1), ["192.0.2.1 gave a wrong password for \"lapwing_***\""]);
        words.wrong(from(1), "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk");
        assert_eq!(texts(&mut words, 20_000), ["192.0.2.1 gave a wrong password for \"***\""]);
        words.barred(&Bar {
            source: from(1),
            username: Some(format!("lapwing_{secret}").as_str().into()),
            failures: 20,
            until_ms: 1,
        });
        assert!(
            texts(&mut words, 20_001).iter().all(|line| line.contains("\"lapwing_***\"") && !line.contains(&secret))
        );
    }

    /// Does a flood of bars have a few lines and a number?
    #[test]
    fn bars_are_told_one_by_one_up_to_a_bound() {
        let mut words = words();
        for n in 0..100 {
            let username = (n == 0).then(|| "bob".into());
            words.barred(&Bar { source: from(n), username, failures: 20, until_ms: 1 });
        }
        let lines = texts(&mut words, 5);
        assert_eq!(
            lines[0],
            "192.0.2.0 may not log in as \"bob\" for 300 s: 20 wrong passwords within 60 s; see lapwing bans"
        );
        assert_eq!((lines.len(), &*lines[5]), (6, "95 more addresses and names may not log in; see lapwing bans"));
        words.barred(&Bar { source: from(1), username: None, failures: 100, until_ms: 1 });
        assert_eq!(texts(&mut words, 6).len(), 1);
    }

    /// Is as many addresses as there may be all that is kept?
    #[test]
    fn addresses_beyond_the_bound_are_a_number() {
        let mut words = words();
        for n in 0..1000u32 {
            words.wrong(Source::V4(n.into()), "bob");
        }
        assert_eq!(words.by_source.len(), SOURCES_MAX);
        assert!(texts(&mut words, 1)[0].starts_with("at least 256 addresses gave 1000 wrong passwords"));
    }
}
