//! What goes into an envelope comes out of it, and out of the Arrow stream made of it.

mod oracle;

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use lapwing_envelope::{Envelope, RowBatchBuilder, schema};
use lapwing_oracle::allocations::{Counting, assert_installed};
use lapwing_oracle::variants::check_near;
use proptest::prelude::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Debug, Clone)]
struct Message {
    topic: String,
    payload: Vec<u8>,
    client_id: String,
    qos: u8,
    retain: bool,
    sent_at_us: Option<i64>,
    ingress_at_us: i64,
    user_properties: Vec<(String, String)>,
}

impl Message {
    fn envelope(&self) -> Envelope<'_> {
        Envelope {
            topic: &self.topic,
            payload: &self.payload,
            client_id: &self.client_id,
            qos: self.qos,
            retain: self.retain,
            sent_at_us: self.sent_at_us,
            ingress_at_us: self.ingress_at_us,
        }
    }

    fn properties(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.user_properties.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn encoded(&self) -> Vec<u8> {
        let mut bytes = vec![];
        self.envelope().encode(self.properties(), &mut bytes);
        bytes
    }
}

fn messages() -> impl Strategy<Value = Message> {
    let text = || proptest::collection::vec(any::<char>(), 0..40).prop_map(|chars| chars.into_iter().collect());
    let payload = proptest::collection::vec(any::<u8>(), 0..300);
    let properties = proptest::collection::vec((text(), text()), 0..4);
    let times = (any::<Option<i64>>(), any::<i64>());
    (text(), payload, text(), 0u8..3, any::<bool>(), times, properties).prop_map(
        |(topic, payload, client_id, qos, retain, (sent_at_us, ingress_at_us), user_properties)| Message {
            topic,
            payload,
            client_id,
            qos,
            retain,
            sent_at_us,
            ingress_at_us,
            user_properties,
        },
    )
}

fn batches(ipc: &[u8]) -> Vec<RecordBatch> {
    let reader = StreamReader::try_new(Cursor::new(ipc), None).expect("an Arrow stream");
    assert_eq!(reader.schema(), schema(), "the schema travels whole, metadata included");
    reader.map(|batch| batch.expect("a batch")).collect()
}

fn check_row(batch: &RecordBatch, row: usize, message: &Message) {
    let time = |column: usize| batch.column(column).as_primitive::<TimestampMicrosecondType>();
    assert_eq!(batch.column(0).as_string::<i32>().value(row), message.topic);
    assert_eq!(batch.column(1).as_binary::<i32>().value(row), message.payload);
    assert_eq!(batch.column(2).as_string::<i32>().value(row), message.client_id);
    assert_eq!(batch.column(3).as_primitive::<Int8Type>().value(row), message.qos as i8);
    assert_eq!(batch.column(4).as_boolean().value(row), message.retain);
    let properties = batch.column(5).as_list::<i32>().value(row);
    let fields = properties.as_struct();
    let text = |field: usize, place| fields.column(field).as_string::<i32>().value(place).to_owned();
    let pairs: Vec<_> = (0..fields.len()).map(|place| (text(0, place), text(1, place))).collect();
    assert_eq!(pairs, message.user_properties);
    assert_eq!(batch.column(6).as_primitive::<Int32Type>().value(row), 5);
    assert_eq!(batch.column(7).as_primitive::<Int64Type>().value(row), 100 + row as i64);
    assert_eq!(time(8).is_valid(row).then(|| time(8).value(row)), message.sent_at_us);
    assert_eq!(time(9).value(row), message.ingress_at_us);
    assert_eq!(time(10).value(row), row as i64);
    assert!(time(11).is_null(row) && time(12).is_null(row));
}

proptest! {
    #[test]
    fn an_envelope_comes_back(message in messages()) {
        let bytes = message.encoded();
        let (envelope, properties) = Envelope::decode(&bytes).expect("as encoded");
        prop_assert_eq!(envelope, message.envelope());
        prop_assert!(properties.iter().eq(message.properties()));
        prop_assert_eq!(properties.len(), message.user_properties.len());
    }

    #[test]
    fn any_bytes_give_an_envelope_or_an_error(mut bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Envelope::decode(&bytes);
        if let Some(version) = bytes.first_mut() {
            *version = 1;
        }
        if let Ok((envelope, properties)) = Envelope::decode(&bytes) {
            let mut again = vec![];
            envelope.encode(properties.iter(), &mut again);
            prop_assert_eq!(again, bytes, "there is one encoding of each envelope");
        }
    }

    #[test]
    fn rows_come_back_from_the_arrow_stream(messages in proptest::collection::vec(messages(), 1..20)) {
        let mut builder = RowBatchBuilder::new(5);
        for round in 0..2 {
            for (row, message) in messages.iter().enumerate() {
                builder.push(100 + row as u64, row as i64, &message.encoded()).expect("a row");
            }
            let mut ipc = vec![];
            builder.finish_ipc(&mut ipc).expect("an Arrow stream");
            let batches = batches(&ipc);
            prop_assert_eq!(batches.len(), 1);
            prop_assert_eq!(batches[0].num_rows(), messages.len(), "round {}", round);
            messages.iter().enumerate().for_each(|(row, message)| check_row(&batches[0], row, message));
        }
    }
}

#[test]
fn no_rows_are_a_schema_and_nothing_else() {
    let mut ipc = vec![];
    RowBatchBuilder::new(0).finish_ipc(&mut ipc).expect("an Arrow stream");
    assert!(batches(&ipc).is_empty());
}

#[test]
fn a_body_that_is_no_envelope_leaves_the_batch_as_it_was() {
    let mut builder = RowBatchBuilder::new(0);
    let message = Envelope {
        topic: "t",
        payload: b"p",
        client_id: "c",
        qos: 0,
        retain: false,
        sent_at_us: None,
        ingress_at_us: 0,
    };
    let mut body = vec![];
    message.encode(std::iter::empty(), &mut body);
    builder.push(0, 0, &body).expect("a row");
    builder.push(1, 0, &body[1..]).expect_err("no envelope");
    builder.push(1, 0, &body).expect("a row");
    let mut ipc = vec![];
    builder.finish_ipc(&mut ipc).expect("an Arrow stream");
    assert_eq!(batches(&ipc)[0].num_rows(), 2);
}

/// The fuzz target's oracle on a stable compiler.
#[test]
fn any_message_of_a_stream() {
    assert_installed();
    let mut taken = 0;
    check_near("envelope", &oracle::envelope_seeds(), 1_500, |input| {
        taken += usize::from(oracle::check_envelope(input))
    });
    assert!(taken > 50, "{taken} taken");
}
