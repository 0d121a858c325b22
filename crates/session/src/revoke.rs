//! What the server takes back while a session lives: rights have changed.

use crate::subscriptions::known;
use crate::{Session, Subscription};

impl Session {
    /// Takes out every subscription whose filter (as the client wrote it) `keep` does not want; `removed` is called for
    /// each, to take it out of the filter tree.
    ///
    /// MQTT has no packet that tells the client. What is queued for it already stays: it was sent when it had the right.
    pub fn revoke(&mut self, mut keep: impl FnMut(&str) -> bool, mut removed: impl FnMut(&Subscription<'_>)) {
        self.subscriptions.retain(|filter, grant| {
            let is_kept = keep(filter);
            if !is_kept {
                removed(&known(filter, grant));
            }
            is_kept
        });
    }

    /// The client is not told of publishers any more, from the next message on; true when it was.
    pub fn revoke_envelope(&mut self) -> bool {
        self.link.as_mut().is_some_and(|link| link.told.take().is_some())
    }

    /// Takes the will back unless `keep` wants its topic; true when it did.
    pub fn revoke_will(&mut self, keep: impl FnOnce(&str) -> bool) -> bool {
        let is_revoked = self.will.as_ref().is_some_and(|will| !keep(will.topic()));
        if is_revoked {
            self.will = None;
        }
        is_revoked
    }
}
