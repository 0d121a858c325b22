//! What is found, as JSON. Payloads only for those who ask for them: they may be secrets.

use lapwing_envelope::Envelope;
use lapwing_ledger::{Changed, Entry, Fact, Facts, Published, Will};
use lapwing_store::inspect::{FileReport, Finding};
use serde_json::{Map, Value, json};

use crate::mail::decode_frame;

/// Names in one line of a list; the number of all is told beside them.
const NAMES_MAX: usize = 100;

pub(super) fn finding(finding: &Finding) -> Value {
    json!({"severity": finding.severity.name(), "at": finding.at, "bytes": finding.bytes, "what": finding.what})
}

pub(super) fn file(report: &FileReport) -> Value {
    let findings: Vec<Value> = report.findings.iter().map(finding).collect();
    json!({
        "event": "file", "path": report.path.to_string_lossy(), "kind": report.kind.name(), "bytes": report.bytes,
        "records": report.records, "commits": report.commits, "findings": findings,
    })
}

/// What an entry of a data group says.
pub(super) fn entry(body: &[u8], with_payload: bool) -> Value {
    match Entry::decode(body) {
        Err(fault) => json!({"entry": "unreadable", "what": fault.to_string()}),
        Ok(Entry::Opened(opened)) => json!({
            "entry": "Opened", "client_id": opened.client_id, "expiry_s": opened.expiry_s,
            "opened_at_ms": opened.opened_at_ms, "will": opened.will.map(|will| of_will(&will)),
        }),
        Ok(Entry::Changed(changed)) => of_changed(&changed),
        Ok(Entry::Ended(ended)) => {
            let sessions: Vec<u64> = ended.sessions.iter().map(|id| id.0).take(NAMES_MAX).collect();
            json!({"entry": "Ended", "sessions": sessions, "count": ended.sessions.len()})
        }
        Ok(Entry::Subscribed(subscribed)) => {
            let filters: Vec<&str> = subscribed.subscriptions.iter().map(|one| one.filter).take(NAMES_MAX).collect();
            let count = subscribed.subscriptions.len();
            json!({"entry": "Subscribed", "session": subscribed.session.0, "filters": filters, "count": count})
        }
        Ok(Entry::Unsubscribed(gone)) => {
            let filters: Vec<&str> = gone.filters.iter().take(NAMES_MAX).collect();
            json!({"entry": "Unsubscribed", "session": gone.session.0, "filters": filters, "count": gone.filters.len()})
        }
        Ok(Entry::Published(published)) => of_published(&published, with_payload),
        Ok(Entry::Progress(progress)) => of_facts(&progress.facts),
        Ok(Entry::Cleared(cleared)) => {
            let topics: Vec<&str> = cleared.topics.iter().take(NAMES_MAX).collect();
            json!({"entry": "Cleared", "topics": topics, "count": cleared.topics.len()})
        }
        Ok(Entry::GroupOpened(opened)) => {
            json!({"entry": "GroupOpened", "name": opened.name, "filter": opened.filter})
        }
        Ok(Entry::GroupEnded(ended)) => {
            let groups: Vec<u64> = ended.groups.iter().map(|id| id.0).take(NAMES_MAX).collect();
            json!({"entry": "GroupEnded", "groups": groups, "count": ended.groups.len()})
        }
        Ok(Entry::Settled(settled)) => json!({"entry": "Settled", "count": settled.publishers.len()}),
        Ok(Entry::Lost(_)) => json!({"entry": "Lost"}),
        Ok(_) => json!({"entry": "of another kind"}),
    }
}

/// What a record of a stream says.
pub(super) fn message(body: &[u8], with_payload: bool) -> Value {
    match Envelope::decode(body) {
        Err(error) => json!({"entry": "unreadable", "what": error.to_string()}),
        Ok((envelope, properties)) => {
            let mut said = json!({
                "entry": "message", "topic": envelope.topic, "client_id": envelope.client_id, "qos": envelope.qos,
                "retain": envelope.retain, "payload_bytes": envelope.payload.len(),
                "user_properties": properties.len(),
            });
            add_payload(&mut said, envelope.payload, with_payload);
            said
        }
    }
}

fn of_published(published: &Published<'_>, with_payload: bool) -> Value {
    let publish = decode_frame(published.frame);
    let mut said = json!({
        "entry": "Published",
        "topic": publish.as_ref().map(|publish| publish.topic),
        "qos": publish.as_ref().map(|publish| publish.qos as u8),
        "payload_bytes": publish.as_ref().map(|publish| publish.payload.len()),
        "keepers": published.keepers.len(),
        "groups": published.groups.len(),
        "retained": published.retained.is_some(),
        "published_at_ms": published.published_at_ms,
    });
    if let (Some(fields), Some(origin)) = (said.as_object_mut(), published.origin) {
        fields.insert("publisher_session".into(), json!(origin.session.0));
        fields.insert("packet_id".into(), json!(origin.packet_id));
    }
    if published.expires_at_ms > 0
        && let Some(fields) = said.as_object_mut()
    {
        fields.insert("expires_at_ms".into(), json!(published.expires_at_ms));
    }
    if let Some(publish) = publish {
        add_payload(&mut said, publish.payload, with_payload);
    }
    said
}

fn of_will(will: &Will<'_>) -> Value {
    json!({"topic": decode_frame(will.frame).map(|publish| publish.topic), "delay_s": will.delay_s})
}

fn of_changed(changed: &Changed<'_>) -> Value {
    let mut said = Map::new();
    said.insert("entry".into(), json!("Changed"));
    said.insert("session".into(), json!(changed.session.0));
    if let Some(expiry_s) = changed.expiry_s {
        said.insert("expiry_s".into(), json!(expiry_s));
    }
    if changed.identity.is_some() {
        said.insert("identity".into(), json!("changed"));
    }
    if let Some(will) = &changed.will {
        said.insert("will".into(), will.as_ref().map_or(Value::Null, of_will));
    }
    if let Some(presence) = changed.presence {
        said.insert("connected".into(), json!(presence.connected));
        said.insert("at_ms".into(), json!(presence.at_ms));
    }
    Value::Object(said)
}

fn of_facts(facts: &Facts<'_>) -> Value {
    let mut counts = [0_u64; 6];
    for (_, fact) in facts.iter() {
        let place = match fact {
            Fact::Finished { .. } => 0,
            Fact::PublishSent { .. } => 1,
            Fact::PubRecReceived { .. } => 2,
            Fact::Received { .. } => 3,
            Fact::Released { .. } => 4,
            Fact::Doubted { .. } => 5,
        };
        counts[place] += 1;
    }
    let [finished, sent, got, received, released, doubted] = counts;
    json!({
        "entry": "Progress", "facts": facts.len(), "finished": finished, "sent": sent, "got": got,
        "received": received, "released": released, "doubted": doubted,
    })
}

fn add_payload(said: &mut Value, payload: &[u8], with_payload: bool) {
    if let Some(fields) = said.as_object_mut().filter(|_| with_payload) {
        let hex: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
        fields.insert("payload_hex".into(), Value::String(hex));
    }
}

#[cfg(test)]
mod tests {
    use lapwing_ledger::{DeliveryOptions, KeeperId, KeepersBuf, List, Opened, SubscriptionIds};

    use super::*;

    fn encoded(entry: Entry<'_>) -> Vec<u8> {
        let mut bytes = vec![];
        entry.encode(&mut bytes).expect("within bounds");
        bytes
    }

    /// Does an entry tell whose it is and what it is about, and a payload only when it is asked for?
    #[test]
    fn payloads_are_told_only_on_demand() {
        let mut keepers = KeepersBuf::new();
        keepers
            .push(KeeperId(7), DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY })
            .expect("within bounds");
        // PUBLISH, QoS 0, topic a/b, no properties, payload "xy", as MQTT 5.0 writes it.
        let frame = [0x30, 8, 0, 3, b'a', b'/', b'b', 0, b'x', b'y'];
        let published = encoded(Entry::Published(Published {
            frame: &frame,
            published_at_ms: 5,
            expires_at_ms: 0,
            publisher: 1,
            holder: None,
            origin: None,
            keepers: keepers.as_list(),
            groups: List::EMPTY,
            retained: Some("a/b"),
        }));
        let said = entry(&published, false);
        assert_eq!((&said["entry"], &said["topic"], &said["keepers"]), (&json!("Published"), &json!("a/b"), &json!(1)));
        assert_eq!((&said["payload_bytes"], said.get("payload_hex")), (&json!(2), None));
        assert_eq!(entry(&published, true)["payload_hex"], json!("7879"));
        let opened = Opened { client_id: "c1", identity: b"", expiry_s: 9, opened_at_ms: 1, will: None };
        assert_eq!(entry(&encoded(Entry::Opened(opened)), false)["client_id"], json!("c1"));
        assert_eq!(entry(b"\x62", false)["entry"], json!("unreadable"));
    }
}
