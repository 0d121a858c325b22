//! A set of packet ids: a few in a list, many in a bitmap.

use lapwing_codec::PacketId;

/// Above this many a bitmap of 8 KiB is smaller or faster than a list that is searched from its start.
const LIST_MAX: usize = 64;

/// Nothing is allocated while it is empty from the start: most clients publish nothing with QoS 2.
#[derive(Debug, Default)]
pub(crate) struct IdSet(Option<Box<Ids>>);

#[derive(Debug)]
enum Ids {
    List(Vec<PacketId>),
    /// In use instead of the list from `LIST_MAX` ids on, until the set is empty.
    Bitmap(Box<Bitmap>),
}

#[derive(Debug)]
struct Bitmap {
    bits: [u64; 1024],
    len: usize,
}

impl IdSet {
    pub(crate) fn len(&self) -> usize {
        match self.0.as_deref() {
            None => 0,
            Some(Ids::List(list)) => list.len(),
            Some(Ids::Bitmap(bitmap)) => bitmap.len,
        }
    }

    pub(crate) fn contains(&self, id: PacketId) -> bool {
        match self.0.as_deref() {
            None => false,
            Some(Ids::List(list)) => list.contains(&id),
            Some(Ids::Bitmap(bitmap)) => bitmap.bits[word(id)] & bit(id) != 0,
        }
    }

    /// Returns whether it is new.
    pub(crate) fn insert(&mut self, id: PacketId) -> bool {
        if self.contains(id) {
            return false;
        }
        let ids = self.0.get_or_insert_with(|| Box::new(Ids::List(Vec::with_capacity(1))));
        if let Ids::List(list) = &mut **ids
            && list.len() == LIST_MAX
        {
            let mut bitmap = Box::new(Bitmap { bits: [0; 1024], len: 0 });
            list.iter().for_each(|id| bitmap.insert(*id));
            **ids = Ids::Bitmap(bitmap);
        }
        match &mut **ids {
            Ids::List(list) => list.push(id),
            Ids::Bitmap(bitmap) => bitmap.insert(id),
        }
        true
    }

    /// Returns whether it was there.
    pub(crate) fn remove(&mut self, id: PacketId) -> bool {
        if !self.contains(id) {
            return false;
        }
        match self.0.as_deref_mut() {
            None => {}
            Some(Ids::List(list)) => list.retain(|other| *other != id),
            Some(Ids::Bitmap(bitmap)) if bitmap.len == 1 => self.0 = None,
            Some(Ids::Bitmap(bitmap)) => {
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
        assert!(ids[..LIST_MAX].iter().all(|id| set.insert(*id)) && matches!(set.0.as_deref(), Some(Ids::List(_))));
        assert!(ids[LIST_MAX..].iter().all(|id| set.insert(*id)) && matches!(set.0.as_deref(), Some(Ids::Bitmap(_))));
        assert!(ids.iter().all(|id| !set.insert(*id)));
        assert_eq!((set.len(), set.contains(PacketId::MAX)), (200, false));
        for (n, id) in ids.iter().enumerate() {
            assert!(set.remove(*id) && !set.remove(*id));
            assert!(
                ids.iter().enumerate().all(|(at, other)| set.contains(*other) == (at > n)),
                "without the first {n}"
            );
        }
        assert!(set.len() == 0 && set.0.is_none());
    }
}
