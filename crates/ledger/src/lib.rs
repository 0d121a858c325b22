//! What the entries of a data group say, as bytes, and the state that they add up to.
//!
//! Rules of the room:
//! - No I/O, no clock, no thread. It knows neither the codec nor the log: a message is a frame that it does not look into, a
//!   subscription's grant a number that it does not read.
//! - [`DataGroupState`] is a function of the entries that were applied. Whoever applies the same entries has the same state: after a
//!   restart, from a snapshot, or on another node.
//! - A body is written once per data group. Who keeps the message is in the same entry; queues hold references, which
//!   are indexes of entries.
//! - Entries are versioned, each kind by itself. Their bytes come from outside: any bytes give an entry or a [`Fault`], never
//!   a panic, and no length is believed before it was compared with its bound and with what is there.
//! - An entry is applied when its commit is made and not before: what it no longer refers to may go at once.
//! - What speaks of somebody who is not there changes nothing and is counted ([`DataGroupState::strays`]): there is no order of
//!   events that stops a start.
//!
//! ```
//! # fn main() -> Result<(), lapwing_ledger::Fault> {
//! use lapwing_ledger::*;
//!
//! let (mut state, mut bytes) = (DataGroupState::new(), Vec::new());
//! let opened = Opened { client_id: "d1", identity: b"", expiry_s: 3600, opened_at_ms: 1, will: None };
//! Entry::Opened(opened).encode(&mut bytes)?;
//! state.apply(1, &bytes)?;
//! let session = KeeperId(1); // the index of the entry that opened it
//!
//! let mut keepers = KeepersBuf::new();
//! keepers.push(session, DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY })?;
//! let published = Published {
//!     frame: b"a PUBLISH",
//!     published_at_ms: 2,
//!     expires_at_ms: 0,
//!     publisher: 7,
//!     holder: None,
//!     origin: None,
//!     keepers: keepers.as_list(),
//!     groups: List::EMPTY,
//!     retained: None,
//! };
//! bytes.clear();
//! Entry::Published(published).encode(&mut bytes)?;
//! state.apply(2, &bytes)?;
//! assert!(state.session_of(session).unwrap().queue().map(|(entry, _)| entry).eq([2]));
//!
//! let mut progress = ProgressBuf::new();
//! progress.push(session, Fact::Finished { entry: 2 });
//! bytes.clear();
//! Entry::Progress(progress.as_progress()).encode(&mut bytes)?;
//! state.apply(3, &bytes)?;
//! assert_eq!((state.queued(), state.live_entries()), (0, 0));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod bounds;
mod delivery_options;
mod entry;
mod fault;
mod keeper_id;
mod live;
mod queue;
mod snapshot;
mod state;
mod wire;

pub use bounds::{
    DECLARATION_BYTES_MAX, FRAME_BYTES_MAX, IDENTITY_BYTES_MAX, INDEX_MAX, SUBSCRIPTION_ID_MAX, SUBSCRIPTION_IDS_MAX,
    TEXT_BYTES_MAX,
};
pub use delivery_options::{DeliveryOptions, Keeper, SubscriptionIds};
pub use entry::{
    Changed, Cleared, Ended, Entry, Fact, Facts, GroupDeclared, GroupEnded, GroupOpened, KeepersBuf, Lost, Opened,
    Origin, Presence, Progress, ProgressBuf, Published, Settled, SettledPublisher, Subscribed, Subscription,
    Unsubscribed, Will,
};
pub use fault::Fault;
pub use keeper_id::KeeperId;
pub use snapshot::Restorer;
pub use state::{DataGroupState, Flight, FrozenState, KeptGroup, KeptSession, Unsettled, WillRef};
pub use wire::List;

pub(crate) use state::ExactlyOnce;
