//! What a session has lost of what it was to have: so that its owner and the operator can be told, and not only the sum of all.

use crate::DropReason;

/// Messages that a session was to have and never gets, since the node started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// How many.
    pub messages: u64,
    /// Of these, how many had been acknowledged to their publishers, or were to be: QoS 1 and 2.
    pub acknowledged: u64,
}

/// The same, and whether anybody has been told.
#[derive(Debug, Default)]
pub(crate) struct LossBook {
    losses: Losses,
    /// A loss that nobody has been told of, the first since the client was last here.
    news: Option<DropReason>,
    is_told: bool,
}

impl LossBook {
    /// A message is lost: see [`is_loss`].
    pub(crate) fn note(&mut self, reason: DropReason, is_acknowledged: bool) {
        self.losses.messages += 1;
        self.losses.acknowledged += u64::from(is_acknowledged);
        if is_acknowledged && !self.is_told {
            self.is_told = true;
            self.news = Some(reason);
        }
    }

    /// What was noted since the node started.
    pub(crate) const fn losses(&self) -> Losses {
        self.losses
    }

    /// The client is here: what it loses from now on is news again.
    pub(crate) fn begin_anew(&mut self) {
        self.is_told = false;
    }

    /// Takes out why the first message was lost since the client was last here, if that is news.
    #[inline]
    pub(crate) fn take_news(&mut self) -> Option<DropReason> {
        self.news.take()
    }
}

/// Whether somebody wanted the message and did not get it because of a bound: one that has expired, or is taken out by order, is not
/// lost.
pub(crate) const fn is_loss(reason: DropReason) -> bool {
    match reason {
        DropReason::QueueFull
        | DropReason::QueueAge
        | DropReason::PacketTooLarge
        | DropReason::OutputFull
        | DropReason::NotEncodable
        | DropReason::Damaged => true,
        DropReason::Expired | DropReason::Offline | DropReason::SessionEnded | DropReason::QueueEmptied => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the first loss news once, again after the client was here, and is QoS 0 none?
    #[test]
    fn the_first_loss_is_news() {
        let mut book = LossBook::default();
        assert!(!is_loss(DropReason::Expired));
        book.note(DropReason::OutputFull, false);
        assert_eq!(book.take_news(), None);
        book.note(DropReason::QueueFull, true);
        book.note(DropReason::QueueAge, true);
        assert_eq!((book.take_news(), book.take_news()), (Some(DropReason::QueueFull), None));
        book.begin_anew();
        book.note(DropReason::QueueAge, true);
        assert_eq!(book.take_news(), Some(DropReason::QueueAge));
        assert_eq!(book.losses(), Losses { messages: 4, acknowledged: 3 });
    }
}
