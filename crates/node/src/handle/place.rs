//! Where a thread has panicked: nobody but the panic hook is told.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

thread_local! {
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

static WATCH: Once = Once::new();

/// From now on the place of each panic of this process is kept in its thread. The hook that was there is called as ever:
/// it says the panic on standard error, or what its owner wants.
pub(super) fn watch() {
    WATCH.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|location| format!("{}:{}", location.file(), location.line()));
            // A thread that ends has no such place any more; its panic is said all the same.
            let _ = PLACE.try_with(|kept| kept.set(place));
            before(info);
        }));
    });
}

/// Where this thread panicked last, as `FILE:LINE`.
pub(super) fn take() -> Option<String> {
    PLACE.take()
}
