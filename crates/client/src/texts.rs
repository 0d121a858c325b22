//! Texts that MQTT cannot carry. A broker ends the connection for U+0000 in one [MQTT-1.5.4-2], and with it all that waits
//! behind: who asks for it is told before anything is queued or sent.

use crate::error::ClientError;
use lapwing_codec::topic::validate_topic_name;
use lapwing_codec::{Limits, PublishProperties};

/// Of a text in an error: a long one is perhaps what is wrong.
const SHOWN_CHARS: usize = 64;

/// What a message to `topic` says besides its payload.
///
/// # Errors
/// `Invalid`: nothing can be published to `topic` or to the response topic; a property with U+0000, which is named.
pub(crate) fn check_message(topic: &str, properties: &PublishProperties<'_>) -> Result<(), ClientError> {
    validate_topic_name(topic, &Limits::PROTOCOL)
        .map_err(|error| ClientError::Invalid(format!("topic {topic:?}: {error}")))?;
    let of_topic = |error: ClientError| ClientError::Invalid(format!("topic {topic:?}: {error}"));
    if let Some(response) = properties.response_topic {
        validate_topic_name(response, &Limits::PROTOCOL)
            .map_err(|error| of_topic(ClientError::Invalid(format!("response topic {response:?}: {error}"))))?;
    }
    if let Some(content_type) = properties.content_type {
        check("content type", content_type).map_err(of_topic)?;
    }
    check_pairs(properties.user.iter()).map_err(of_topic)
}

/// User properties.
///
/// # Errors
/// `Invalid`: a name or a value with U+0000.
pub(crate) fn check_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), ClientError> {
    for (name, value) in pairs {
        check("the name of user property", name)?;
        if value.contains('\0') {
            check(&format!("the value of user property {:?}", shown(name)), value)?;
        }
    }
    Ok(())
}

/// One text; `what` it is.
///
/// # Errors
/// `Invalid`: it has U+0000.
pub(crate) fn check(what: &str, text: &str) -> Result<(), ClientError> {
    if text.contains('\0') {
        let text = shown(text);
        return Err(ClientError::Invalid(format!("{what} {text:?} has U+0000, which no text of MQTT may have")));
    }
    Ok(())
}

fn shown(text: &str) -> &str {
    text.char_indices().nth(SHOWN_CHARS).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_codec::UserPropertiesBuf;

    /// Is each text with U+0000 in it refused by its name, and nothing else?
    #[test]
    fn texts_without_null() {
        let plain = PublishProperties { content_type: Some("a\u{fffe}b"), ..PublishProperties::EMPTY };
        assert!(check_message("t", &plain).is_ok(), "a non-character is a text");
        let [mut name, mut value] = [(); 2].map(|()| UserPropertiesBuf::new());
        name.push("k\0", "v").expect("fits");
        value.push("k", "v\0").expect("fits");
        for (properties, named) in [
            (PublishProperties { content_type: Some("a\0b"), ..plain }, r#"content type "a\0b""#),
            (PublishProperties { response_topic: Some("r\0"), ..plain }, r#"response topic "r\0""#),
            (PublishProperties { user: name.as_ref(), ..plain }, r#"the name of user property "k\0""#),
            (PublishProperties { user: value.as_ref(), ..plain }, r#"the value of user property "k" "v\0""#),
        ] {
            let error = check_message("a/b", &properties).expect_err(named).to_string();
            assert!(
                error.starts_with("topic \"a/b\": ") && error.contains(named) && error.contains("U+0000"),
                "{error}"
            );
        }
        assert!(check_message("t\0", &plain).is_err());
    }
}
