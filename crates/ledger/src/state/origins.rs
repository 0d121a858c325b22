//! The highest use number that was seen of each publisher's session: what comes with one that is not higher is a repeat.
//!
//! Nobody says when a session in another data group is over, so what is old has to go by itself: marks lie in two
//! generations; when the younger one is full the older one is forgotten. A mark outlives that many other publishers.

use rustc_hash::FxHashMap;

use crate::{KeeperId, Origin};

/// Publishers of one generation; 2 MiB at most.
const GENERATION_MAX: usize = 65_536;

type Marks = FxHashMap<(u16, KeeperId), u64>;

#[derive(Debug, Default)]
pub(crate) struct Origins {
    young: Marks,
    old: Marks,
}

impl Origins {
    pub(crate) fn note(&mut self, origin: &Origin) {
        let key = (origin.group, origin.session);
        let mark = self.mark(origin).unwrap_or(0).max(origin.use_number);
        if self.young.len() >= GENERATION_MAX && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, mark);
    }

    pub(crate) fn is_repeat(&self, origin: &Origin) -> bool {
        self.mark(origin).is_some_and(|mark| origin.use_number <= mark)
    }

    fn mark(&self, origin: &Origin) -> Option<u64> {
        let key = (origin.group, origin.session);
        self.young.get(&key).or_else(|| self.old.get(&key)).copied()
    }

    /// Of the old generation, then of the young one; each by publisher.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (bool, Origin)> {
        sorted(&self.old)
            .into_iter()
            .map(|origin| (false, origin))
            .chain(sorted(&self.young).into_iter().map(|origin| (true, origin)))
    }

    /// Puts a mark back where it was.
    pub(crate) fn restore(&mut self, is_young: bool, origin: &Origin) {
        let marks = if is_young { &mut self.young } else { &mut self.old };
        marks.insert((origin.group, origin.session), origin.use_number);
    }
}

fn sorted(marks: &Marks) -> Vec<Origin> {
    let origin = |(&(group, session), &use_number): (&(u16, KeeperId), &u64)| Origin { group, session, use_number };
    let mut origins: Vec<_> = marks.iter().map(origin).collect();
    origins.sort_unstable_by_key(|origin| (origin.group, origin.session));
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(session: u64, use_number: u64) -> Origin {
        Origin { group: 3, session: KeeperId(session), use_number }
    }

    /// Is a mark the highest number, and bounded in its life only by many others?
    #[test]
    fn marks_outlive_a_generation_of_others() {
        let mut origins = Origins::default();
        origins.note(&origin(1, 5));
        origins.note(&origin(1, 4));
        assert!(origins.is_repeat(&origin(1, 5)) && !origins.is_repeat(&origin(1, 6)));
        assert!(!origins.is_repeat(&Origin { group: 4, ..origin(1, 5) }));
        (2..=GENERATION_MAX as u64 + 1).for_each(|session| origins.note(&origin(session, 1)));
        assert!(origins.is_repeat(&origin(1, 5)));
        (0..2 * GENERATION_MAX as u64).for_each(|n| origins.note(&origin(n % 100 + 100_000, n)));
        assert!(origins.is_repeat(&origin(1, 5)), "those who publish often take no place");
        (0..2 * GENERATION_MAX as u64).for_each(|n| origins.note(&origin(n + 200_000, 1)));
        assert!(!origins.is_repeat(&origin(1, 5)));
        assert!(origins.young.len() <= GENERATION_MAX && origins.old.len() <= GENERATION_MAX);
    }
}
