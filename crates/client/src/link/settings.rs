//! What a link is to do.

use crate::error::ClientError;
use crate::options::Options;
use crate::over_sn;
use lapwing_codec::topic::validate_filter;
use lapwing_codec::{Limits, QoS};
use std::time::Duration;

/// Timeouts are cut to this: longer is as good as for ever, and no clock overflows.
pub(crate) const LONGEST: Duration = Duration::from_secs(366 * 86_400);
/// What a goodbye may take when the time of `close` is over.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);

/// When a message is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// When the caller has finished it.
    Processed,
    /// When the caller takes it.
    Received,
}

/// What waits for the caller: from the high mark on the socket is not read, until no more than the low one waits.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Messages, 1 or more.
    pub high_messages: usize,
    /// Messages, below the high mark.
    pub low_messages: usize,
    /// Bytes of topics and payloads; the low mark is half of it.
    pub high_bytes: usize,
}

/// What waits for the broker.
#[derive(Clone, Copy, Debug)]
pub struct SendLimits {
    /// QoS 1 and 2 publishes unanswered at a time; less if the broker's Receive Maximum is less.
    pub window: u16,
    /// Messages handed over and not yet answered (QoS 0: not yet sent), 1 or more.
    pub messages_max: usize,
    /// Their bytes; one message goes whatever its size.
    pub bytes_max: usize,
}

/// What a consumer tells the broker about itself.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// Every so many acknowledgements one carries queue and work time; at most one in a millisecond.
    pub every: u32,
}

/// What is subscribed to at each connection.
#[derive(Clone, Debug)]
pub struct Filters {
    /// The filters, `$share/GROUP/` in front where there is a group.
    pub filters: Vec<String>,
    /// The most to be delivered with.
    pub qos: QoS,
}

/// What a link is to do.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// The broker.
    pub url: String,
    /// CONNECT of the first connection; later ones never start clean.
    pub connect: Options,
    /// What to subscribe to.
    pub subscribe: Option<Filters>,
    /// The session ends with the goodbye, whatever CONNECT asked for (5.0).
    pub ends_session: bool,
    /// When messages are acknowledged.
    pub acknowledge: Acknowledge,
    /// What may wait for the caller.
    pub receive: Marks,
    /// What may wait for the broker.
    pub send: SendLimits,
    /// Reports, if the broker is to have any.
    pub reports: Option<Reports>,
    /// What a consumer declares by a report at each connection: a JSON object. For 3.1.1, whose CONNECT has no room.
    pub declaration: Option<String>,
    /// How long one attempt to connect may take.
    pub connect_timeout: Duration,
    /// The first pause before the next attempt; each is twice as long.
    pub back_off_first: Duration,
    /// The longest pause.
    pub back_off_longest: Duration,
}

impl LinkOptions {
    /// # Errors
    /// `Invalid`, with the option and its range.
    pub(crate) fn check(&self, is_sn: bool) -> Result<(), ClientError> {
        let Marks { high_messages, low_messages, high_bytes } = self.receive;
        let SendLimits { window, messages_max, bytes_max } = self.send;
        if low_messages >= high_messages {
            return Err(wrong(&format!("low = {low_messages}: give 0 to one less than high = {high_messages}")));
        }
        if high_bytes == 0 || bytes_max == 0 || messages_max == 0 || window == 0 {
            return Err(wrong("a limit of messages or bytes is 0: give 1 or more"));
        }
        for filter in self.subscribe.iter().flat_map(|subscribe| &subscribe.filters) {
            validate_filter(filter, &Limits::PROTOCOL)
                .map_err(|error| ClientError::Invalid(format!("filter {filter:?}: {error}")))?;
            if is_sn {
                over_sn::check_filter(filter)?;
            }
        }
        Ok(())
    }
}

fn wrong(what: &str) -> ClientError {
    ClientError::Invalid(what.to_owned())
}
