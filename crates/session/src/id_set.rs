//! A set of packet ids: a few in a list, many in a bitmap.

use lapwing_codec::PacketId;

/// Above this many a bitmap of 8 KiB is smaller or faster than a list that is searched from its start.
const LIST_MAX: usize = 64;

/// Nothing is allocated while it is empty from the start: most clients publish nothing with QoS 2.
#[derive(Debug, Default)]
pub(crate) enum IdSet {
    #[default]
    Empty,
    #[expect(clippy::box_collection, reason = "a list's own three words would be in every session")]
    List(Box<Vec<PacketId>>),
    /// In use instead of the list from `LIST_MAX` ids on, until the set is empty.
    Bitmap(Box<Bitmap>),
}

#[derive(Debug)]
pub(crate) struct Bitmap {
    bits: [u64; 1024],
    len: usize,
}

impl IdSet {
    pub(crate) fn len(&self) -> usize {
        match self {
            IdSet::Empty => 0,
            IdSet::List(list) => list.len(),
            IdSet::Bitmap(bitmap) => bitmap.len,
        }
    }

    pub(crate) fn contains(&self, id: PacketId) -> bool {
        match self {
            IdSet::Empty => false,
            IdSet::List(list) => list.contains(&id),
            IdSet::Bitmap(bitmap) => bitmap.bits[word(id)] & bit(id) != 0,
        }
    }

    /// Returns whether it is new.
    pub(crate) fn insert(&mut self, id: PacketId) -> bool {
        if self.contains(id) {
            return false;
        }
        if let IdSet::List(list) = self
            && list.len() == LIST_MAX
        {
            let mut bitmap = Box::new(Bitmap { bits: [0; 1024], len: 0 });
            list.iter().for_each(|id| bitmap.insert(*id));
            *self = IdSet::Bitmap(bitmap);
        }
        match self {
            IdSet::Empty => *self = IdSet::List(Box::new(vec![id])),
            IdSet::List(list) => list.push(id),
            IdSet::Bitmap(bitmap) => bitmap.insert(id),
        }
        true
    }

    /// Returns whether it was there.
    pub(crate) fn remove(&mut self, id: PacketId) -> bool {
        if !self.contains(id) {
            return false;
        }
        match self {
            IdSet::Empty => {}
            IdSet::List(list) => list.retain(|other| *other != id),
            IdSet::Bitmap(bitmap) if bitmap.len == 1 => *self = IdSet::default(),
            IdSet::Bitmap(bitmap) => {
                bitmap.bits[word(id)] &= !bit(id);
                bitmap.len -= 1;
            }
        }
        true
    }
}

impl Bitmap {
    /// One that is not there.
    fn insert(&mut self, id: PacketId) {
        self.bits[word(id)] |= bit(id);
        self.len += 1;
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
        assert!(ids[..LIST_MAX].iter().all(|id| set.insert(*id)) && matches!(set, IdSet::List(_)));
        assert!(ids[LIST_MAX..].iter().all(|id| set.insert(*id)) && matches!(set, IdSet::Bitmap(_)));
        assert!(ids.iter().all(|id| !set.insert(*id)));
        assert_eq!((set.len(), set.contains(PacketId::MAX)), (200, false));
        for (n, id) in ids.iter().enumerate() {
            assert!(set.remove(*id) && !set.remove(*id));
            assert!(
                ids.iter().enumerate().all(|(at, other)| set.contains(*other) == (at > n)),
                "without the first {n}"
            );
        }
        assert!(set.len() == 0 && matches!(set, IdSet::Empty));
    }
}
