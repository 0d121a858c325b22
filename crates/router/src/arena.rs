//! Values addressed by a `u32` that stays valid until removal; they never move, so growth never copies them.

use std::ops::{Index, IndexMut};

/// Values per chunk; a power of two, so that an index splits by shifting.
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 10;

/// A growing table in chunks with a list of free places.
pub(crate) struct Arena<T> {
    chunks: Vec<Vec<T>>,
    free: Vec<u32>,
}

impl<T: Default> Arena<T> {
    pub(crate) const fn new() -> Self {
        Arena { chunks: Vec::new(), free: Vec::new() }
    }

    /// Places `value` and returns its index.
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self[index] = value;
            return index;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let before = (self.chunks.len() - 1) * CHUNK;
        let chunk = self.chunks.last_mut().expect("a chunk with room was pushed above");
        chunk.push(value);
        u32::try_from(before + chunk.len() - 1).expect("fewer than 2^32 nodes fit into memory")
    }

    /// Frees the place `index`, which must be occupied, and returns what was there.
    pub(crate) fn remove(&mut self, index: u32) -> T {
        self.free.push(index);
        std::mem::take(&mut self[index])
    }

    /// All places, occupied or free.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.len() + self.free.len()
    }

    /// Occupied places.
    pub(crate) fn len(&self) -> usize {
        let placed = self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len());
        placed - self.free.len()
    }
}

impl<T> Index<u32> for Arena<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.chunks[(index >> CHUNK_BITS) as usize][index as usize & (CHUNK - 1)]
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.chunks[(index >> CHUNK_BITS) as usize][index as usize & (CHUNK - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_reused_and_counted() {
        let mut arena = Arena::new();
        let indices: Vec<u32> = (0..3000_u32).map(|n| arena.insert(n)).collect();
        assert_eq!(indices, (0..3000).collect::<Vec<_>>());
        assert_eq!((arena.remove(1500), arena.len()), (1500, 2999));
        assert_eq!(arena.insert(7), 1500);
        assert_eq!((arena[1500], arena.len()), (7, 3000));
    }
}
