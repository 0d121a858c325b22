//! Does decoding, or encoding into a buffer that is large enough, allocate? It must not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use lapwing_codec::*;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain thread-local that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn a_publish_is_read_and_written_without_allocating() {
    let mut user = UserPropertiesBuf::new();
    user.push("lapwing-sent-at-us", "1575205500000000").unwrap();
    let ids = [SubscriptionId::new(3).unwrap()];
    let properties = PublishProperties {
        response_topic: Some("r"),
        subscription_ids: SubscriptionIds::from_slice(&ids),
        user: user.as_ref(),
        ..PublishProperties::default()
    };
    let publish = Publish { properties, ..Publish::qos0("spectrum/ö/readings", b"payload") };
    let limits = Limits::default();
    for version in [Version::V311, Version::V5] {
        let mut out = Vec::with_capacity(1024);
        let written = allocations(|| publish.encode(version, &mut out).unwrap());
        let read = allocations(|| {
            let Ok(Some((Packet::Publish(publish), _))) = decode(&out, version, &limits) else { panic!("a PUBLISH") };
            assert_eq!(publish.properties.user.iter().count(), if version == Version::V5 { 1 } else { 0 });
        });
        assert_eq!((written, read), (0, 0), "{version:?}");
    }
    assert_eq!(allocations(|| drop(vec![1u8])), 1, "the counter counts");
}
