//! A client connects: its session begins, or goes on.

use std::sync::Arc;

use lapwing_codec::{Connect, Version};

use crate::ack_line::AckLine;
use crate::flight::Window;
use crate::id_set::IdSet;
use crate::link::Link;
use crate::losses::LossBook;
use crate::queue::Queue;
use crate::session::NEVER;
use crate::subscribed::Subscribed;
use crate::told::Told;
use crate::will::StoredWill;
use crate::{Admission, Io, Session, SessionKey, Settings, connack};

/// What [`Session::open`] made.
#[derive(Debug)]
#[must_use]
pub struct Opened {
    /// The session, connected.
    pub session: Session,
    /// Whether it is an old one that goes on; if so its subscriptions are in the filter tree already.
    pub session_present: bool,
    /// The old session, when the client wanted a clean start or it had expired: [`Session::end`] it.
    pub discarded: Option<Session>,
}

impl Session {
    /// Connects a client: writes the CONNACK, then whatever an old session still has to send.
    ///
    /// `existing`: the session of this client id, its former connection already taken from it by
    /// [`Session::disconnected`]. `key` names a new session; one that goes on keeps its own.
    pub fn open(
        connect: &Connect<'_>,
        admission: &Admission,
        key: SessionKey,
        settings: &Arc<Settings>,
        existing: Option<Session>,
        now_ms: u64,
        io: &mut Io<'_>,
    ) -> Opened {
        let goes_on = |old: &Session| !connect.clean_start && !old.is_over(now_ms);
        let (resumed, discarded) = match existing {
            Some(old) if goes_on(&old) => (Some(old), None),
            old => (None, old),
        };
        let session_present = resumed.is_some();
        let mut session = resumed.unwrap_or_else(|| Session::new(Arc::clone(&admission.client_id), key, settings));
        session.settings = Arc::clone(settings);
        session.expiry_s = granted_expiry_s(connect, settings);
        session.ends_at_ms = NEVER;
        // A will of the former connection that still waited for its delay is not sent [MQTT-3.1.3-9].
        session.will = connect.will.as_ref().map(|will| Box::new(StoredWill::new(will, session.key)));
        session.link = Some(Link::new(connect, admission, settings, now_ms));
        session.told.losses_mut().into_iter().for_each(LossBook::begin_anew);
        connack::grant(connect, admission, settings, session_present, session.expiry_s, io.out);
        session.window.resend_all();
        session.pump(now_ms, io);
        Opened { session, session_present, discarded }
    }

    pub(crate) fn new(client_id: Arc<str>, key: SessionKey, settings: &Arc<Settings>) -> Self {
        Session {
            settings: Arc::clone(settings),
            key,
            client_id,
            expiry_s: 0,
            ends_at_ms: NEVER,
            subscriptions: Subscribed::default(),
            window: Window::new(),
            queue: Queue::default(),
            reads_page: false,
            receipts: IdSet::default(),
            acks: AckLine::default(),
            will: None,
            told: Told::default(),
            link: None,
        }
    }

    /// Whether it ended while nobody looked.
    fn is_over(&self, now_ms: u64) -> bool {
        self.ends_at_ms <= now_ms
    }
}

/// How long the session outlives its connection. Before 5.0: "not at all" or "for as long as the server likes".
pub(crate) fn granted_expiry_s(connect: &Connect<'_>, settings: &Settings) -> u32 {
    match connect.version {
        Version::V31 | Version::V311 if connect.clean_start => 0,
        Version::V31 | Version::V311 => settings.session_expiry_s_v311.min(settings.session_expiry_s_max),
        Version::V5 => connect.properties.session_expiry_s.min(settings.session_expiry_s_max),
    }
}
