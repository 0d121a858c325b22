//! Wills: asked for, changed, told when a device is lost.

use std::path::Path;

use lapwing_codec::{ReasonCode, SubscriptionOptions};
use lapwing_node::{Handle, HookAnswer, HookCall, HookName};
use lapwing_sn::{Connect, Disconnect, Kind, Message, Publish, QoS, ReturnCode, WillMsg, WillTopic};

use super::{SN, dropped, listen, set_up, set_up_with};
use crate::client::Client;
use crate::device::{Device, publish, short, topic_id};
use crate::hook_double::{Barrier, Double};
use crate::packets::lasting;
use crate::{connect, eventually, hook_double, metric, node};

/// The connection of a device ends without its word: somebody else comes under its id, and goes on with its session.
fn lose(node: &Handle, client_id: &str) {
    drop(Client::connect_with(node, &lasting(client_id)));
}

fn say_topic(device: &Device, topic: &str) {
    device.say(Message::WillTopicUpd(Some(WillTopic { qos: QoS::AtLeastOnce, retain: false, topic })));
}

fn change_topic(device: &Device, topic: &str) {
    say_topic(device, topic);
    device.expect(Message::WillTopicResp(ReturnCode::ACCEPTED));
}

fn change_message(device: &Device, payload: &[u8]) {
    device.say(Message::WillMsgUpd(WillMsg { payload }));
    device.expect(Message::WillMsgResp(ReturnCode::ACCEPTED));
}

fn take_away(device: &Device) {
    device.say(Message::WillTopicUpd(None));
    device.expect(Message::WillTopicResp(ReturnCode::ACCEPTED));
}

/// The next `count` wills, by topic.
fn wills(listener: &mut Client, count: usize) -> Vec<(String, String)> {
    let mut wills: Vec<_> = (0..count)
        .map(|_| {
            let will = listener.receive();
            listener.acknowledge(&will);
            (will.topic, String::from_utf8(will.payload).expect("text"))
        })
        .collect();
    wills.sort();
    wills
}

fn texts(wills: &[(&str, &str)]) -> Vec<(String, String)> {
    wills.iter().map(|(topic, payload)| ((*topic).to_owned(), (*payload).to_owned())).collect()
}

/// 6.2, 6.12: is a will asked for, told when the device is lost, and not when it goes?
#[test]
fn a_will_is_for_who_is_lost() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    let (goes, lost) = (Device::new(&node), Device::new(&node));
    set_up(&goes, "w/goes", 1);
    goes.leave();
    set_up(&lost, "w/lost", 1);
    let will = listener.receive();
    assert_eq!((will.topic.as_str(), &will.payload[..]), ("w/lost", &b"lost"[..]));
    listener.acknowledge(&will);
    listener.expect_silence();
}

/// 6.12: does a device that says everything at once, from CONNECT to DISCONNECT, and closes, have its will told?
#[test]
fn who_goes_before_it_is_in_has_no_will() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    for n in 0..100 {
        let (device, id) = (Device::new(&node), format!("d{n}"));
        device.say(Message::Connect(Connect { will: true, clean_session: true, duration_s: 600, client_id: &id }));
        device.say(Message::WillTopic(Some(WillTopic { qos: QoS::AtLeastOnce, retain: false, topic: "w/gone" })));
        device.say(Message::WillMsg(WillMsg { payload: b"" }));
        device.say(Message::Disconnect(Disconnect { duration_s: None }));
        let answers = [Kind::WillTopicReq, Kind::WillMsgReq, Kind::ConnAck, Kind::Disconnect];
        while device.take_any_of(&answers) != Kind::Disconnect {}
    }
    eventually("the connections are over", || metric(&node, "lapwing_connections", "") == 1);
    listener.expect_silence();
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 0);
}

/// 6.4: is the will that is told the one that was said last: topic and message each by itself, begun where there was none, taken
/// away by an empty topic?
#[test]
fn a_will_is_changed() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    let ids = ["w/topic", "w/message", "w/none", "begun", "half"];
    let devices = ids.map(|_| Device::new(&node));
    let [topic, message, none, begun, half] = &devices;
    for (device, id) in [(topic, "w/topic"), (message, "w/message"), (none, "w/none")] {
        set_up(device, id, 600);
    }
    begun.come("begun", true);
    half.come("half", true);
    change_topic(topic, "w/other");
    change_message(message, b"first");
    // A repeat, whose answer was lost, is answered again.
    change_message(message, b"second");
    change_message(message, b"second");
    // Until it has a topic the message waits.
    change_message(begun, b"before");
    change_topic(begun, "w/begun");
    change_topic(half, "w/half");
    change_topic(none, "w/none/2");
    take_away(none);
    take_away(none);
    ids.iter().for_each(|id| lose(&node, id));
    let told = [("w/begun", "before"), ("w/half", ""), ("w/message", "second"), ("w/other", "lost")];
    assert_eq!(wills(&mut listener, 4), texts(&told));
    listener.expect_silence();
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 4);
}

fn on_disk(dir: &Path) -> String {
    SN.replace("\"listeners\"", &format!("\"data_dir\": {dir:?}, \"durability\": \"disk\", \"listeners\""))
}

/// 6.4: does a will that was changed outlive the broker as one of CONNECT does, with and without a session that is kept?
#[test]
fn a_changed_will_outlives_the_broker() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = node(&on_disk(dir.path()));
    let mut keeper = Client::connect_with(&first, &lasting("keeper")).0;
    keeper.subscribe("w/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    let come = |id, clean_session| {
        let device = Device::new(&first);
        let connect = Connect { will: true, clean_session, duration_s: 600, client_id: id };
        set_up_with(&device, connect, &format!("w/{id}"));
        device
    };
    change_topic(&come("kept", false), "w/kept/2");
    change_message(&come("clean", true), b"clean 2");
    for clean_session in [false, true] {
        let id = if clean_session { "gone-clean" } else { "gone-kept" };
        take_away(&come(id, clean_session));
        let begun = Device::new(&first);
        begun.come(if clean_session { "new-clean" } else { "new-kept" }, clean_session);
        change_message(&begun, b"new");
        change_topic(&begun, if clean_session { "w/new/clean" } else { "w/new/kept" });
    }
    assert_eq!(metric(&first, "lapwing_wills_published_total", ""), 0);
    drop(first);
    let second = node(&on_disk(dir.path()));
    let mut keeper = Client::connect_with(&second, &lasting("keeper")).0;
    let told = [("w/clean", "clean 2"), ("w/kept/2", "lost"), ("w/new/clean", "new"), ("w/new/kept", "new")];
    assert_eq!(wills(&mut keeper, 4), texts(&told));
    keeper.expect_silence();
    assert_eq!(metric(&second, "lapwing_wills_published_total", ""), 4);
}

/// Is a will that may not be refused by its code, by rules as by limits, and the one before still there?
#[test]
fn a_will_that_may_not_be_is_refused() {
    let rules = r##""limits": {"connect_bytes_max": 256}, "rules": [
        {"identity": "anonymous", "may": ["publish"], "topics": ["up/%c/#"]},
        {"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]}], "listeners""##;
    let node = node(&SN.replace("\"listeners\"", rules));
    let mut listener = listen(&node, "up/#", QoS::AtLeastOnce);
    let device = Device::new(&node);
    let connect_packet = Connect { will: true, clean_session: true, duration_s: 600, client_id: "device" };
    set_up_with(&device, connect_packet, "up/device/1");
    change_topic(&device, "up/device/2");
    for topic in ["up/other", "$SYS/broker", "nowhere"] {
        say_topic(&device, topic);
        device.expect(Message::WillTopicResp(ReturnCode::NOT_SUPPORTED));
    }
    assert_eq!(metric(&node, "lapwing_not_authorized_total", "will"), 3);
    for len in [240, 1025] {
        device.say(Message::WillMsgUpd(WillMsg { payload: &vec![b'x'; len] }));
        device.expect(Message::WillMsgResp(ReturnCode::NOT_SUPPORTED));
    }
    assert_eq!(dropped(&node, "refused"), 5);
    device.expect_silence();
    lose(&node, "device");
    assert_eq!(wills(&mut listener, 1), texts(&[("up/device/2", "lost")]));
}

/// Nobody is connected there: is that said, and a will of nobody not begun?
#[test]
fn who_is_not_connected_has_no_will() {
    let node = node(SN);
    let device = Device::new(&node);
    say_topic(&device, "w/t");
    device.expect(super::GONE);
    device.say(Message::WillMsgUpd(WillMsg { payload: b"lost" }));
    device.expect(super::GONE);
    assert_eq!(dropped(&node, "not_connected"), 2);
}

fn hooked(answer: impl FnMut(&HookCall) -> HookAnswer + Send + 'static) -> Handle {
    hook_double::node(SN, Double::new(&[HookName::Connect], answer))
}

/// Is a hook that judges CONNECT asked again, with the will that is wanted, and is what it says for that alone?
#[test]
fn on_connect_judges_another_will() {
    let node = hooked(|call| match call {
        HookCall::Connect(call) => match &call.will {
            Some(will) if will.topic.starts_with("bad/") => {
                HookAnswer::Refuse { reason: ReasonCode::QuotaExceeded, text: None }
            }
            _ => HookAnswer::Pass,
        },
        other => panic!("{other:?}"),
    });
    let device = Device::connect(&node, "device");
    change_topic(&device, "good/1");
    say_topic(&device, "bad/1");
    device.say(Message::Publish(Publish { topic: short("ab"), ..publish(topic_id(1), QoS::AtLeastOnce, 5, b"x") }));
    device.expect(Message::WillTopicResp(ReturnCode::CONGESTION));
    assert_eq!(device.puback(), ReturnCode::ACCEPTED);
    change_topic(&device, "good/2");
    assert_eq!(metric(&node, "lapwing_hook_refusals_total", "on_connect"), 1);
}

/// Is one change under way at a time: the same again answered once, another one told to come later?
#[test]
fn one_change_is_under_way() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let node = hooked(move |call| {
        if let HookCall::Connect(call) = call
            && call.will.is_some()
        {
            held.pass();
        }
        HookAnswer::Pass
    });
    let device = Device::connect(&node, "device");
    say_topic(&device, "w/1");
    barrier.somebody_waits();
    say_topic(&device, "w/1");
    say_topic(&device, "w/2");
    device.expect(Message::WillTopicResp(ReturnCode::CONGESTION));
    device.say(Message::WillMsgUpd(WillMsg { payload: b"lost" }));
    device.expect(Message::WillMsgResp(ReturnCode::CONGESTION));
    barrier.open();
    device.expect(Message::WillTopicResp(ReturnCode::ACCEPTED));
    device.expect_silence();
    change_message(&device, b"lost");
}

/// CONNECT that asks for no other will and keeps what there is (6.3), then a loss: what is told?
fn come_back_and_be_lost(node: &Handle, client_id: &str) {
    let device = Device::new(node);
    device.come(client_id, false);
    lose(node, client_id);
}

/// 6.3, 6.12: does a will outlive DISCONNECT and a loss as the session does, until another is asked for or a clean session begins;
/// and is it the one of that client id, whoever comes from the address?
#[test]
fn a_will_is_kept_with_its_session() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    let told = |listener: &mut Client, topic| assert_eq!(wills(listener, 1), texts(&[(topic, "lost")]));
    let device = Device::new(&node);
    let kept = Connect { will: true, clean_session: false, duration_s: 600, client_id: "kept" };
    set_up_with(&device, kept, "w/1");
    device.expect_silence();
    device.leave();
    come_back_and_be_lost(&node, "kept");
    told(&mut listener, "w/1");
    // It was told, and is there still.
    come_back_and_be_lost(&node, "kept");
    told(&mut listener, "w/1");
    // Changed, then taken away: that is what is kept.
    let device = Device::new(&node);
    device.come("kept", false);
    change_topic(&device, "w/2");
    device.leave();
    device.come("kept", false);
    device.leave();
    come_back_and_be_lost(&node, "kept");
    told(&mut listener, "w/2");
    device.come("kept", false);
    take_away(&device);
    device.come("kept", false);
    device.leave();
    come_back_and_be_lost(&node, "kept");
    // A clean session has none of it, and another client at the same address neither.
    set_up_with(&device, kept, "w/3");
    device.expect_silence();
    device.come("other", false);
    lose(&node, "other");
    come_back_and_be_lost(&node, "kept");
    let mut both = wills(&mut listener, 2);
    both.dedup();
    assert_eq!(both, texts(&[("w/3", "lost")]));
    let clean = Device::new(&node);
    clean.come("kept", true);
    clean.expect_silence();
    come_back_and_be_lost(&node, "kept");
    listener.expect_silence();
}

/// Is the will of a session that was ended elsewhere meanwhile no more, though its device asks for the one that it had?
#[test]
fn a_will_is_over_with_its_session() {
    let node = node(SN);
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    let device = Device::new(&node);
    let kept = Connect { will: true, clean_session: false, duration_s: 600, client_id: "kept" };
    set_up_with(&device, kept, "w/1");
    device.expect_silence();
    device.leave();
    // Who takes a connection over reads nothing of it any more, its DISCONNECT neither.
    eventually("its connection is over", || metric(&node, "lapwing_connections", "") == 1);
    // With a clean start, which ends that session, and without one that stays.
    drop(connect(&node, "kept"));
    eventually("its session is over", || metric(&node, "lapwing_sessions", "") == 1);
    device.come("kept", false);
    eventually("that change is through: one is under way at a time", || {
        device.say(Message::WillMsgUpd(WillMsg { payload: b"of no topic" }));
        device.take(Kind::WillMsgResp, |answer| *answer == Message::WillMsgResp(ReturnCode::ACCEPTED))
    });
    lose(&node, "kept");
    listener.expect_silence();
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 0);
}

/// Are wills of clients that are gone bounded, the oldest given up and counted?
#[test]
fn kept_wills_are_bounded() {
    let node = node(&SN.replace("\"sn\": {", "\"sn\": {\"wills_kept_max\": 1, "));
    let mut listener = listen(&node, "w/#", QoS::AtLeastOnce);
    for id in ["w/first", "w/second"] {
        let device = Device::new(&node);
        set_up_with(&device, Connect { will: true, clean_session: false, duration_s: 600, client_id: id }, id);
        device.expect_silence();
        device.leave();
    }
    eventually("the oldest is given up", || dropped(&node, "wills_kept_max") == 1);
    come_back_and_be_lost(&node, "w/first");
    come_back_and_be_lost(&node, "w/second");
    assert_eq!(wills(&mut listener, 1), texts(&[("w/second", "lost")]));
    listener.expect_silence();
}
