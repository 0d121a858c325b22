//! The Arrow schema of the envelope: the wire contract with every reader.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

/// The version of the envelope's columns, in the schema's metadata under `lapwing.envelope.version`.
pub const SCHEMA_VERSION: &str = "1";

/// The schema of every batch, in the order of the columns. Only the clocks that a message may lack are nullable.
pub fn schema() -> SchemaRef {
    let time = || DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let fields = vec![
        Field::new("topic", DataType::Utf8, false),
        Field::new("payload", DataType::Binary, false),
        Field::new("client_id", DataType::Utf8, false),
        Field::new("qos", DataType::Int8, false),
        Field::new("retain", DataType::Boolean, false),
        Field::new("user_properties", DataType::List(Arc::new(property_field())), false),
        Field::new("partition", DataType::Int32, false),
        Field::new("offset", DataType::Int64, false),
        Field::new("sent_at", time(), true),
        Field::new("ingress_at", time(), false),
        Field::new("appended_at", time(), false),
        Field::new("forwarded_at", time(), true),
        Field::new("observed_at", time(), true),
    ];
    let metadata = [("lapwing.envelope.version".to_owned(), SCHEMA_VERSION.to_owned())];
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Name and value of one user property.
pub(crate) fn property_fields() -> Fields {
    vec![Field::new("name", DataType::Utf8, false), Field::new("value", DataType::Utf8, false)].into()
}

/// The element of the `user_properties` list.
pub(crate) fn property_field() -> Field {
    Field::new("item", DataType::Struct(property_fields()), false)
}
