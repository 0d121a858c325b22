//! Interned level names: equal text, equal number.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::arena::Arena;
use crate::edges::SplitTable;

/// The number of a level name, valid while a node uses it.
pub(crate) type SegmentId = u32;

#[derive(Default)]
struct Segment {
    text: Box<str>,
    /// Nodes that carry this name.
    uses: u32,
}

/// All level names in use.
pub(crate) struct Segments {
    names: Arena<Segment>,
    table: SplitTable,
    state: DefaultHashBuilder,
}

impl Segments {
    pub(crate) fn new() -> Self {
        Segments { names: Arena::new(), table: SplitTable::default(), state: DefaultHashBuilder::default() }
    }

    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<SegmentId> {
        self.find_hashed(self.state.hash_one(text), text)
    }

    #[inline]
    fn find_hashed(&self, hash: u64, text: &str) -> Option<SegmentId> {
        self.table.find(hash, |index| &*self.names[index].text == text)
    }

    /// The number of `text`, with one more user.
    pub(crate) fn acquire(&mut self, text: &str) -> SegmentId {
        let hash = self.state.hash_one(text);
        if let Some(id) = self.find_hashed(hash, text) {
            self.names[id].uses += 1;
            return id;
        }
        let id = self.names.insert(Segment { text: text.into(), uses: 1 });
        self.table.insert(hash, id);
        id
    }

    /// One user less; the last one frees the name.
    pub(crate) fn release(&mut self, id: SegmentId) {
        let segment = &mut self.names[id];
        segment.uses -= 1;
        if segment.uses > 0 {
            return;
        }
        let hash = self.state.hash_one(&*segment.text);
        self.table.remove(hash, id);
        self.names.remove(id);
    }

    pub(crate) fn text(&self, id: SegmentId) -> &str {
        &self.names[id].text
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.names.places()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_lives_as_long_as_its_users() {
        let mut segments = Segments::new();
        let id = segments.acquire("cork");
        assert_eq!((segments.acquire("cork"), segments.find("cork"), segments.text(id)), (id, Some(id), "cork"));
        segments.release(id);
        assert_eq!(segments.find("cork"), Some(id));
        segments.release(id);
        assert_eq!((segments.find("cork"), segments.len()), (None, 0));
    }
}
