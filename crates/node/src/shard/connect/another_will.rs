//! A CONNECT on an open connection: another will for its session.
//!
//! MQTT knows no such thing, and a second CONNECT of anybody else ends the connection [MQTT-3.1.0-2]. A client of MQTT-SN may
//! change its will while it is connected (6.4 there), and whoever speaks for it inside the process says so by the CONNECT that the
//! client would make to have that will. What such a CONNECT is asked it is asked here, as far as it is about the will: limits,
//! `on_connect`, rights. All else of it says what is so already. CONNACK tells what became of it; on a refusal the will is the one
//! that it was.

use lapwing_codec::{ConnAck, ConnAckProperties, Connect, Packet, ReasonCode};
use lapwing_session::{admit, refuse_connect};

use crate::audit::Refusal;
use crate::shard::Shard;
use crate::shard::connections::serve::{Client, Flow};

impl Shard {
    /// Whether a connection is that of somebody who speaks for clients inside the process.
    pub(in crate::shard) fn is_spoken_for(&mut self, index: usize) -> bool {
        let listener = self.clients.connection(index).map(|connection| connection.listener);
        listener.is_some_and(|listener| self.shared.listener(listener).is_inside)
    }

    /// Takes the will of `connect`, or the will away if it has none.
    pub(in crate::shard) fn another_will(&mut self, index: usize, client: &Client, connect: &Connect<'_>) -> Flow {
        match self.judge_will(index, client, connect) {
            Ok(Flow::Continue) => self.take_will(index, client, connect),
            Ok(waits) => return waits,
            Err(reason) => {
                self.clients.with(client.session, |_, io| refuse_connect(connect, reason, None, io.out));
            }
        }
        self.check_output(index)
    }

    /// Whether the session may have it; `Flow::Asked`: somebody else decides.
    fn judge_will(&mut self, index: usize, client: &Client, connect: &Connect<'_>) -> Result<Flow, ReasonCode> {
        let settings = self.settings_for(index, connect.client_id);
        admit(connect, &settings, String::new).map_err(|close| close.reason)?;
        // Before whatever may be otherwise the next time: a verdict that is there is taken, and meets no other packet.
        if self.consult_again(index, client, connect)? == Flow::Asked {
            return Ok(Flow::Asked);
        }
        if self.draining {
            return Err(ReasonCode::ServerUnavailable);
        }
        if self.refuses_connections() {
            return Err(ReasonCode::QuotaExceeded);
        }
        let mut permissions = self.lend_permissions(client.session);
        let permitted = self.permit_will(connect, permissions.as_mut());
        self.return_permissions(client.session, permissions);
        if let (Err(_), Some(will)) = (permitted, &connect.will) {
            self.audit_forbidden(client.session, Refusal::Publish, will.topic);
        }
        permitted.map(|()| Flow::Continue)
    }

    /// The session has it from now on; its client hears so when the log has it too.
    fn take_will(&mut self, index: usize, client: &Client, connect: &Connect<'_>) {
        let begun = self.clients.connection(index).map_or(0, |connection| connection.output.len());
        self.clients.with(client.session, |session, io| {
            session.replace_will(connect.will.as_ref());
            let (reason, properties) = (ReasonCode::Success, ConnAckProperties::default());
            let answer = Packet::ConnAck(ConnAck { session_present: true, reason, properties });
            answer.encode(client.version, io.out).expect("a CONNACK without properties always fits");
        });
        self.keep_another_will(client.session, begun);
    }
}
