//! Looking at a data folder from outside: what lies there, whether it is whole, and what can be done where it is not.
//!
//! Rules of the room:
//! - Looking changes nothing, on disk or in the files' names; it works in a folder that is read-only.
//! - It reads by the same code as a start does, and goes on behind damage: each record bears a checksum of its own, under a
//!   salt that no payload knows.
//! - What is damaged is given up only by name ([`DataFolder::accept_loss`]). Nothing readable goes with it: the segment is
//!   written anew beside the old one, at the same length, with every other record in its place.

pub(crate) mod area;
mod copy;
mod folder;
mod guard;
pub(crate) mod look;
mod mend;
mod presence;
mod records;
mod report;
pub(crate) mod salvage;
mod stream;
mod subject;
pub(crate) mod survey;

pub use copy::copy_folder;
pub use folder::{DataFolder, Started};
pub use guard::FolderGuard;
pub use mend::{Loss, LostRange, Remains};
pub use presence::look_at_files;
pub use records::{DumpRecord, RecordSource, Records};
pub use report::{FileKind, FileReport, Finding, Home, KnownFile, Severity};
pub use stream::made_partitions;
pub(crate) use stream::newest_of;
