//! Any datagrams in any order, and a client that writes meanwhile: does the translator stand, and say nothing but packets?

use lapwing_codec as codec;
use lapwing_codec::{Ack, Limits, Packet, QoS, Version};
use lapwing_sn::client::{Error, Translator, settings};
use lapwing_sn::peer::Settings;
use lapwing_sn::{Limits as SnLimits, decode};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pool::{Pool, messages, pool};
use crate::translated::{connect, encoded, id, publish, subscribe};

#[derive(Clone, Debug)]
enum Step {
    Hear(Box<Pool>, usize),
    Bytes(Vec<u8>),
    Write(usize),
    Wait(u64),
    Sleep,
    Awake,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let hear = (pool(), any::<usize>()).prop_map(|(pool, which)| Step::Hear(Box::new(pool), which));
    let bytes = vec(any::<u8>(), 0..12).prop_map(Step::Bytes);
    let (write, wait) = (any::<usize>().prop_map(Step::Write), (0..30_u64).prop_map(Step::Wait));
    let (sleep, awake) = (Just(Step::Sleep), Just(Step::Awake));
    let step = prop_oneof![6 => hear, 1 => bytes, 3 => write, 2 => wait, 1 => sleep, 1 => awake];
    vec(step, 1..60)
}

/// What a client may write, the answers to what it never heard among them.
fn packets() -> Vec<Vec<u8>> {
    let ack = Ack::success(id(7));
    let disconnect = codec::Disconnect { reason: codec::ReasonCode::Success, properties: Default::default() };
    vec![
        publish("a/b", QoS::AtMostOnce, 0),
        publish("a/b", QoS::AtLeastOnce, 7),
        publish("ab", QoS::ExactlyOnce, 8),
        subscribe(&[("a/#", QoS::ExactlyOnce), ("ab", QoS::AtMostOnce)], 9),
        encoded(&Packet::PubAck(ack)),
        encoded(&Packet::PubRec(ack)),
        encoded(&Packet::PubRel(ack)),
        encoded(&Packet::PubComp(ack)),
        encoded(&Packet::PingReq),
        encoded(&Packet::Disconnect(disconnect)),
    ]
}

fn connected(settings: &Settings, now_ms: u64) -> Translator {
    let mut translator = Translator::new(settings.clone());
    translator.write(&encoded(&Packet::Connect(connect(true, None))), now_ms).expect("it can be said");
    translator.hear(&[3, 5, 0], &mut Vec::new(), now_ms).expect("accepted");
    translator
}

/// Who is not awake cannot go to sleep, and so on: it is said so, and the connection stands.
fn not_now(error: Error) -> Result<(), Error> {
    if matches!(error, Error::NotSayable(_)) { Ok(()) } else { Err(error) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_gateway(steps in steps()) {
        let settings = Settings { retry_ms: 10, retries_max: 2, registrations_max: 3, ..settings() };
        let (mut now_ms, packets) = (0, packets());
        let mut translator = connected(&settings, now_ms);
        for step in steps {
            let mut input = Vec::new();
            let done = match step {
                Step::Hear(pool, which) => {
                    let all = messages(&pool);
                    let mut datagram = Vec::new();
                    all[which % all.len()].encode(&SnLimits::PROTOCOL, &mut datagram).expect("a message");
                    translator.hear(&datagram, &mut input, now_ms)
                }
                Step::Bytes(bytes) => translator.hear(&bytes, &mut input, now_ms),
                Step::Write(which) => translator.write(&packets[which % packets.len()], now_ms).map(drop),
                Step::Wait(ms) => {
                    now_ms += ms;
                    translator.tick(now_ms)
                }
                Step::Sleep => translator.sleep(60).or_else(not_now),
                Step::Awake => translator.awake(now_ms).or_else(not_now),
            };
            while let Some(datagram) = translator.next_datagram() {
                prop_assert!(datagram.len() <= usize::from(settings.limits.datagram_bytes_max));
                prop_assert!(decode(&datagram, &SnLimits::PROTOCOL).is_ok(), "{datagram:x?}");
            }
            let mut rest = &input[..];
            while let Some((_, len)) = codec::decode(rest, Version::V311, &Limits::PROTOCOL).expect("packets") {
                rest = &rest[len..];
            }
            prop_assert!(rest.is_empty());
            prop_assert!(translator.waiting_bytes() > 0 || translator.take_refusals().len() <= 1);
            if done.is_err() || translator.is_over() {
                translator = connected(&settings, now_ms);
            }
        }
    }
}
