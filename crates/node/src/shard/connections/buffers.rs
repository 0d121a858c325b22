//! Output buffers, lent to connections while they have something to write: an idle connection holds none.

/// Buffers kept, at most.
const KEPT_MAX: usize = 1024;
/// A larger buffer is given back to the allocator instead.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// Empty buffers with memory.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    kept: Vec<Vec<u8>>,
}

impl Buffers {
    /// A buffer; one that was used before, if there is any.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.kept.pop().unwrap_or_default()
    }

    /// Takes the memory of `buffer`, which is empty and stays usable.
    pub(crate) fn give_back(&mut self, buffer: &mut Vec<u8>) {
        let buffer = std::mem::take(buffer);
        if buffer.capacity() > 0 && buffer.capacity() <= KEPT_BYTES_MAX && self.kept.len() < KEPT_MAX {
            self.kept.push(buffer);
        }
    }
}
