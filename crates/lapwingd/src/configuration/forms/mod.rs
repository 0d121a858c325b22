//! What a text must be besides: a URL, an origin, a name. The model names the form of each key after its function in Python
//! (`parse_listen_url` is `listen_url`), and what is said of a text that is none says what that says.

mod addresses;
mod host_port;
mod names;
mod outside;
mod web;

use serde::Deserialize;

/// One that there is no variant for stops the test of the model that was built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    ListenUrl,
    HttpAddress,
    SocketAddress,
    OutsideUrl,
    WebPath,
    Origin,
    HttpHost,
    Network,
    Mode,
    StreamName,
    StreamPattern,
    GroupName,
    Filter,
    HoldFilter,
    Topic,
    TopicPattern,
    GroupPattern,
    ClientIdPattern,
    Strategy,
    ParameterName,
    /// Of what only the package has.
    Use,
    Class,
}

impl Form {
    /// The text as the node has it.
    ///
    /// # Errors
    /// What it must be.
    pub(super) fn read(self, text: &str) -> Result<String, &'static str> {
        match self {
            Form::ListenUrl => addresses::listen_url(text),
            Form::HttpAddress => addresses::http_address(text),
            Form::SocketAddress => addresses::socket_address(text),
            Form::OutsideUrl => outside::outside_url(text),
            Form::WebPath => web::web_path(text),
            Form::Origin => web::origin(text),
            Form::HttpHost => web::host_name(text),
            Form::Network => web::network(text),
            Form::Mode => web::mode(text),
            Form::StreamName => names::stream_name(text),
            Form::StreamPattern => names::stream_pattern(text),
            Form::GroupName => names::group_name(text),
            // The node judges these, as it does for the package; or they are refused by their keys.
            Form::Filter
            | Form::HoldFilter
            | Form::Topic
            | Form::TopicPattern
            | Form::GroupPattern
            | Form::ClientIdPattern
            | Form::Strategy
            | Form::ParameterName
            | Form::Use
            | Form::Class => Ok(text.to_owned()),
        }
    }
}
