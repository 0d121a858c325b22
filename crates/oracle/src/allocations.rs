//! Memory, counted at the allocator, per thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counted. A program that wants its memory watched makes it its global allocator.
pub struct Counting;

fn note(bytes: isize) {
    // `try_with`: a thread that ends may free after its counters are gone.
    let live = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        live.get()
    });
    if let Ok(live) = live {
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live)));
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + usize::from(bytes > 0)));
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counters are plain thread-local cells that
// allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size as isize - layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// What some work allocated on this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Bytes above the start at the highest point.
    pub peak_bytes: usize,
    /// Bytes still held at the end; negative when more was freed than allocated.
    pub kept_bytes: isize,
    /// How often something was allocated or grown.
    pub calls: usize,
}

/// Runs `work` and counts; everything is 0 when [`Counting`] is not the global allocator.
pub fn count<T>(work: impl FnOnce() -> T) -> (T, Used) {
    let (live, calls) = (LIVE.get(), CALLS.get());
    let outer_peak = PEAK.replace(live);
    let result = work();
    let peak = PEAK.get();
    PEAK.set(outer_peak.max(peak));
    let used =
        Used { peak_bytes: (peak - live).max(0) as usize, kept_bytes: LIVE.get() - live, calls: CALLS.get() - calls };
    (result, used)
}

/// Panics when [`Counting`] is not installed, so that a check of memory cannot pass by counting nothing.
pub fn assert_installed() {
    // Whoever compiles this must not find out that nobody needs the block.
    let (block, used) = count(|| black_box(Box::new([0_u8; 64])));
    drop(block);
    assert_eq!(used, Used { peak_bytes: 64, kept_bytes: 64, calls: 1 }, "the counting allocator is not installed");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    /// Are peak, rest and calls told apart, and does an inner count not spoil an outer one?
    #[test]
    fn peaks_and_rests() {
        assert_installed();
        let (kept, used) = count(|| {
            let large = black_box(vec![0_u8; 1000]);
            let (_, inner) = count(|| drop(black_box(vec![0_u8; 500])));
            assert_eq!(inner, Used { peak_bytes: 500, kept_bytes: 0, calls: 1 });
            drop(large);
            black_box(vec![0_u8; 10])
        });
        drop(kept);
        assert_eq!(used, Used { peak_bytes: 1500, kept_bytes: 10, calls: 3 });
    }
}
