//! The strategies, their parameters and every default as JSON, for those who show or check them elsewhere.

use lapwing_dispatch::{Parameters, Strategy};
use serde_json::json;

use super::dispatch::DispatchConfig;
use super::groups::GroupConfig;
use super::topics::TOPIC_TABLES_MAX;
use super::{Config, HoldConfig, StreamConfig};

/// `{"strategies": [names], "parameters": [{"name", "low", "high", "default", "meaning"}], "group", "dispatch"}`, the last
/// two being the tables of the configuration with every default.
pub fn dispatch_table_json() -> String {
    let strategies: Vec<_> = Strategy::ALL.into_iter().map(Strategy::name).collect();
    let defaults = Parameters::default();
    let parameters = Parameters::TABLE.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "low": parameter.low,
            "high": parameter.high,
            "default": defaults.get(parameter.name),
            "meaning": parameter.meaning,
        })
    });
    json!({
        "strategies": strategies,
        "parameters": parameters.collect::<Vec<_>>(),
        "group": GroupConfig::default(),
        "dispatch": DispatchConfig::default(),
    })
    .to_string()
}

/// `{"config", "stream", "hold", "topic_tables_max", "certificate_bytes_max"}`: the whole configuration with every default, and the tables in it that
/// it has none of; the stream's filter is `#`, for it has no default.
pub fn default_tables_json() -> String {
    json!({
        "config": Config::default(),
        "stream": serde_json::from_str::<StreamConfig>(r##"{"filter": "#"}"##).expect("a stream needs only its filter"),
        "hold": HoldConfig::default(),
        "topic_tables_max": TOPIC_TABLES_MAX,
        "certificate_bytes_max": lapwing_files::CERTIFICATE_BYTES_MAX,
    })
    .to_string()
}
