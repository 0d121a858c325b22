//! Clients of MQTT-SN that sleep, against a node: does everything wait for them, come once, and is it told how soon?

use lapwing_node::{Config, Handle};
use lapwing_swarm::{Profile, Report, Sink, SinkConfig, SwarmError, run};

fn node() -> Handle {
    let json = r#"{"shards": 1, "listeners": [{"url": "sn://127.0.0.1:0"}]}"#;
    let mut config = Config::from_json(json).expect("the test's configuration is right");
    config.listen = vec!["tcp://127.0.0.1:0".into()];
    config.pin = false;
    Handle::start(config).expect("the node starts")
}

fn gateway(node: &Handle) -> String {
    node.listeners().into_iter().find(|url| url.starts_with("sn://")).expect("it has one")
}

fn report(url: &str, more: &str) -> Result<Report, SwarmError> {
    let json = format!(r#"{{"url": "{url}", "prefix": "s", "version": 4, "seconds": 0.2, "spin": false {more}}}"#);
    run(&Profile::from_json(&json)?)
}

/// Does what is published while all sleep come when each awakes, once, at each QoS that is acknowledged?
#[test]
fn what_waits_comes_once() -> Result<(), SwarmError> {
    let node = node();
    for qos in [1, 2] {
        let more = format!(
            r#", "pattern": "fan-out", "subscribers": 20, "threads": 2, "rate": 100, "qos": {qos}, "sleep_s": 0.3"#
        );
        let report = report(&gateway(&node), &more)?;
        assert!(report.is_clean(), "{report:?}");
        assert_eq!((report.sent, report.delivered, report.expected), (20, 400, 400));
        let sleep = report.sleep.expect("they slept");
        assert!(sleep.wakes >= 20 && sleep.drained == sleep.wakes, "{sleep:?}");
        assert!(sleep.drain_us.count == sleep.drained && sleep.drain_us.min > 0.0, "{sleep:?}");
        // The last was due after 0.2 s, and the first awoke after 0.3 s.
        assert!(report.latency_us.min >= 100_000.0, "{:?}", report.latency_us);
        assert!(sleep.all_drained_s * 1e6 >= sleep.drain_us.min, "{sleep:?}");
    }
    Ok(())
}

/// Does each awake again and again while messages go on, between several publishers and their own sleepers?
#[test]
fn they_sleep_again() -> Result<(), SwarmError> {
    let node = node();
    let more = r#", "pattern": "p2p", "publishers": 4, "rate": 200, "qos": 2, "sleep_s": 0.03"#;
    let report = report(&gateway(&node), more)?;
    assert!(report.is_clean(), "{report:?}");
    assert_eq!((report.sent, report.delivered), (40, 40));
    let sleep = report.sleep.expect("they slept");
    assert!(sleep.wakes >= 4 && sleep.drained == sleep.wakes, "{sleep:?}");
    Ok(())
}

/// Is a sleep that there is not, where MQTT is spoken, said before anybody connects?
#[test]
fn only_clients_of_mqtt_sn_sleep() -> Result<(), SwarmError> {
    let sink = Sink::start(&SinkConfig::on("127.0.0.1", 0))?;
    let answer = report(&sink.url(), r#", "pattern": "p2p", "sleep_s": 1"#);
    assert!(matches!(answer, Err(SwarmError::Profile { key: "sleep", .. })), "{answer:?}");
    assert_eq!(sink.figures().connections, 0);
    let awake = report(&sink.url(), r#", "pattern": "devices", "publishers": 1, "rate": 10"#)?;
    assert!(awake.sleep.is_none());
    Ok(())
}
