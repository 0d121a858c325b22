//! Messages from the client: checks, aliases, and each QoS 2 message once.

use std::sync::Arc;

use lapwing_codec::{Ack, Packet, PacketId, Publish, QoS, ReasonCode};

use crate::link::LinkId;
use crate::{Accepted, Beyond, Close, CommitToken, Io, Origin, Session, Step};

/// QoS 1 and 2 messages that a 3.1.1 client may have unacknowledged: it cannot be told less, there are no more ids.
const UNACKNOWLEDGED_V311_MAX: usize = u16::MAX as usize;
/// Bytes of a PUBACK or PUBREC besides its Reason String: header, packet id, reason, and the lengths of properties and text.
const ACK_BYTES_MAX: usize = 5 + 2 + 1 + 4 + 3;

/// A message that the client has published, checked; to be routed now.
#[derive(Debug)]
pub struct Inbound<'p> {
    publish: &'p Publish<'p>,
    alias: Option<Arc<str>>,
    /// See [`Origin`]; of a message that has a use number.
    settled: u64,
    is_resent: bool,
    /// Set: the message is refused for this, see [`Session::refuse`], and nothing else becomes of it.
    pub beyond: Option<Beyond>,
    /// To be handed back to [`Session::accept`].
    pub receipt: Receipt,
}

/// Stands for the acknowledgement that one message still needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a message that is not accepted is never acknowledged"]
pub struct Receipt {
    link: LinkId,
    packet_id: Option<PacketId>,
    qos: QoS,
    /// 0: none.
    use_number: u64,
    dup: bool,
}

impl Inbound<'_> {
    /// The message with its topic, alias resolved.
    #[inline]
    pub fn publish(&self) -> Publish<'_> {
        let mut publish = *self.publish;
        publish.properties.topic_alias = None;
        if let Some(topic) = &self.alias {
            publish.topic = topic;
        }
        publish
    }

    /// What names a QoS 2 message of a kept session beyond a crash; `None` for all others.
    pub fn origin(&self) -> Option<Origin> {
        let Receipt { packet_id, use_number, .. } = self.receipt;
        let packet_id = packet_id.filter(|_| use_number > 0)?;
        Some(Origin { packet_id, use_number, settled: self.settled })
    }

    /// Whether it is in the log already, where not everybody may have it: one that [`Restoration::doubted`] named.
    ///
    /// [`Restoration::doubted`]: crate::Restoration::doubted
    pub const fn is_resent(&self) -> bool {
        self.is_resent
    }
}

impl Session {
    pub(crate) fn on_publish<'p>(&mut self, publish: &'p Publish<'p>, io: &mut Io<'_>) -> Result<Step<'p>, Close> {
        self.check_publish(publish)?;
        let beyond = Beyond::of(publish, &self.settings);
        let alias = self.resolve_alias(publish, beyond)?;
        let beyond = beyond.or_else(|| alias.as_ref().filter(|topic| topic.is_empty()).map(|_| Beyond::Alias));
        let (Some(link), qos) = (&self.link, publish.qos) else { return Err(Session::no_link()) };
        if let (QoS::ExactlyOnce, Some(packet_id)) = (qos, publish.packet_id)
            && self.receipts.contains(packet_id)
        {
            // [MQTT-4.3.3-10]: acknowledged again, not published again, until it is released.
            io.counters.duplicates += 1;
            self.acks.repeat(packet_id, link.version, io.out);
            return Ok(Step::Done);
        }
        let (mut use_number, mut settled, mut is_resent) = (0, 0, false);
        if qos.is_acknowledged() {
            self.check_receive_maximum()?;
            if let (QoS::ExactlyOnce, Some(packet_id), Some(kept)) = (qos, publish.packet_id, &self.told.kept) {
                Origin { use_number, settled, .. } = kept.uses.origin(packet_id, publish.dup);
                is_resent = kept.uses.is_resent(use_number);
            }
        }
        let receipt = Receipt { link: link.id, packet_id: publish.packet_id, qos, use_number, dup: publish.dup };
        Ok(Step::Publish(Inbound { publish, alias, settled, is_resent, beyond, receipt }))
    }

    fn check_publish(&self, publish: &Publish<'_>) -> Result<(), Close> {
        if publish.qos > self.settings.qos_max {
            return Err(Close::server(ReasonCode::QoSNotSupported, "the QoS is not supported"));
        }
        if publish.retain && !self.settings.retain_available {
            return Err(Close::server(ReasonCode::RetainNotSupported, "retained messages are not supported"));
        }
        if !publish.properties.subscription_ids.is_empty() {
            return Err(Close::server(ReasonCode::ProtocolError, "a client's PUBLISH has a subscription identifier"));
        }
        Ok(())
    }

    /// What a message that has come and is not handled yet is beyond, its alias resolved; see [`Inbound::beyond`].
    pub fn beyond(&self, publish: &Publish<'_>) -> Option<Beyond> {
        if publish.topic.is_empty() { Some(Beyond::Alias) } else { Beyond::of(publish, &self.settings) }
    }

    /// The topic that the client has given `alias`, if it has one now; empty: one that was refused.
    pub fn topic_of(&self, alias: u16) -> Option<&str> {
        self.link.as_ref()?.aliases.get(alias).map(|topic| &**topic)
    }

    /// Whether the log had some of this QoS 2 message before the node started, and nothing that says that it was taken.
    pub fn is_doubted(&self, publish: &Publish<'_>) -> bool {
        let Some(kept) = self.told.kept.as_ref().filter(|_| publish.qos == QoS::ExactlyOnce) else { return false };
        publish.packet_id.is_some_and(|packet_id| {
            kept.uses.has_doubts() && kept.uses.is_resent(kept.uses.origin(packet_id, publish.dup).use_number)
        })
    }

    /// The same of one that has come.
    fn was_promised(&self, receipt: Receipt) -> bool {
        let uses = self.told.kept.as_ref().map(|kept| &kept.uses);
        receipt.use_number > 0 && uses.is_some_and(|uses| uses.is_resent(receipt.use_number))
    }

    /// Whether `publish` is a QoS 2 message that came before and is only acknowledged again.
    pub fn is_repeated(&self, publish: &Publish<'_>) -> bool {
        publish.qos == QoS::ExactlyOnce && publish.packet_id.is_some_and(|id| self.receipts.contains(id))
    }

    /// The topic that the alias of a message without one stands for. `beyond`: what is remembered of an alias that is given to
    /// such a topic is that it was given.
    fn resolve_alias(&mut self, publish: &Publish<'_>, beyond: Option<Beyond>) -> Result<Option<Arc<str>>, Close> {
        let Some(link) = &mut self.link else { return Err(Session::no_link()) };
        match publish.properties.topic_alias {
            None if publish.topic.is_empty() => {
                Err(Close::server(ReasonCode::ProtocolError, "an empty topic without a topic alias"))
            }
            None => Ok(None),
            Some(alias) if alias == 0 || alias > self.settings.topic_alias_max => Err(Close::server(
                ReasonCode::TopicAliasInvalid,
                "the topic alias is 0 or above the Topic Alias Maximum",
            )),
            Some(alias) if publish.topic.is_empty() => match link.aliases.get(alias) {
                Some(topic) => Ok(Some(Arc::clone(topic))),
                None => Err(Close::server(ReasonCode::ProtocolError, "a topic alias that was never set")),
            },
            Some(alias) => {
                let is_refused = beyond.is_some_and(Beyond::is_of_topic);
                link.aliases.set(alias, if is_refused { "" } else { publish.topic });
                Ok(None)
            }
        }
    }

    fn check_receive_maximum(&self) -> Result<(), Close> {
        let is_told = self.link.as_ref().is_some_and(|link| link.version.has_properties());
        let max = if is_told { usize::from(self.settings.receive_maximum.max(1)) } else { UNACKNOWLEDGED_V311_MAX };
        // A client that releases a message before its PUBREC breaks the protocol, and gets no room for it.
        if self.acks.qos1() + self.receipts.len().max(self.acks.qos2()) < max {
            return Ok(());
        }
        Err(Close::server(ReasonCode::ReceiveMaximumExceeded, "more unacknowledged messages than Receive Maximum"))
    }

    /// Says what became of a message; acknowledges it, in the order of the messages.
    ///
    /// A receipt of a former connection is ignored: that client sends its message again. What is in doubt is not refused any
    /// more: some of its receivers have it, and the client would take its packet id, by which the doubt is known, for free.
    #[inline]
    pub fn accept(&mut self, receipt: Receipt, accepted: Accepted, io: &mut Io<'_>) {
        let Some(link) = self.link.as_ref().filter(|link| link.id == receipt.link) else { return };
        let Some(packet_id) = receipt.packet_id else { return };
        let accepted = if self.was_promised(receipt) { accepted.or_taken() } else { accepted };
        let is_refused = matches!(accepted, Accepted::Refused(reason) if reason.is_error());
        if receipt.qos == QoS::ExactlyOnce && !is_refused {
            self.receipts.insert(packet_id);
        }
        if receipt.use_number > 0 {
            let window = usize::from(self.settings.receive_maximum);
            self.told.answered(packet_id, receipt.use_number, receipt.dup, accepted, window);
        }
        self.acks.push(packet_id, receipt.qos, accepted, link.version, io.out);
    }

    /// Acknowledges an inbound message with an error: it was not taken. `words` for people go with it where the client wants
    /// them and has room [MQTT-3.4.2-2, MQTT-3.5.2-2].
    pub fn refuse(&mut self, receipt: Receipt, reason: ReasonCode, words: Option<&str>, io: &mut Io<'_>) {
        if let (Some(packet_id), Some(link)) = (receipt.packet_id, &self.link)
            && link.id == receipt.link
            && !self.was_promised(receipt)
            && let Some(words) = link.words(words, ACK_BYTES_MAX)
        {
            self.acks.explain(packet_id, words);
        }
        self.accept(receipt, Accepted::Refused(reason), io);
    }

    /// Everything up to the token `through` is committed: acknowledgements that waited for it leave.
    pub fn committed(&mut self, through: CommitToken, io: &mut Io<'_>) {
        let version = self.link.as_ref().map(|link| link.version);
        self.acks.committed(through, version, io.out, |packet_id| self.told.received(packet_id));
    }

    /// PUBREL: the client will not send this message again; its id is free.
    pub(crate) fn on_pubrel(&mut self, packet_id: PacketId, io: &mut Io<'_>) -> Result<(), Close> {
        let was_doubted = self.told.released(packet_id);
        let is_known = self.receipts.remove(packet_id) || was_doubted;
        let reason = if is_known { ReasonCode::Success } else { ReasonCode::PacketIdentifierNotFound };
        self.send_ack(Packet::PubComp, packet_id, reason, io)
    }

    /// Writes an acknowledgement; 3.1.1 has no reason in it.
    pub(crate) fn send_ack(
        &self,
        kind: fn(Ack<'static>) -> Packet<'static>,
        packet_id: PacketId,
        reason: ReasonCode,
        io: &mut Io<'_>,
    ) -> Result<(), Close> {
        let Some(link) = &self.link else { return Err(Session::no_link()) };
        let reason = if link.version.has_properties() { reason } else { ReasonCode::Success };
        let packet = kind(Ack::new(packet_id, reason));
        packet.encode(link.version, io.out).expect("an acknowledgement without properties always fits");
        Ok(())
    }

    /// The caller handed a packet to a session without connection: its mistake, which must not stop the shard.
    #[cold]
    pub(crate) const fn no_link() -> Close {
        Close::server(ReasonCode::ImplementationSpecificError, "a packet for a session without connection")
    }
}
