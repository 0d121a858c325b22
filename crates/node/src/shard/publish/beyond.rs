//! What is beyond a limit of its own: one message is refused and its client stays; a packet that is too large to be read ends
//! the connection, and the operator hears which limit it was.

use lapwing_codec::{ProtocolError, ReasonCode, announced_len};
use lapwing_session::{Beyond, Inbound};

use crate::audit::told;
use crate::metrics::DropReason;
use crate::notices::NoticeKind;
use crate::shard::Shard;
use crate::shard::connections::connection::Stage;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::verdicts::judged::Refused;

impl Shard {
    /// Drops a message that is beyond a limit; acknowledges it with the reason, which 3.1.1 does not have.
    #[cold]
    pub(in crate::shard) fn refuse_beyond(
        &mut self,
        index: usize,
        client: &Client,
        inbound: &Inbound<'_>,
        beyond: Beyond,
    ) -> Flow {
        let words = self.words_of(index, beyond);
        self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let (who, topic) = (self.called_from(client.session, index), told(inbound.publish().topic));
            let text = format!("{who}: a message to {topic:?} was refused: {words}");
            let mut facts = self.facts_of("publish_refused", client.session, index);
            facts["topic"] = topic.into();
            facts["reason"] = beyond.reason().name().into();
            facts["reason_code"] = beyond.reason().value().into();
            (text, facts)
        });
        let refused =
            Refused { reason: beyond.reason(), why: DropReason::BeyondLimit, text: Some(words.into_boxed_str()) };
        self.refuse_publish(index, client, inbound, &refused)
    }

    fn words_of(&self, index: usize, beyond: Beyond) -> String {
        let limits = &self.shared.config.limits;
        match beyond {
            Beyond::TopicBytes(bytes) => {
                format!("its topic has {bytes} bytes, more than limits.topic_bytes_max = {}", limits.topic_bytes_max)
            }
            Beyond::TopicLevels(levels) => {
                format!(
                    "its topic has {levels} levels, more than limits.topic_levels_max = {}",
                    limits.topic_levels_max
                )
            }
            Beyond::UserProperties(pairs) => {
                let most = limits.user_properties_max;
                format!("it has {pairs} user properties, more than limits.user_properties_max = {most}")
            }
            Beyond::Alias => "its topic alias was given to a topic that was refused".to_owned(),
            Beyond::PacketBytes(bytes) => {
                format!("its packet has {bytes} bytes, more than {}", self.packet_limit(index))
            }
        }
    }

    /// How large a packet of this connection may be, and what says so.
    fn packet_limit(&self, index: usize) -> String {
        let of_all = self.shared.config.limits.packet_bytes_max;
        let listener = self.clients.look(index).map(|connection| self.shared.listener(connection.listener));
        match listener {
            Some(listener) if listener.packet_bytes_max != of_all => {
                format!("packet_bytes_max of the listener {} = {}", listener.url, listener.packet_bytes_max)
            }
            _ => format!("limits.packet_bytes_max = {of_all}"),
        }
    }

    /// Says that a client's packet is larger than any may be, if that is what is wrong with `bytes`: the connection ends.
    pub(in crate::shard) fn tell_too_large(&self, index: usize, bytes: &[u8], error: &ProtocolError) {
        let Some(connection) = self.clients.look(index) else { return };
        let Stage::Open { session, .. } = connection.stage else { return };
        if error.reason != ReasonCode::PacketTooLarge {
            return;
        }
        self.shared.notices.tell_with(NoticeKind::Refused, self.now_ms, || {
            let (who, limit) = (self.called_from(session, index), self.packet_limit(index));
            let size = announced_len(bytes).map_or_else(String::new, |size| format!(" of {size} bytes"));
            let text = format!("{who}: closed, for it sent a packet{size}, more than {limit}");
            let mut facts = self.facts_of("packet_refused", session, index);
            facts["reason"] = error.reason.name().into();
            facts["reason_code"] = error.reason.value().into();
            (text, facts)
        });
    }
}
