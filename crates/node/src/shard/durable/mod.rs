//! What is on disk and comes back after a crash, and who waits until it is there.

pub(super) mod acknowledge;
pub(super) mod commits;
pub(super) mod keeping;
pub(super) mod kept;
pub(super) mod owed_wills;
pub(super) mod paging;
pub(super) mod restored;
pub(super) mod settlement;
pub(super) mod waiting;
pub(super) mod windows;
