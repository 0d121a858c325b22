//! The strategies, their parameters and the defaults of groups as JSON, for those who show or check them elsewhere.

use lapwing_dispatch::{Parameters, Strategy};
use serde_json::json;

use super::dispatch::DispatchConfig;
use super::groups::GroupConfig;

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
