//! The settings of a link, as Python gives them: one dictionary.

use std::path::PathBuf;

use lapwing_client::{
    Acknowledge, ClientError, Filters, LinkOptions, Marks, Options, Reports, SendLimits, TlsOptions, Version,
};
use pyo3::prelude::*;

use crate::client::{invalid, qos_of, seconds};

/// What `_core.pyi` calls `_LinkSettings`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LinkSettings {
    url: String,
    client_id: String,
    version: u8,
    clean_start: bool,
    session_expiry_s: u32,
    ends_session: bool,
    keep_alive_s: u16,
    receive_maximum: u16,
    username: Option<String>,
    password: Option<Vec<u8>>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    user_properties: Vec<(String, String)>,
    filters: Vec<String>,
    qos: u8,
    on_receipt: bool,
    high: usize,
    low: usize,
    high_bytes: usize,
    window: u16,
    buffer_messages: usize,
    buffer_bytes: usize,
    report_every: Option<u32>,
    declaration: Option<String>,
    connect_timeout_s: f64,
    back_off_s: (f64, f64),
}

impl LinkSettings {
    /// The same in Rust's words.
    pub(crate) fn options(self, py: Python<'_>) -> PyResult<LinkOptions> {
        let version = Version::from_level(self.version).filter(|version| *version != Version::V31);
        let filters = Filters { filters: self.filters, qos: qos_of(py, self.qos)? };
        let connect = Options {
            client_id: self.client_id,
            version: version.ok_or_else(|| invalid(py, "version", self.version, "4 or 5"))?,
            clean_start: self.clean_start,
            session_expiry_s: self.session_expiry_s,
            keep_alive_s: self.keep_alive_s,
            receive_maximum: self.receive_maximum,
            username: self.username,
            password: self.password,
            user_properties: self.user_properties,
            tls: TlsOptions { ca: self.ca, certificate: self.certificate, key: self.key },
            ..Options::default()
        };
        Ok(LinkOptions {
            url: self.url,
            connect,
            subscribe: (!filters.filters.is_empty()).then_some(filters),
            ends_session: self.ends_session,
            acknowledge: if self.on_receipt { Acknowledge::Received } else { Acknowledge::Processed },
            receive: Marks { high_messages: self.high, low_messages: self.low, high_bytes: self.high_bytes },
            send: SendLimits { window: self.window, messages_max: self.buffer_messages, bytes_max: self.buffer_bytes },
            reports: self.report_every.map(|every| Reports { every }),
            declaration: self.declaration,
            connect_timeout: seconds(self.connect_timeout_s),
            back_off_first: seconds(self.back_off_s.0),
            back_off_longest: seconds(self.back_off_s.1),
        })
    }
}

/// Turns names and values into user properties.
pub(crate) fn user_properties(pairs: &[(String, String)]) -> Result<lapwing_client::UserPropertiesBuf, ClientError> {
    let mut user = lapwing_client::UserPropertiesBuf::new();
    pairs.iter().try_for_each(|(name, value)| user.push(name, value))?;
    Ok(user)
}
