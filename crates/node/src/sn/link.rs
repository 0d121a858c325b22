//! One client's connection to its shard: MQTT 5.0 over a pair of sockets inside the process.

use std::io::{self, ErrorKind};
use std::num::NonZeroU16;
use std::ops::Range;

use lapwing_codec::{Ack, Connect, Disconnect, Packet, PacketId, Publish, ReasonCode, Version};
use lapwing_sn::peer::{Receipt, SubscribeRequest};
use lapwing_sn::{QoS, ReturnCode};
use lapwing_transport::InnerEnd;

use super::packets;
use super::traffic::{Traffic, Waiting};
use super::will::WillUpdate;

/// Bytes that wait for the shard, from which nothing more is taken from the client.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// So many are written at once, and do not wait for what else the turn brings.
const FLUSH_BYTES: usize = OUTPUT_BYTES_MAX / 4;
/// Messages and subscriptions of the client that may wait for their answers, of each.
const OWED_MAX: usize = 16;

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    All,
    Rest,
    Broken,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The broker looks at the CONNECT of somebody who may be somewhere else.
    Asking,
    /// It would let the client in, once that has shown to be there.
    Judged,
    /// It lets the client in, or not any more.
    Entering,
    /// CONNACK has said yes.
    Open,
}

/// Our end of it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) socket: InnerEnd,
    /// From the first packet on, until somebody finds it over: see [`Link::rest`].
    pub(super) traffic: Option<Box<Traffic>>,
    pub(super) stage: Stage,
    /// DISCONNECT is the last that it gets: it goes when that is written.
    pub(super) is_ending: bool,
    /// It can be read.
    pub(super) is_readable: bool,
    /// The shard says nothing more: there is an end to be read behind what it has said.
    pub(super) is_read_closed: bool,
    /// It is among those that are flushed at the end of what the thread is doing.
    pub(super) is_unflushed: bool,
    /// Messages of the client that may wait for their answers, as the CONNACK has it.
    pub(super) receive_max: u16,
    /// PINGREQs that are not answered.
    pub(super) pings: u32,
    /// One was answered, and nothing has come since it was asked.
    pub(super) is_quiet: bool,
    /// The broker wants to hear something that often, in seconds, and when next.
    pub(super) ping_every_s: Option<NonZeroU16>,
    pub(super) ping_at_ms: u64,
}

impl Link {
    pub(super) fn new(socket: InnerEnd, stage: Stage) -> Self {
        Link {
            socket,
            traffic: None,
            stage,
            is_ending: false,
            is_readable: true,
            is_read_closed: false,
            is_unflushed: false,
            receive_max: 1,
            pings: 0,
            is_quiet: false,
            ping_every_s: None,
            ping_at_ms: 0,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// How often the broker wants to hear something, if it does.
    pub(super) fn ping_every_ms(&self) -> Option<u64> {
        self.ping_every_s.map(|every_s| u64::from(every_s.get()) * 1000)
    }

    /// PUBLISHes of the session that have not gone to the client.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.traffic.iter().flat_map(|traffic| &traffic.waiting)
    }

    /// Something is under way.
    pub(super) fn busy(&mut self) -> &mut Traffic {
        self.traffic.get_or_insert_default()
    }

    /// Gives back the place of what was under way, if that is over. Not with each message, which would have to make it again:
    /// when time passes, and after what does not come often.
    pub(super) fn rest(&mut self) {
        self.traffic.take_if(|traffic| traffic.is_over());
    }

    /// Whether what the client says may go to its session, now or when that is open.
    fn leads_in(&self) -> bool {
        matches!(self.stage, Stage::Entering | Stage::Open)
    }

    /// Whether it does, and the shard keeps up.
    fn has_room(&self) -> bool {
        let output_bytes = self.traffic.as_ref().map_or(0, |traffic| traffic.output.len());
        self.leads_in() && !self.is_ending && output_bytes < OUTPUT_BYTES_MAX
    }

    /// The client has shown to be there: its CONNECT once more, behind which everything else goes.
    pub(super) fn enter(&mut self, connect: &Connect<'_>) {
        self.stage = Stage::Entering;
        self.say(&Packet::Connect(*connect));
    }

    /// Whether there is something for the shard.
    pub(super) fn has_output(&self) -> bool {
        self.traffic.as_ref().is_some_and(|traffic| !traffic.output.is_empty())
    }

    /// Whether there is so much for the shard that it is given at once.
    pub(super) fn has_much_output(&self) -> bool {
        self.traffic.as_ref().is_some_and(|traffic| traffic.output.len() >= FLUSH_BYTES)
    }

    /// A message of the client; with a `receipt` it will be answered. False: it cannot be taken now.
    pub(super) fn publish(&mut self, publish: &Publish<'_>, receipt: Option<Receipt>) -> bool {
        let window = usize::from(self.receive_max).min(OWED_MAX);
        let has_room = self.has_room();
        let traffic = self.busy();
        if !has_room || (receipt.is_some() && traffic.published.len() >= window) {
            return false;
        }
        let is_said = publish.encode(Version::V5, &mut traffic.output).is_ok();
        if is_said && let Some(receipt) = receipt {
            if traffic.published.capacity() == 0 {
                // One place, not four: hardly a device has a second message under way.
                traffic.published.reserve_exact(1);
            }
            traffic.published.push(receipt);
        }
        is_said
    }

    /// The PUBLISH that an acknowledgement is for.
    pub(super) fn answered(&mut self, qos: QoS, packet_id: PacketId) -> Option<Receipt> {
        let is_it = |receipt: &Receipt| receipt.qos() == qos && receipt.msg_id() == packet_id;
        let published = &mut self.traffic.as_mut()?.published;
        let at = published.iter().position(is_it)?;
        Some(published.swap_remove(at))
    }

    /// A subscription of the client. False: it cannot be taken now.
    pub(super) fn subscribe(&mut self, filter: &str, qos: QoS, request: SubscribeRequest) -> bool {
        let has_room = self.has_room();
        let traffic = self.busy();
        if !has_room || traffic.subscribing.len() >= OWED_MAX {
            return false;
        }
        let is_said = packets::subscribe(filter, qos, request.msg_id(), &mut traffic.output);
        if is_said {
            traffic.subscribing.push(request);
        }
        is_said
    }

    /// The SUBSCRIBE that a SUBACK is for.
    pub(super) fn subscribed(&mut self, packet_id: PacketId) -> Option<SubscribeRequest> {
        let subscribing = &mut self.traffic.as_mut()?.subscribing;
        let at = subscribing.iter().position(|request| request.msg_id() == packet_id)?;
        let request = subscribing.remove(at);
        self.rest();
        Some(request)
    }

    /// The end of a subscription. False: it cannot be taken now.
    pub(super) fn unsubscribe(&mut self, filter: &str, packet_id: PacketId) -> bool {
        self.has_room() && packets::unsubscribe(filter, packet_id, &mut self.busy().output)
    }

    /// Another will, which the session has not taken yet.
    pub(super) fn changing(&self) -> Option<&WillUpdate> {
        self.traffic.as_ref()?.changing.as_deref()
    }

    /// Another will of the client, by the CONNECT that has it, which has at most `bytes_max`.
    /// # Errors
    /// What the client is told instead.
    pub(super) fn change_will(
        &mut self,
        connect: &Connect<'_>,
        bytes_max: usize,
        update: WillUpdate,
    ) -> Result<(), ReturnCode> {
        let has_room = self.has_room();
        let Traffic { output, changing, .. } = self.busy();
        if !has_room || changing.is_some() {
            return Err(ReturnCode::CONGESTION);
        }
        let begun = output.len();
        let is_said = Packet::Connect(*connect).encode(Version::V5, output).is_ok();
        if !is_said || output.len() - begun > bytes_max {
            output.truncate(begun);
            return Err(ReturnCode::NOT_SUPPORTED);
        }
        *changing = Some(Box::new(update));
        Ok(())
    }

    /// PUBREL of the client. False: it cannot be taken now, and will come again.
    pub(super) fn release(&mut self, packet_id: PacketId) -> bool {
        self.has_room() && self.say(&Packet::PubRel(Ack::success(packet_id)))
    }

    /// The client begins another message of QoS 2 and has not released this one: it is released for it. False: not now.
    pub(super) fn give_up(&mut self, packet_id: PacketId) -> bool {
        let is_said = self.release(packet_id);
        if is_said {
            self.busy().given_up.push(packet_id);
        }
        is_said
    }

    /// Whether PUBCOMP is for the client, and not for what it has given up.
    pub(super) fn completes(&mut self, packet_id: PacketId) -> bool {
        let Some(Traffic { given_up, .. }) = self.traffic.as_deref_mut() else { return true };
        let at = given_up.iter().position(|given_up| *given_up == packet_id);
        at.map(|at| given_up.remove(at)).is_none()
    }

    /// What the client said of a message that is under way: as large as there are such, which is one.
    pub(super) fn acknowledge(&mut self, packet: &Packet<'_>) {
        self.say(packet);
    }

    /// Whether all that was sent before has been handled: PINGRESP comes behind what that has brought.
    pub(super) fn ping(&mut self) {
        if self.say(&Packet::PingReq) {
            self.pings += 1;
        }
    }

    /// The client goes: without its will, if it says so itself. The shard may be about to open its session, so it hears of that
    /// behind the CONNECT; but one that only would let it in has nothing to end.
    pub(super) fn end(&mut self) {
        if !std::mem::replace(&mut self.is_ending, true) && self.stage != Stage::Judged {
            self.say(&Packet::Disconnect(Disconnect::new(ReasonCode::Success)));
        }
    }

    fn say(&mut self, packet: &Packet<'_>) -> bool {
        // What a client can say at all can be said in MQTT: lengths and topics were checked when its datagram was read.
        packet.encode(Version::V5, &mut self.busy().output).is_ok()
    }

    /// Gives the shard what waits for it.
    pub(super) fn flush(&mut self) -> Written {
        let Some(Traffic { output, .. }) = self.traffic.as_deref_mut() else { return Written::All };
        let mut written = 0;
        let ended = loop {
            if written == output.len() {
                break Written::All;
            }
            match self.socket.write(&output[written..]) {
                Ok(0) => break Written::Broken,
                Ok(n) => written += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Written::Rest,
                Err(_) => break Written::Broken,
            }
        };
        output.drain(..written);
        if output.is_empty() {
            *output = Vec::new();
        }
        ended
    }

    /// Keeps what was read and is less than a packet.
    pub(super) fn keep_input(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.busy().input = rest.into();
        }
    }

    /// What the shard has said, in `buffer` behind what was left of it before; `None`: it has ended the connection.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Option<Range<usize>> {
        let left = self.traffic.as_mut().map_or_else(Box::default, |traffic| std::mem::take(&mut traffic.input));
        buffer[..left.len()].copy_from_slice(&left);
        let mut filled = left.len();
        // What was left before is no news: where nothing is behind it, half a packet is the last that came.
        while self.is_readable && filled < buffer.len() {
            match self.socket.read(&mut buffer[filled..]) {
                Ok(0) if filled > left.len() => return Some(0..filled),
                Ok(0) => return None,
                Ok(n) => {
                    filled += n;
                    // Less than there was room for is all that there is: what comes later is an event of its own.
                    self.is_readable = self.is_read_closed || filled == buffer.len();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.is_readable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(0..filled)
    }
}

#[cfg(test)]
mod tests {
    use lapwing_transport::{PeerAddress, Socket};

    use super::*;

    /// Is a connection over whose shard closed it in the middle of a packet, and not read again and again?
    #[test]
    fn half_a_packet_is_no_reason_to_wait_for_the_rest() {
        let (ours, mut theirs) = Socket::pair(PeerAddress::Local, None).expect("a pair of sockets");
        let mut link = Link::new(ours, Stage::Open);
        assert_eq!(theirs.write(&[0x30, 9]).expect("there is room"), 2);
        drop(theirs);
        link.is_read_closed = true;
        let mut buffer = [0; 64];
        let read = link.read(&mut buffer).expect("what came before the end");
        assert_eq!(buffer[read.clone()], [0x30, 9]);
        link.keep_input(&buffer[read]);
        assert!(link.is_readable && link.read(&mut buffer).is_none());
    }
}
