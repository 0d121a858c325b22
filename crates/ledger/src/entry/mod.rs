//! What an entry says.
//!
//! The first byte is the kind, the second the version of that kind; what follows is described at each kind. Nothing follows
//! the last field. Kinds are numbers for ever; a new version is read beside the old ones.

mod changed;
mod cleared;
mod ended;
mod fact;
mod group_declared;
mod group_ended;
mod group_opened;
mod keepers;
mod lost;
mod opened;
mod origin;
mod progress;
mod published;
mod settled;
mod subscribed;
mod unsubscribed;
mod will;

pub use changed::{Changed, Presence};
pub use cleared::Cleared;
pub use ended::Ended;
pub use fact::Fact;
pub use group_declared::GroupDeclared;
pub use group_ended::GroupEnded;
pub use group_opened::GroupOpened;
pub use keepers::KeepersBuf;
pub use lost::Lost;
pub use opened::Opened;
pub use origin::Origin;
pub use progress::{Facts, Progress, ProgressBuf};
pub use published::Published;
pub use settled::{Settled, SettledPublisher};
pub use subscribed::{Subscribed, Subscription};
pub use unsubscribed::Unsubscribed;
pub use will::Will;

use crate::Fault;
use crate::wire::Input;

/// One entry of a data group; everything is borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry<'a> {
    /// A durable session begins.
    Opened(Opened<'a>),
    /// Something of a session is different now.
    Changed(Changed<'a>),
    /// Sessions are over.
    Ended(Ended<'a>),
    /// A session has subscriptions more.
    Subscribed(Subscribed<'a>),
    /// A session has subscriptions less.
    Unsubscribed(Unsubscribed<'a>),
    /// A message that somebody keeps.
    Published(Published<'a>),
    /// What became of messages and packet ids of sessions and groups.
    Progress(Progress<'a>),
    /// Topics have no retained message any more.
    Cleared(Cleared<'a>),
    /// A durable consumer group begins.
    GroupOpened(GroupOpened<'a>),
    /// A durable consumer group was declared, or is not any more.
    GroupDeclared(GroupDeclared<'a>),
    /// Consumer groups are over.
    GroupEnded(GroupEnded<'a>),
    /// QoS 2 messages are in doubt no longer.
    Settled(Settled<'a>),
    /// What was here was damaged.
    Lost(Lost),
}

/// How one kind of entry is written.
trait Body<'a>: Sized {
    const KIND: u8;
    const VERSION: u8 = 1;
    const WHAT: &'static str;

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault>;
    fn take(input: &mut Input<'a>) -> Result<Self, Fault>;

    fn put_whole(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.extend_from_slice(&[Self::KIND, Self::VERSION]);
        self.put(out)
    }

    /// Reads what follows the kind, to the end.
    fn take_whole(mut input: Input<'a>) -> Result<Self, Fault> {
        let version = input.byte("the version is cut off")?;
        if version != Self::VERSION {
            return Err(Fault::Version { what: Self::WHAT, found: version, supported: Self::VERSION });
        }
        let body = Self::take(&mut input)?;
        input.end()?;
        Ok(body)
    }
}

impl<'a> Entry<'a> {
    /// Appends the entry to `out`.
    /// # Errors
    /// `TooLong`: a field is above its bound; `out` is as it was.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let start = out.len();
        let result = match self {
            Entry::Opened(entry) => entry.put_whole(out),
            Entry::Changed(entry) => entry.put_whole(out),
            Entry::Ended(entry) => entry.put_whole(out),
            Entry::Subscribed(entry) => entry.put_whole(out),
            Entry::Unsubscribed(entry) => entry.put_whole(out),
            Entry::Published(entry) => entry.put_whole(out),
            Entry::Progress(entry) => entry.put_whole(out),
            Entry::Cleared(entry) => entry.put_whole(out),
            Entry::GroupOpened(entry) => entry.put_whole(out),
            Entry::GroupDeclared(entry) => entry.put_whole(out),
            Entry::GroupEnded(entry) => entry.put_whole(out),
            Entry::Settled(entry) => entry.put_whole(out),
            Entry::Lost(entry) => entry.put_whole(out),
        };
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Reads an entry without copying.
    /// # Errors
    /// `Kind`, `Version`, `Malformed`, `TooLong`.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut input = Input::new(bytes);
        match input.byte("an entry without bytes")? {
            Opened::KIND => Opened::take_whole(input).map(Entry::Opened),
            Changed::KIND => Changed::take_whole(input).map(Entry::Changed),
            Ended::KIND => Ended::take_whole(input).map(Entry::Ended),
            Subscribed::KIND => Subscribed::take_whole(input).map(Entry::Subscribed),
            Unsubscribed::KIND => Unsubscribed::take_whole(input).map(Entry::Unsubscribed),
            Published::KIND => Published::take_whole(input).map(Entry::Published),
            Progress::KIND => Progress::take_whole(input).map(Entry::Progress),
            Cleared::KIND => Cleared::take_whole(input).map(Entry::Cleared),
            GroupOpened::KIND => GroupOpened::take_whole(input).map(Entry::GroupOpened),
            GroupDeclared::KIND => GroupDeclared::take_whole(input).map(Entry::GroupDeclared),
            GroupEnded::KIND => GroupEnded::take_whole(input).map(Entry::GroupEnded),
            Settled::KIND => Settled::take_whole(input).map(Entry::Settled),
            Lost::KIND => Lost::take_whole(input).map(Entry::Lost),
            found => Err(Fault::Kind { found }),
        }
    }

    /// The will that came with this entry, if any; see [`WillRef`](crate::WillRef).
    pub const fn will(&self) -> Option<Will<'a>> {
        match self {
            Entry::Opened(opened) => opened.will,
            Entry::Changed(Changed { will: Some(will), .. }) => *will,
            _ => None,
        }
    }
}
