//! What a packet asks of the outside.

use crate::{AuthQuestion, Inbound, SubscribeRequest, UnsubscribeRequest};

/// What the node has to do after [`crate::Session::handle`]; everything else is done.
#[derive(Debug)]
#[must_use]
pub enum Step<'p> {
    /// Nothing.
    Done,
    /// Route this message, then call [`crate::Session::accept`] with its receipt.
    Publish(Inbound<'p>),
    /// Call [`crate::Session::subscribe`], later [`crate::Session::reply`].
    Subscribe(SubscribeRequest<'p>),
    /// Call [`crate::Session::unsubscribe`], later [`crate::Session::reply`].
    Unsubscribe(UnsubscribeRequest<'p>),
    /// The client authenticates anew: let it be judged, then call [`crate::Session::authenticated`].
    Authenticate(AuthQuestion<'p>),
}
