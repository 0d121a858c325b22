//! A set of packet ids: a few in a list, many in a bitmap.

use lapwing_codec::PacketId;

/// Above this many a bitmap of 8 KiB is smaller or faster than a list that is searched from its start.
const LIST_MAX: usize = 64;

/// Nothing is allocated while it is empty from the start.
#[derive(Debug, Default)]
pub(crate) struct IdSet {
    list: Vec<PacketId>,
    /// In use instead of the list from `LIST_MAX` ids on, until the set is empty.
    bitmap: Option<Box<[u64; 1024]>>,
    len: usize,
}

impl IdSet {
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn contains(&self, id: PacketId) -> bool {
        match &self.bitmap {
            Some(bits) => bits[word(id)] & bit(id) != 0,
            None => self.list.contains(&id),
        }
    }

    /// Returns whether it is new.
    pub(crate) fn insert(&mut self, id: PacketId) -> bool {
        if self.contains(id) {
            return false;
        }
        if self.bitmap.is_none() && self.list.len() == LIST_MAX {
            let mut bits = Box::new([0; 1024]);
            self.list.drain(..).for_each(|id| bits[word(id)] |= bit(id));
            self.list = Vec::new();
            self.bitmap = Some(bits);
        }
        match &mut self.bitmap {
            Some(bits) => bits[word(id)] |= bit(id),
            None => self.list.push(id),
        }
        self.len += 1;
        true
    }

    /// Returns whether it was there.
    pub(crate) fn remove(&mut self, id: PacketId) -> bool {
        if !self.contains(id) {
            return false;
        }
        self.len -= 1;
        match &mut self.bitmap {
            Some(bits) => bits[word(id)] &= !bit(id),
            None => self.list.retain(|other| *other != id),
        }
        if self.len == 0 {
            self.bitmap = None;
        }
        true
    }
}

const fn word(id: PacketId) -> usize {
    id.get() as usize / 64
}

const fn bit(id: PacketId) -> u64 {
    1 << (id.get() % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_and_bitmap_agree() {
        let ids: Vec<_> = (0..200_u16).map(|n| PacketId::new(n * 327 + 1).unwrap()).collect();
        let mut set = IdSet::default();
        assert!(ids[..LIST_MAX].iter().all(|id| set.insert(*id)) && set.bitmap.is_none());
        assert!(ids[LIST_MAX..].iter().all(|id| set.insert(*id)) && set.bitmap.is_some());
        assert!(ids.iter().all(|id| !set.insert(*id)));
        assert_eq!((set.len(), set.contains(PacketId::MAX)), (200, false));
        for (n, id) in ids.iter().enumerate() {
            assert!(set.remove(*id) && !set.remove(*id));
            assert!(
                ids.iter().enumerate().all(|(at, other)| set.contains(*other) == (at > n)),
                "without the first {n}"
            );
        }
        assert!(set.len() == 0 && set.bitmap.is_none());
    }
}
