//! SUBSCRIBE and UNSUBSCRIBE: what the session remembers, and what the node has to do for each filter.

use lapwing_codec::topic::SharedFilter;
use lapwing_codec::{
    Packet, PacketId, QoS, ReasonCode, ReasonProperties, RetainHandling, SubAck, Subscribe, SubscribeFilter,
    SubscriptionId, SubscriptionOptions, UnsubAck, Unsubscribe, Version,
};

use crate::link::LinkId;
use crate::{Close, Grant, Io, Session};

/// A SUBSCRIBE, checked, or a part of one.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SubscribeRequest<'p> {
    packet: Subscribe<'p>,
    part: Part,
}

/// An UNSUBSCRIBE, or a part of one.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct UnsubscribeRequest<'p> {
    packet: Unsubscribe<'p>,
    part: Part,
}

/// Which filters of a packet: a node that must not do a thousand at once takes them by parts.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: usize,
    count: usize,
}

impl Part {
    const WHOLE: Part = Part { from: 0, count: usize::MAX };

    fn of<I: Iterator>(self, filters: I) -> impl Iterator<Item = I::Item> {
        filters.skip(self.from).take(self.count)
    }
}

/// One filter of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription<'a> {
    /// The filter as the client wrote it.
    pub filter: &'a str,
    /// Its group and inner filter, when it is `$share/GROUP/FILTER`.
    pub shared: Option<SharedFilter<'a>>,
    /// What is granted.
    pub grant: Grant,
    /// Whether the session did not have this filter yet.
    pub is_new: bool,
    /// Whether retained messages are to be sent: asked for, and not shared.
    pub wants_retained: bool,
}

impl<'a> Subscription<'a> {
    /// The filter that topics are compared with.
    pub fn topic_filter(&self) -> &'a str {
        self.shared.map_or(self.filter, |shared| shared.filter)
    }
}

/// Bytes of a SUBACK besides its reasons and its Reason String: header, packet id, and the lengths of properties and text.
const REPLY_BYTES_MAX: usize = 5 + 2 + 4 + 3;

/// A SUBACK or UNSUBACK that waits for the node; hand it to [`Session::reply`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a request that is not answered keeps its packet id in use"]
pub struct Reply {
    link: Option<LinkId>,
    packet_id: PacketId,
    reasons: Vec<ReasonCode>,
    is_subscribe: bool,
    /// For people; see [`Reply::explain`].
    words: Option<Box<str>>,
}

impl Reply {
    /// One code per filter, in the order of the request.
    pub fn reasons(&self) -> &[ReasonCode] {
        &self.reasons
    }

    /// The filter in place `at` is refused after all.
    pub fn refuse(&mut self, at: usize, reason: ReasonCode) {
        if let Some(place) = self.reasons.get_mut(at) {
            *place = reason;
        }
    }

    /// Says in words for people why filters were refused. They are left out where the client does not want such, or has no
    /// room for them [MQTT-3.9.2-2].
    pub fn explain(&mut self, words: &str) {
        self.words = Some(words.into());
    }

    /// Adds the reply to the next part of the same packet.
    pub fn append(&mut self, mut next: Reply) {
        self.words = self.words.take().or(next.words.take());
        debug_assert_eq!((self.packet_id, self.is_subscribe), (next.packet_id, next.is_subscribe));
        self.reasons.append(&mut next.reasons);
    }
}

impl<'p> SubscribeRequest<'p> {
    pub(crate) fn check(packet: Subscribe<'p>) -> Result<Self, Close> {
        let is_wrong = |asked: SubscribeFilter<'_>| asked.options.no_local && asked.filter.starts_with("$share/");
        if packet.filters.iter().any(is_wrong) {
            // [MQTT-3.8.3-4]
            return Err(Close::server(ReasonCode::ProtocolError, "No Local on a shared subscription"));
        }
        Ok(SubscribeRequest { packet, part: Part::WHOLE })
    }

    /// At most `count` of the packet's filters, from the one in place `from` on. Each part is answered; see [`Reply::append`].
    pub const fn part(&self, from: usize, count: usize) -> Self {
        SubscribeRequest { part: Part { from, count }, ..*self }
    }

    /// Whether the packet has at most so many filters.
    pub fn ends_at(&self, count: usize) -> bool {
        self.packet.filters.len() <= count
    }

    /// The filters (of this part), in their order.
    pub fn filters(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        self.part.of(self.packet.filters.iter()).map(|asked| asked.filter)
    }
}

impl<'p> UnsubscribeRequest<'p> {
    pub(crate) const fn new(packet: Unsubscribe<'p>) -> Self {
        UnsubscribeRequest { packet, part: Part::WHOLE }
    }

    /// At most `count` of the packet's filters, from the one in place `from` on. Each part is answered; see [`Reply::append`].
    pub const fn part(&self, from: usize, count: usize) -> Self {
        UnsubscribeRequest { part: Part { from, count }, ..*self }
    }

    /// Whether the packet has at most so many filters.
    pub fn ends_at(&self, count: usize) -> bool {
        self.packet.filters.len() <= count
    }
}

impl Session {
    /// Applies a SUBSCRIBE. `apply` is called for each filter that the session can take; it puts the subscription into
    /// the tree (replacing one of the same filter) or refuses it with a reason. No session may be called from it.
    pub fn subscribe(
        &mut self,
        request: &SubscribeRequest<'_>,
        mut apply: impl FnMut(&Subscription<'_>) -> Result<(), ReasonCode>,
    ) -> Reply {
        let id = request.packet.properties.subscription_id;
        let taken = match self.settings.filters_per_packet_max {
            0 => usize::MAX,
            most => (most as usize).saturating_sub(request.part.from),
        };
        // A client that asks for too many at once would only come back and do it again if it were cut off.
        let answer = |(place, asked)| match place < taken {
            true => self.subscribe_one(asked, id, &mut apply).unwrap_or_else(|reason| reason),
            false => ReasonCode::QuotaExceeded,
        };
        let reasons = request.part.of(request.packet.filters.iter()).enumerate().map(answer).collect();
        Reply { link: self.link_id(), packet_id: request.packet.packet_id, reasons, is_subscribe: true, words: None }
    }

    fn subscribe_one(
        &mut self,
        asked: SubscribeFilter<'_>,
        subscription_id: Option<SubscriptionId>,
        apply: &mut impl FnMut(&Subscription<'_>) -> Result<(), ReasonCode>,
    ) -> Result<ReasonCode, ReasonCode> {
        let SubscribeFilter { filter, options } = asked;
        if !self.is_within_limits(filter) {
            return Err(ReasonCode::TopicFilterInvalid);
        }
        let shared = SharedFilter::parse(filter).map_err(|_| ReasonCode::TopicFilterInvalid)?;
        let options = match &self.link {
            // [MQTT-3.8.3-4]: No Local is not for groups.
            Some(link) if link.is_bridge => {
                SubscriptionOptions { no_local: shared.is_none(), retain_as_published: true, ..options }
            }
            _ => options,
        };
        let is_new = self.subscriptions.get(filter).is_none();
        if is_new && !self.may_have(filter) {
            return Err(ReasonCode::QuotaExceeded);
        }
        let wants_retained = match options.retain_handling {
            RetainHandling::Send => shared.is_none(),
            RetainHandling::SendIfNew => shared.is_none() && is_new,
            RetainHandling::DoNotSend => false,
        };
        let grant = Grant { options, subscription_id };
        apply(&Subscription { filter, shared, grant, is_new, wants_retained })?;
        self.subscriptions.insert(filter, grant);
        Ok(granted(options.qos))
    }

    fn is_within_limits(&self, filter: &str) -> bool {
        let separators = filter.bytes().filter(|byte| *byte == b'/').count();
        filter.len() <= usize::from(self.settings.topic_bytes_max)
            && separators < usize::from(self.settings.topic_levels_max)
    }

    fn may_have(&self, filter: &str) -> bool {
        self.subscriptions.len() < self.settings.subscriptions_max as usize
            && self.subscriptions.has_room(filter, self.settings.packet_bytes_max)
    }

    /// Applies an UNSUBSCRIBE. `apply` is called for each filter that the session had; it takes it out of the tree.
    /// `is_new`, `wants_retained` are false there.
    pub fn unsubscribe(&mut self, request: &UnsubscribeRequest<'_>, mut apply: impl FnMut(&Subscription<'_>)) -> Reply {
        let answer = |filter| match self.subscriptions.remove(filter) {
            Some(grant) => {
                apply(&known(filter, grant));
                ReasonCode::Success
            }
            None => ReasonCode::NoSubscriptionExisted,
        };
        let reasons = request.part.of(request.packet.filters.iter()).map(answer).collect();
        Reply { link: self.link_id(), packet_id: request.packet.packet_id, reasons, is_subscribe: false, words: None }
    }

    /// Sends a SUBACK or UNSUBACK; one of a former connection is dropped.
    /// # Errors
    /// It exceeds the client's Maximum Packet Size, so that the client can never be answered.
    pub fn reply(&mut self, reply: Reply, io: &mut Io<'_>) -> Result<(), Close> {
        let Some(link) = self.link.as_ref().filter(|link| Some(link.id) == reply.link) else { return Ok(()) };
        let start = io.out.len();
        let words = link.words(reply.words.as_deref(), REPLY_BYTES_MAX + reply.reasons.len()).map(Box::from);
        Reply { words, ..reply }.encode(link.version, io.out);
        if io.out.len() - start <= link.packet_bytes_max as usize {
            return Ok(());
        }
        io.out.truncate(start);
        let close = Close::server(ReasonCode::PacketTooLarge, "the answer exceeds the client's Maximum Packet Size");
        Err(self.announce(close, io))
    }

    fn link_id(&self) -> Option<LinkId> {
        self.link.as_ref().map(|link| link.id)
    }
}

impl Reply {
    fn encode(mut self, version: Version, out: &mut Vec<u8>) {
        if !version.has_properties() {
            // 3.1 knows no failure at all: a client that looks at the two bits of the QoS reads 0, most read 0x80 as 3.1.1.
            let errors = self.reasons.iter_mut().filter(|reason| reason.is_error());
            errors.for_each(|reason| *reason = ReasonCode::UnspecifiedError);
        }
        let properties = ReasonProperties { reason_string: self.words.as_deref(), ..ReasonProperties::EMPTY };
        let (packet_id, reasons) = (self.packet_id, &*self.reasons);
        let packet = match self.is_subscribe {
            true => Packet::SubAck(SubAck { packet_id, properties, reasons }),
            false => Packet::UnsubAck(UnsubAck { packet_id, properties, reasons }),
        };
        packet.encode(version, out).expect("one byte per filter of a packet that fitted fits too");
    }
}

/// A subscription that exists.
pub(crate) fn known(filter: &str, grant: Grant) -> Subscription<'_> {
    // What is in the table was parsed when it came in.
    let shared = SharedFilter::parse(filter).ok().flatten();
    Subscription { filter, shared, grant, is_new: false, wants_retained: false }
}

const fn granted(qos: QoS) -> ReasonCode {
    match qos {
        QoS::AtMostOnce => ReasonCode::Success,
        QoS::AtLeastOnce => ReasonCode::GrantedQoS1,
        QoS::ExactlyOnce => ReasonCode::GrantedQoS2,
    }
}
