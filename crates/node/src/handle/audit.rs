//! What this process has written into the audit trail.

use serde_json::{Value, json};

use super::Handle;
use crate::audit::{AuditEvent, Refusal};
use crate::error::NodeError;

impl Handle {
    /// Has an event written into the audit trail, if there is one. `name`: a word; `fields_json`: an object. Texts in it are
    /// cut, and tokens in them hidden. `refusal`: it has the rate of refusals of this kind (`connect`, `publish`, `subscribe`,
    /// `http`).
    ///
    /// # Errors
    /// `Config`: the fields are no object, or there is no such kind.
    pub fn audit(&self, name: &str, fields_json: &str, refusal: Option<&str>) -> Result<(), NodeError> {
        if !self.shared.audit.is_on() {
            return Ok(());
        }
        let wrong = |what: String| NodeError::config("audit", what, "Give an object.");
        let fields: Value = serde_json::from_str(fields_json).map_err(|error| wrong(error.to_string()))?;
        if !fields.is_object() {
            return Err(wrong("the fields are no object".into()));
        }
        match refusal.map(|refusal| Refusal::of(refusal).ok_or(refusal)).transpose() {
            Ok(None) => self.shared.audit.happened(|| AuditEvent::now(name, fields)),
            Ok(Some(refusal)) => {
                self.shared.audit.refused(refusal, self.shared.now_ms(), || AuditEvent::now(name, fields));
            }
            Err(refusal) => return Err(wrong(format!("there is no kind of refusal {refusal:?}"))),
        }
        Ok(())
    }

    /// Whether there is an audit trail.
    pub fn is_audited(&self) -> bool {
        self.shared.audit.is_on()
    }

    /// What this start has met in the place of entries that somebody has given up since the snapshots (`lapwing store repair`,
    /// `lapwing broker --accept-loss-of`): these work on files of a broker that does not run, so it is told here.
    pub(super) fn audit_accepted_losses(&self) {
        let entries = self.kept().map_or(0, |kept| kept.data_groups.lost());
        if entries > 0 {
            self.shared.audit.happened(|| AuditEvent::now("losses_accepted", json!({"entries": entries})));
        }
    }

    /// Its last line: how the node ends.
    pub(super) fn end_audit(&self) {
        self.audit_trimmed(true);
        let failure = self.shared.life.failure();
        let why = failure.as_ref().map(|failure| json!({"code": failure.code, "message": failure.message}));
        self.shared.audit.end(AuditEvent::now("stopped", json!({"failure": why})));
    }
}
