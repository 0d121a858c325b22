//! One client's protocol state: packets and deliveries in, bytes and decisions out.
//!
//! Rules of this room:
//! - No I/O, no clock, no thread. Time is `now_ms`, milliseconds of one monotonic clock for the whole process. What goes
//!   to the client is encoded straight into [`Io::out`], the connection's output buffer.
//! - A [`Session`] outlives its connections. What belongs to one connection lies in its `Link` and goes with it.
//! - A session never reaches another one. What concerns others is *returned* ([`Step`], [`Departure`], [`Tick`]); the
//!   caller acts on it while it borrows no session, so a client that subscribes to what it publishes needs no special
//!   case: it is one of the receivers.
//! - Nothing is dropped silently: each message that is not delivered is counted in [`Counters`] under a [`DropReason`].
//! - Every table is bounded by [`Settings`] and allocated when first used; an idle session stays below 1 KiB.
//! - A violation ends the connection with [`Close`]; the DISCONNECT that names the reason (5.0) is then already in `out`.
//!
//! # The life of a connection, as the node drives it
//!
//! ```text
//! decode CONNECT -> admit(connect) ------- refused -> refuse(version, reason, out); flush; close
//!   (Authentication::begin(connect), if it names a method: see `authentication`; admission.with_auth_data at its end)
//!   (move the connection to the shard of the client id)
//!   the session of this client id, if any (taken out of the table):
//!     connected elsewhere -> old.dismiss(SessionTakenOver, its io); flush and close that socket; old.disconnected(now)
//!   Session::open(connect, admission, key, settings, existing, now, io)   CONNACK, retransmissions and queue are in out
//!     opened.discarded -> discarded.end(): remove its subscriptions from the tree, publish its will
//! loop: decode -> session.handle(&packet, now, io)
//!   Step::Done
//!   Step::Publish(inbound)    no session is borrowed now: route to streams, shards, sessions (this one too),
//!                             then session.accept(inbound.receipt, Accepted::..., io);
//!                             what is inbound.beyond a limit goes nowhere: session.refuse(inbound.receipt, ..)
//!   Step::Subscribe(request)  let reply = session.subscribe(&request, |subscription| put it into the tree);
//!                             when every shard has applied it: session.reply(reply, io); then retained messages
//!   Step::Unsubscribe(..)     the same with session.unsubscribe
//!   Step::Authenticate(..)    let it be judged, meanwhile go on; then session.authenticated(answer, io)
//!   Err(close)                flush what is in out, close the socket, session.disconnected(now)
//! decode error -> session.violated(&error, io), then as for Err(close)
//! socket closed by the peer or broken -> session.disconnected(now)
//! Departure { will, ended }: publish the will; when ended take the session out and end() it
//! ```
//!
//! Deliveries: build one [`Routed`] per message and shard, then `session.deliver(&routed, grants, None, now, io)` for each
//! receiver; `grants` are all the subscriptions of this session that matched. QoS 0 to a connected client is one encoding
//! into `out` and no allocation. The first receiver that must keep the message allocates it, the others share it.
//!
//! Consumer groups: `session.deliver_bound(..)` instead, and after each call `session.take_outcomes()`: what became of
//! bound messages. When its output has been flushed, `session.written(now)`. Connection over: `session.unbind(false)`
//! before `disconnected`; session over: `session.unbind(true)` before `end`.
//!
//! Kept sessions: `session.keep(id)` after `open`, and the session tells [`Fact`]s: take them after each call that has an
//! `Io`. `deliver` gets the index of the entry that the message has in the log if it is kept, and `session.kept_options(index)`
//! says so and how. Entries and facts, replayed in order, make a [`Restoration`]; its session is as if its connection had
//! broken when the last of them was told. Bytes that were written in one call with a fact that `fences_output` leave when that
//! fact is durable.
//!
//! What waits for a kept session may lie in the log only ([`Io::at_hand_bytes_max`]): after each call `session.wants_page()`
//! says whether to read on there, `ask_page` which entries, and `take_page` takes what was read. `page_out` after
//! `disconnected`.
//!
//! Acknowledgements: `Accepted::Later(token)` keeps PUBACK/PUBREC back, and all later ones with it, until
//! `session.committed(through)` with `through >= token`. The [`CommitToken`]s of one session never decrease.
//!
//! Output: when `out` holds more than [`Settings::output_high_bytes`], QoS 0 messages are dropped and others queued. After
//! it has been flushed the node calls `session.pump`. Acknowledgements are always written: a node that finds `out` too
//! long must stop reading from that connection.
//!
//! Publishers: a message may have a [`Stamp`] that says who has published it. `deliver` takes it out, and tells what it says to a
//! client whose [`Admission::with_envelope`] granted that.
//!
//! Timers: after open, disconnected and tick, look at `session.deadline_ms()`. Traffic only moves the deadline later, so a
//! timer may fire early; `session.tick` then says when to come back.

#![forbid(unsafe_code)]

mod ack_line;
mod admission;
mod aliases;
mod authentication;
mod beyond;
mod bound;
mod close;
mod commit_token;
mod connack;
mod counters;
mod deliver;
mod doubts;
mod fact;
mod flight;
mod grant;
mod handle;
mod id_set;
mod inbound;
mod io;
mod kept;
mod leave;
mod link;
mod losses;
mod message;
mod open;
mod outbound;
mod paged;
mod paging;
mod queue;
mod restoration;
mod revoke;
mod routed;
mod sent_aliases;
mod session;
mod settings;
mod stamp;
mod step;
mod subscribed;
mod subscriptions;
mod told;
mod uses;
mod view;
mod will;

pub use ack_line::Accepted;
pub use admission::{Admission, admit};
pub use authentication::{AuthAnswer, AuthProgress, AuthQuestion, Authentication};
pub use beyond::Beyond;
pub use bound::{Bound, Fate, Outcome, Unfinished};
pub use close::{Close, Side};
pub use commit_token::CommitToken;
pub use connack::{refuse, refuse_connect, refuse_malformed};
pub use counters::{Counters, DropReason};
pub use deliver::Delivered;
pub use fact::Fact;
pub use grant::Grant;
pub use inbound::{Inbound, Receipt};
pub use io::Io;
pub use kept::KeptOptions;
pub use leave::{Departure, Ended, Tick};
pub use losses::Losses;
pub use message::Message;
pub use open::Opened;
pub use paging::ReadEntry;
pub use restoration::{Restoration, Restored};
pub use routed::Routed;
pub use session::{Session, SessionKey};
pub use settings::{QueuePolicy, Settings};
pub use stamp::{ENVELOPE, Stamp, StampBuf, is_stamped, message_id, stamp_bytes, unstamped};
pub use step::Step;
pub use subscriptions::{Reply, SubscribeRequest, Subscription, UnsubscribeRequest};
pub use uses::Origin;
pub use view::QueuedView;
pub use will::WillMessage;
