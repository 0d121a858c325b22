//! Messages are stamped with their publishers where they come in; who may be told of that is decided at CONNECT.

use lapwing_access::{Identity, Right};
use lapwing_codec::{Connect, Publish, PublishProperties, UserProperties};
use lapwing_session::{Accepted, Admission, Routed, Stamp, StampBuf, is_stamped, stamp_bytes, unstamped};

use crate::log::now_us;
use crate::metrics::Refused;
use crate::notices::NoticeKind;
use crate::shard::Shard;
use crate::shard::publish::route::Publisher;
use crate::signals::asks_for_envelope;

/// Payloads above this leave no room for a stamp in the largest packet there is; they go without.
const PAYLOAD_BYTES_MAX: usize = (1 << 28) - (1 << 18);

/// What a shard puts stamps together with.
#[derive(Debug, Default)]
pub(in crate::shard) struct Stamper {
    buf: StampBuf,
    session: String,
    message_id: String,
}

impl Shard {
    /// Routes a message that came in on this shard: from a client, or as a will.
    ///
    /// A stamp that its publisher has made up does not come further than here, whether anybody looks for stamps or not; and
    /// from here on the message has the deadline that the node gives it.
    #[inline]
    pub(in crate::shard) fn route(&mut self, routed: &Routed<'_>, publisher: &mut Publisher<'_>) -> Accepted {
        let expiring = self.with_deadline(routed);
        let routed = expiring.as_ref().unwrap_or(routed);
        if self.shared.stamps.are_wanted() || is_stamped(&routed.publish().properties.user) {
            return self.route_stamped(routed, publisher);
        }
        self.route_as_it_is(routed, publisher)
    }

    #[inline(never)]
    fn route_stamped(&mut self, routed: &Routed<'_>, publisher: &mut Publisher<'_>) -> Accepted {
        let publish = *routed.publish();
        let own = unstamped(publish.properties.user);
        let mut stamper = std::mem::take(&mut self.publish.stamper);
        let is_stamped = self.shared.stamps.are_wanted() && self.stamp(&mut stamper, routed, own, publisher.client_id);
        let user = if is_stamped { stamper.buf.user() } else { own };
        let publish = Publish { properties: PublishProperties { user, ..publish.properties }, ..publish };
        let routed = Routed::with_deadline(publish, routed.publisher(), routed.expires_at_ms());
        let accepted = self.route_as_it_is(&routed, publisher);
        self.publish.stamper = stamper;
        accepted
    }

    /// Puts the stamp and the publisher's `own` properties together; false when there is no room for a stamp.
    fn stamp(&mut self, stamper: &mut Stamper, routed: &Routed<'_>, own: UserProperties<'_>, client_id: &str) -> bool {
        let Stamper { buf, session, message_id } = stamper;
        let (key, publish) = (routed.publisher(), routed.publish());
        session.clear();
        self.shared.stamps.name_session(key, self.clients.kept(key), session);
        self.publish.stamped += 1;
        message_id.clear();
        self.shared.stamps.name_message(self.id, self.publish.stamped, message_id);
        let stamp = Stamp { client_id, session, qos: publish.qos, message_id, ingress_us: now_us() };
        let is_stamped = publish.payload.len() <= PAYLOAD_BYTES_MAX && buf.stamp(&stamp, own).is_ok();
        self.counters.traffic.unstamped.add(u64::from(!is_stamped));
        is_stamped
    }

    /// What a message of this client takes up beyond its packet.
    pub(in crate::shard) fn stamp_bytes(&self, client_id: &str) -> usize {
        if self.shared.stamps.are_wanted() { stamp_bytes(client_id) } else { 0 }
    }

    /// Whether a client that asks in its CONNECT to be told of publishers may be, for its CONNACK.
    pub(in crate::shard) fn with_envelope(
        &mut self,
        admission: Admission,
        connect: &Connect<'_>,
        identity: &Identity,
    ) -> Admission {
        let (asks, ignored) = asks_for_envelope(&connect.properties.user);
        self.counters.traffic.signals_ignored.add(u64::from(ignored));
        if !asks {
            return admission;
        }
        let may = self.may_be_told(identity);
        if may {
            if let Err(error) = self.shared.stamps.want() {
                let why = "messages say who has published them, but not after a restart until somebody asks again";
                let told = format!("{why}: the data folder cannot be written: {error}");
                self.shared.tell(NoticeKind::Disk, told);
            }
        } else {
            self.counters.access.refused(Refused::Envelope, 1);
        }
        admission.with_envelope(may)
    }

    /// Whether somebody may be told of publishers.
    pub(in crate::shard) fn may_be_told(&self, identity: &Identity) -> bool {
        self.shared.stamps.may_be_wanted() && self.shared.authority.may(identity, Right::Envelope, "")
    }
}
