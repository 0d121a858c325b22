//! Who has not answered since it was connected, by listener: the first to go when a place is wanted.

use std::collections::{HashSet, VecDeque};

/// One that had not answered when it was connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) index: usize,
    pub(super) born: u64,
    /// Goes up from call to call, of all listeners.
    number: u64,
}

/// So many are kept before those are looked for that have answered.
pub(super) const SPARE: usize = 64;

/// Those, the oldest first; some have answered since, or are gone.
#[derive(Debug, Default)]
pub(super) struct Silent {
    by_door: Vec<VecDeque<Called>>,
    calls: u64,
    /// So many were left when those were taken out that have answered.
    left: usize,
}

impl Silent {
    pub(super) fn len(&self) -> usize {
        self.by_door.iter().map(VecDeque::len).sum()
    }

    /// It is connected through that listener, and may have to go.
    pub(super) fn add(&mut self, door: usize, index: usize, born: u64) {
        if self.by_door.len() <= door {
            self.by_door.resize_with(door + 1, VecDeque::new);
        }
        self.calls += 1;
        self.by_door[door].push_back(Called { index, born, number: self.calls });
    }

    /// Whether as many have come as were silent: most of them, who have answered, need no place any more.
    pub(super) fn is_to_be_swept(&self) -> bool {
        self.len() >= 2 * self.left + SPARE
    }

    /// Leaves each of them there once, where it called last: one address may call often, each time as somebody else.
    pub(super) fn sweep(&mut self, is_silent: impl Fn(&Called) -> bool) {
        for queue in &mut self.by_door {
            let mut seen = HashSet::new();
            let silent = std::mem::take(queue).into_iter().rev();
            let mut last: VecDeque<_> =
                silent.filter(|called| is_silent(called) && seen.insert(called.index)).collect();
            last.make_contiguous().reverse();
            *queue = last;
        }
        self.left = self.len();
    }

    /// Takes out who has connected first, of one listener or of all, another than the one at `index`.
    pub(super) fn oldest(
        &mut self,
        index: usize,
        door: Option<usize>,
        is_silent: impl Fn(&Called) -> bool,
    ) -> Option<usize> {
        let (mut own, mut oldest) = (None, None::<(u64, usize)>);
        for (number, queue) in self.by_door.iter_mut().enumerate() {
            if door.is_some_and(|door| door != number) {
                continue;
            }
            // Each is looked at once: a flood of made-up addresses finds nobody again who has answered.
            while let Some(called) = queue.pop_front() {
                if !is_silent(&called) {
                    continue;
                }
                if called.index == index {
                    own = own.or(Some((number, called)));
                    continue;
                }
                if oldest.is_none_or(|(at, _)| called.number < at) {
                    oldest = Some((called.number, number));
                }
                queue.push_front(called);
                break;
            }
        }
        let oldest = oldest.and_then(|(_, door)| self.by_door[door].pop_front());
        if let Some((door, own)) = own {
            self.by_door[door].push_front(own);
        }
        oldest.map(|called| called.index)
    }

    pub(super) fn clear(&mut self) {
        *self = Silent { calls: self.calls, ..Silent::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a listener's bound take the oldest of its own, and the node's the oldest of all?
    #[test]
    fn each_listener_has_its_own() {
        let mut silent = Silent::default();
        for (index, door) in [1, 0, 1, 0, 2].into_iter().enumerate() {
            silent.add(door, index, 1);
        }
        let mut oldest = |door| silent.oldest(usize::MAX, door, |_| true);
        assert_eq!(
            (oldest(Some(0)), oldest(Some(2)), oldest(Some(2)), oldest(Some(7))),
            (Some(1), Some(4), None, None)
        );
        assert_eq!((oldest(None), oldest(None), oldest(None), oldest(None)), (Some(0), Some(2), Some(3), None));
    }
}
