//! The lines that wait to be taken, by kind.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::NoticeKind;
use super::window::{LeftOut, Window};
use crate::metrics::Metric;
use crate::one_line::one_line;
use crate::secrets::{without_secrets, without_secrets_in};

/// Time that a rate is counted over.
const WINDOW_MS: u64 = 60_000;
/// Lines of one kind that wait to be taken.
const ROOM: usize = 128;

/// The notices of a node: told by any thread, taken by one.
pub(crate) struct Notices(Mutex<Board>);

struct Board {
    desks: [Desk; NoticeKind::COUNT],
    /// Lines so far: their order among all kinds.
    told: u64,
}

/// One line in words, and what is in it by name, for programs.
#[derive(Debug, PartialEq)]
pub(crate) struct Line {
    /// Escaped when it is told, so that it stays one; without tokens.
    pub(crate) text: String,
    /// An object, as it was said by whoever it is about, tokens apart.
    pub(crate) facts: Option<Value>,
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line { text, facts: None }
    }
}

impl From<(String, Value)> for Line {
    fn from((text, facts): (String, Value)) -> Self {
        Line { text, facts: Some(facts) }
    }
}

/// One kind's lines.
struct Desk {
    kind: NoticeKind,
    window: Window,
    waiting: VecDeque<(u64, Line)>,
    /// Lost for want of room since they were taken last.
    lost_since: u64,
    told: u64,
    left_out: u64,
    lost: u64,
}

impl Notices {
    /// `per_minute`: of each kind.
    pub(crate) fn new(per_minute: u32) -> Self {
        let per_minute = u64::from(per_minute);
        let desk = |kind: NoticeKind| Desk {
            kind,
            window: Window::new(per_minute * kind.rate(), WINDOW_MS),
            waiting: VecDeque::new(),
            lost_since: 0,
            told: 0,
            left_out: 0,
            lost: 0,
        };
        Notices(Mutex::new(Board { desks: NoticeKind::ALL.map(desk), told: 0 }))
    }

    /// Adds a line, escaped so that it stays one, and without the tokens that somebody gave for a name; what comes too often, or finds no room, is counted.
    pub(crate) fn tell(&self, kind: NoticeKind, text: String, now_ms: u64) {
        self.tell_with(kind, now_ms, || text);
    }

    /// The same where the line is made only if it is heard; whether it is.
    pub(crate) fn tell_with<L: Into<Line>>(&self, kind: NoticeKind, now_ms: u64, line: impl FnOnce() -> L) -> bool {
        let board = &mut *self.board();
        board.end_window(kind, now_ms);
        let desk = &mut board.desks[kind as usize];
        let is_heard = desk.window.admit(now_ms);
        if is_heard {
            desk.told += 1;
            let Line { text, facts } = line().into();
            let text = one_line(without_secrets(&text).into_owned());
            board.add(kind, Line { text, facts: facts.map(without_secrets_in) });
        } else {
            desk.left_out += 1;
        }
        is_heard
    }

    /// Takes the lines that wait, as they came, and with them what was left out.
    pub(crate) fn take(&self, now_ms: u64) -> Vec<(NoticeKind, Line)> {
        let board = &mut *self.board();
        for kind in NoticeKind::ALL {
            board.end_window(kind, now_ms);
        }
        let mut lines: Vec<(u64, NoticeKind, Line)> = board.desks.iter_mut().flat_map(|desk| desk.drain()).collect();
        lines.sort_unstable_by_key(|(order, ..)| *order);
        let lost = board.desks.iter_mut().filter_map(|desk| Some((desk.kind, Line::from(desk.lost_line()?))));
        lines.into_iter().map(|(_, kind, line)| (kind, line)).chain(lost).collect()
    }

    /// Counters by kind.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let board = self.board();
        let of = |name, help, value: fn(&Desk) -> u64| {
            let metric = move |desk: &Desk| Metric::counter(name, help, value(desk)).with("kind", desk.kind.as_str());
            board.desks.iter().map(metric).collect::<Vec<_>>()
        };
        let mut metrics = of("lapwing_notices_total", "Notices for the operator, by kind.", |desk| desk.told);
        let left_out = "Notices left out because their kind had notices_per_minute already, by kind.";
        metrics.extend(of("lapwing_notices_left_out_total", left_out, |desk| desk.left_out));
        let lost = "Notices lost because nobody took them and their kind had no room, by kind.";
        metrics.extend(of("lapwing_notices_lost_total", lost, |desk| desk.lost));
        metrics
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    fn end_window(&mut self, kind: NoticeKind, now_ms: u64) {
        if let Some(LeftOut { count, seconds }) = self.desks[kind as usize].window.end(now_ms) {
            let what = kind.as_str();
            let text = format!("{count} more notices of the kind \"{what}\" in the last {seconds} s were left out");
            self.add(kind, Line::from(text));
        }
    }

    fn add(&mut self, kind: NoticeKind, line: Line) {
        let order = self.told;
        self.told += 1;
        self.desks[kind as usize].add(order, line);
    }
}

impl Desk {
    /// Of alarms the newest are kept, for the node is as they say; of others the first, for they say how it began.
    fn add(&mut self, order: u64, line: Line) {
        let is_full = self.waiting.len() >= ROOM;
        if is_full {
            self.lost += 1;
            self.lost_since += 1;
        }
        if is_full && self.kind.is_alarm() {
            self.waiting.pop_front();
        }
        if self.waiting.len() < ROOM {
            self.waiting.push_back((order, line));
        }
    }

    fn drain(&mut self) -> impl Iterator<Item = (u64, NoticeKind, Line)> {
        let kind = self.kind;
        self.waiting.drain(..).map(move |(order, line)| (order, kind, line))
    }

    fn lost_line(&mut self) -> Option<String> {
        let lost = std::mem::take(&mut self.lost_since);
        let what = self.kind.as_str();
        (lost > 0).then(|| format!("{lost} more notices of the kind \"{what}\" are lost: nobody had taken them"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flood(notices: &Notices, times: u64, now_ms: u64) {
        (0..times).for_each(|n| notices.tell(NoticeKind::Group, format!("group {n} is behind"), now_ms));
    }

    fn take(notices: &Notices, now_ms: u64) -> Vec<String> {
        notices.take(now_ms).into_iter().map(|(_, line)| line.text).collect()
    }

    fn count(notices: &Notices, name: &str, kind: &str) -> f64 {
        let metrics = notices.metrics();
        metrics.iter().find(|metric| metric.name == name && metric.labels[0].1 == kind).unwrap().value
    }

    /// Is an alarm told in the midst of a flood that clients make, whoever came first, and is the flood bounded and counted?
    #[test]
    fn no_flood_takes_the_place_of_an_alarm() {
        let notices = Notices::new(60);
        flood(&notices, 5_000, 1_000);
        notices.tell(NoticeKind::Memory, "memory is short".into(), 1_000);
        flood(&notices, 5_000, 1_001);
        let lines = take(&notices, 1_500);
        assert_eq!(lines.len(), 61, "{lines:?}");
        assert_eq!(lines[60], "memory is short");
        let after = take(&notices, 61_000);
        assert_eq!(after, ["9940 more notices of the kind \"group\" in the last 60 s were left out"]);
        assert_eq!(count(&notices, "lapwing_notices_total", "group"), 60.0);
        assert_eq!(count(&notices, "lapwing_notices_left_out_total", "group"), 9_940.0);
        assert_eq!(count(&notices, "lapwing_notices_left_out_total", "memory"), 0.0);
    }

    /// Are lines of several kinds taken in the order in which they came, each as one line?
    #[test]
    fn lines_come_in_order() {
        let notices = Notices::new(60);
        notices.tell(NoticeKind::Other, "a\nnotice: forged".into(), 0);
        notices.tell(NoticeKind::Memory, "b".into(), 0);
        notices.tell(NoticeKind::Other, "c".into(), 0);
        assert_eq!(take(&notices, 0), [r"a\u{a}notice: forged", "b", "c"]);
        assert!(take(&notices, 0).is_empty());
    }

    /// Is a token that somebody gave for a name in no line, neither in its words nor in its facts?
    #[test]
    fn no_line_has_a_token() {
        let notices = Notices::new(60);
        let (token, jwt) = ("lapwing_0123456789abcdefghij", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk");
        let told = json!({"client_id": jwt, "topic": format!("a/{token}")});
        notices
            .tell_with(NoticeKind::Refused, 0, || (format!("client {jwt:?} may not publish to \"a/{token}\""), told));
        let lines = notices.take(0);
        let line = &lines[0].1;
        assert_eq!(line.text, "client \"***\" may not publish to \"a/lapwing_***\"");
        assert_eq!(line.facts, Some(json!({"client_id": "***", "topic": "a/lapwing_***"})));
    }

    /// When nobody takes them for a day, are the first of a kind and the newest alarms there, and is it said how many are not?
    #[test]
    fn what_nobody_takes_is_bounded_and_said() {
        let notices = Notices::new(60);
        for minute in 0..24 * 60 {
            notices.tell(NoticeKind::Disk, format!("disk {minute}"), minute * WINDOW_MS);
            flood(&notices, 2, minute * WINDOW_MS);
        }
        let lines = take(&notices, 24 * 60 * WINDOW_MS);
        assert_eq!(lines.len(), 2 * ROOM + 2);
        assert!(lines.contains(&"disk 1439".to_owned()) && !lines.contains(&"disk 0".to_owned()));
        assert!(lines.contains(&"group 0 is behind".to_owned()));
        let lost = "1312 more notices of the kind \"disk\" are lost: nobody had taken them".to_owned();
        assert!(lines.contains(&lost), "{lines:?}");
        assert_eq!(count(&notices, "lapwing_notices_lost_total", "disk"), 1_312.0);
        assert_eq!(count(&notices, "lapwing_notices_lost_total", "group"), (2 * 1_440 - 128) as f64);
        assert!(take(&notices, 24 * 60 * WINDOW_MS).is_empty(), "told once");
    }
}
