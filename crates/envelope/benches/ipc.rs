//! Prints how fast envelopes are encoded, decoded, and made into Arrow IPC streams: `cargo bench -p lapwing-envelope`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use lapwing_envelope::{Envelope, RowBatchBuilder};

const PAYLOAD_BYTES: usize = 300;
const ROWS: u64 = 20_000;

fn main() {
    println!("{:<48} {:>12} {:>10}", "what", "rows/s", "MB/s");
    for properties in [&[][..], &[("lapwing-sent-at-us", "1700000000000000")][..]] {
        let payload = [b'x'; PAYLOAD_BYTES];
        let bodies: Vec<Vec<u8>> = (0..ROWS).map(|row| encoded(row, &payload, properties)).collect();
        let title = |what: &str| format!("{what}, {} user properties", properties.len());
        run(&title("encode an envelope"), || {
            let mut body = vec![];
            for row in 0..ROWS {
                body.clear();
                envelope(row, &payload).encode(properties.iter().copied(), &mut body);
                black_box(&body);
            }
        });
        run(&title("decode an envelope"), || {
            for body in &bodies {
                black_box(Envelope::decode(body).expect("an envelope"));
            }
        });
        let mut builder = RowBatchBuilder::new(0);
        let mut ipc = vec![];
        run(&title("rows into one Arrow IPC body"), || {
            ipc.clear();
            gather(&mut builder, &bodies);
            builder.finish_ipc(&mut ipc).expect("an Arrow stream");
            black_box(&ipc);
        });
        run(&title("rows into Arrow IPC parts"), || {
            gather(&mut builder, &bodies);
            black_box(builder.finish_parts().expect("an Arrow stream"));
        });
    }
}

fn gather(builder: &mut RowBatchBuilder, bodies: &[Vec<u8>]) {
    for (offset, body) in bodies.iter().enumerate() {
        builder.push(offset as u64, 0, body).expect("a row");
    }
}

fn envelope(row: u64, payload: &[u8]) -> Envelope<'_> {
    Envelope {
        topic: "spectrum/device-00042/readings",
        payload,
        client_id: "device-00042",
        qos: 1,
        retain: false,
        sent_at_us: Some(row as i64),
        ingress_at_us: row as i64,
    }
}

fn encoded(row: u64, payload: &[u8], properties: &[(&str, &str)]) -> Vec<u8> {
    let mut body = vec![];
    envelope(row, payload).encode(properties.iter().copied(), &mut body);
    body
}

fn run(what: &str, mut round: impl FnMut()) {
    let started = Instant::now();
    let mut rounds = 0;
    while started.elapsed() < Duration::from_secs(2) {
        round();
        rounds += 1;
    }
    let per_s = (rounds * ROWS) as f64 / started.elapsed().as_secs_f64();
    println!("{what:<48} {per_s:>12.0} {:>10.0}", per_s * PAYLOAD_BYTES as f64 / 1e6);
}
