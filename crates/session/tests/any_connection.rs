//! The fuzz target of whole connections on a stable compiler.

use lapwing_oracle::allocations::{self, Counting};
use lapwing_oracle::connection::{Story, check_connections};
use lapwing_oracle::variants::check_around;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Whatever comes in whatever order, does a client's own books find nothing wrong, and nothing too large?
#[test]
fn any_steps_of_any_connections() {
    allocations::assert_installed();
    let mut all = Story::default();
    check_around("connection", 20_000, |input| {
        let story = check_connections(input);
        all.granted += story.granted;
        all.handled += story.handled;
        all.received += story.received;
        all.closed += story.closed;
        all.crashed += story.crashed;
    });
    // The oracle sees nothing where nothing happens.
    assert!(all.crashed > 1_000, "{all:?}");
    assert!(all.granted > 10_000 && all.handled > 20_000 && all.received > 10_000 && all.closed > 5_000, "{all:?}");
}
