//! A disk that does not answer: who hears of it, and when it is over.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing_codec::QoS;
use lapwing_node::{Handle, Hindrance};
use lapwing_store::Log;

use crate::faulty_disk::hanging_sync_while;
use crate::{config, connect, eventually, metric};

const HOUR: Duration = Duration::from_secs(3600);

/// Is a sync that does not return told once, seen by whoever asks whether the node is ready, and over when it returns?
#[test]
fn a_sync_that_does_not_return_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let hold = Arc::new(Mutex::new(()));
    let disk = hanging_sync_while(hold.clone());
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    let json = format!(
        r#"{{"shards": 1, "data_dir": {:?}, "streams": {{"readings": {{"filter": "s/+/r"}}}},
            "limits": {{"stall_after_ms": 200, "stuck_after_ms": 200}}}}"#,
        dir.path()
    );
    let node = Handle::start_with_log(config(&json), Box::new(open)).expect("the node starts");
    let mut client = connect(&node, "publisher");
    client.publish_acked("s/x/r", b"on disk");
    eventually("the disk answers", || node.hindrance().is_none() && node.is_going_on(HOUR));
    let told =
        |word: &str| node.take_log().into_iter().filter(|line| line.is_alarm && line.text.contains(word)).count();
    told("");
    let stalls = metric(&node, "lapwing_log_stalls_total", "");
    let held = hold.lock().unwrap();
    client.publish("s/x/r", b"waits", QoS::AtLeastOnce, Some(1));
    eventually("the node is not ready", || matches!(node.hindrance(), Some(Hindrance::DiskStalled(_))));
    assert_eq!([told("does not answer"), told("does not answer")], [1, 0], "once");
    eventually("its age is a metric", || metric(&node, "lapwing_log_busy_seconds", "") >= 1);
    assert!(!node.is_going_on(HOUR), "beyond stuck_after");
    client.expect_silence();
    drop(held);
    client.expect_ack(1);
    eventually("the node is ready", || node.hindrance().is_none() && node.is_going_on(HOUR));
    eventually("it is over", || metric(&node, "lapwing_log_stalls_total", "") > stalls);
    assert_eq!([told("the disk answers again, after"), told("the disk answers again, after")], [1, 0], "once");
}
