//! What a connection over MQTT-SN cannot be asked for, in words, before anything is sent.

use crate::address::Address;
use crate::error::ClientError;
use crate::options::Options;
use lapwing_sn::client::{self, Unfit};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// `options` as they are, or as MQTT-SN needs them where `address` is one of it: it has no client without a client id, so
/// one is made up.
///
/// # Errors
/// `Invalid`: version 5.0, a user name, a password, a client id that is too long, a will that waits or fits no datagram.
pub(crate) fn checked(options: &Options, address: &Address) -> Result<Options, ClientError> {
    let mut options = options.clone();
    if !address.scheme.is_sn() {
        return Ok(options);
    }
    if options.version.has_properties() {
        let what = "MQTT-SN carries what MQTT 3.1.1 says, and not 5.0: leave the version out, or give 4";
        return Err(ClientError::Invalid(format!("{address}: {what}")));
    }
    if options.username.is_some() || options.password.is_some() {
        let what = "MQTT-SN has no user name and no password: leave them out, or connect over tls://";
        return Err(ClientError::Invalid(format!("{address}: {what}")));
    }
    let limits = client::settings().limits;
    let (chars, chars_max) = (options.client_id.chars().count(), usize::from(limits.client_id_chars_max));
    if chars > chars_max {
        // A gateway does not have to answer it: it knows nobody by such an id.
        let what = format!("a client id of {chars} characters, and MQTT-SN has 1 to {chars_max}: give a shorter one");
        return Err(ClientError::Invalid(format!("{address}: {what}")));
    }
    if let Some(will) = &options.will {
        if will.delay_s > 0 {
            let what = "MQTT-SN has no will that waits: leave the delay out, or connect over tcp://";
            return Err(ClientError::Invalid(format!("{address}: {what}")));
        }
        let fits = client::check_will(&will.topic, &will.payload, &limits);
        fits.map_err(|unfit| invalid("will", &will.topic, unfit))?;
    }
    if options.client_id.is_empty() {
        // The hasher of the standard library has a random key, which is all that is needed.
        options.client_id = format!("sn-{:016x}", RandomState::new().build_hasher().finish());
    }
    Ok(options)
}

/// # Errors
/// `Invalid`: it fits no datagram.
pub(crate) fn check_publish(topic: &str, payload: &[u8]) -> Result<(), ClientError> {
    client::check_publish(topic, payload, &client::settings().limits).map_err(|unfit| invalid("topic", topic, unfit))
}

/// # Errors
/// `Invalid`: it fits no datagram.
pub(crate) fn check_filter(filter: &str) -> Result<(), ClientError> {
    client::check_filter(filter, &client::settings().limits).map_err(|unfit| invalid("filter", filter, unfit))
}

fn invalid(what: &str, text: &str, unfit: Unfit) -> ClientError {
    let mut shown = text;
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS) {
        shown = &text[..end];
    }
    ClientError::Invalid(format!("{what} {shown:?}: {unfit}"))
}

/// Of a topic in an error: a long one is perhaps what is wrong.
const SHOWN_CHARS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::LastWill;
    use lapwing_codec::Version;

    fn refused(options: &Options) -> String {
        let address = Address::parse("sn://h").expect("an address");
        checked(options, &address).expect_err("refused").to_string()
    }

    /// Does each refusal say what cannot be and what to do, without the password?
    #[test]
    fn refused_in_words() {
        let plain = Options { version: Version::V311, ..Options::default() };
        assert!(refused(&Options::default()).contains("give 4"));
        let named = Options { username: Some("me".to_owned()), password: Some(b"horse".to_vec()), ..plain.clone() };
        let words = refused(&named);
        assert!(words.contains("user name") && words.contains("tls://") && !words.contains("horse"), "{words}");
        let words = refused(&Options { client_id: "ö".repeat(24), ..plain.clone() });
        assert!(words.contains("24 characters") && words.contains("1 to 23"), "{words}");
        let will = LastWill { topic: "w".to_owned(), payload: vec![0; 2000], ..LastWill::default() };
        let late = LastWill { delay_s: 1, payload: Vec::new(), ..will.clone() };
        assert!(refused(&Options { will: Some(late), ..plain.clone() }).contains("delay"));
        let words = refused(&Options { will: Some(will), ..plain });
        assert!(words.contains("will \"w\"") && words.contains("1232"), "{words}");
        let words = check_publish(&"t".repeat(2000), b"").expect_err("refused").to_string();
        assert!(words.contains(&format!("{:?}", "t".repeat(64))), "{words}");
        assert!(check_filter("a/#").is_ok() && check_publish("a/b", &[0; 1223]).is_ok());
    }

    /// Is a client id made up where MQTT-SN needs one, of no more than its 23 characters, and nowhere else?
    #[test]
    fn an_id_is_made_up() {
        let plain = Options { version: Version::V311, ..Options::default() };
        let [sn, tcp] = ["sn://h", "tcp://h"].map(|url| Address::parse(url).expect("an address"));
        let [first, second] = [(); 2].map(|()| checked(&plain, &sn).expect("options").client_id);
        assert!(first.len() <= 23 && first.starts_with("sn-") && first != second, "{first}");
        assert_eq!(checked(&Options::default(), &tcp).expect("options").client_id, "");
    }
}
