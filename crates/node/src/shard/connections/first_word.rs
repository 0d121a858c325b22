//! Clients that may be somewhere else: judged at once, let in when they have shown to be where they say.
//!
//! Over a datagram anybody can write any address, and a session that is kept, or that takes somebody's place, would be had for it. So
//! whoever speaks for such clients inside the process has their CONNECT judged first: limits, rights and `on_connect` are asked, and
//! nothing is opened, taken over or written down. AUTH says that the client would be let in; MQTT has no better word for "show
//! me". The CONNECT that comes again on the same connection says that it has shown to be there, and finds the judgement.

use lapwing_codec::{Auth, AuthProperties, Connect, Packet, ReasonCode, Version};

use crate::holder::Holder;
use crate::shard::Shard;
use crate::shard::connections::connection::Pause;
use crate::shard::connections::serve::Flow;
use crate::shard::rights::standing::Standing;

/// What is asked for, as the name of a method of authentication.
const METHOD: &str = "first-word";

impl Shard {
    /// Whether a CONNECT must wait until its client has shown to be there. Asked once: who comes again has.
    pub(in crate::shard) fn must_show_itself(&mut self, index: usize, connect: &Connect<'_>, client_id: &str) -> bool {
        let is_kept = connect.properties.session_expiry_s > 0;
        let takes_place = self.clients.find(client_id).is_some();
        let gate = self.clients.connection(index).and_then(|connection| connection.gate.as_mut());
        let is_unseen = gate.is_some_and(|gate| std::mem::take(&mut gate.candidate.is_unseen));
        is_unseen && (is_kept || takes_place)
    }

    /// It may come in when its CONNECT comes again.
    pub(in crate::shard) fn ask_for_word(&mut self, index: usize, standing: Standing) -> Flow {
        self.shared.shares.sessions.give_back(Holder::of(&standing.identity));
        let Some(connection) = self.clients.connection(index) else { return Flow::Gone };
        connection.gate_mut().candidate.judged = Some(standing);
        let properties = AuthProperties { auth_method: Some(METHOD), ..AuthProperties::default() };
        let ask = Packet::Auth(Auth { reason: ReasonCode::ContinueAuthentication, properties });
        ask.encode(Version::V5, &mut connection.output).expect("an AUTH with a short method always fits");
        self.clients.touch(index);
        Flow::Continue
    }

    /// Whether its client was asked, and has not shown to be there yet.
    pub(in crate::shard) fn awaits_word(&mut self, index: usize) -> bool {
        let Some(connection) = self.clients.connection(index) else { return false };
        let is_judged = connection.gate.as_ref().is_some_and(|gate| gate.candidate.judged.is_some());
        is_judged && connection.is_connecting() && connection.paused != Some(Pause::Gate)
    }
}
