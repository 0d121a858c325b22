//! What must hold for any rules and users: they permit what they say to whom they say, and no name makes it more. The fuzz
//! target `access` asks it too.

use lapwing_access::{AccessConfig, Authority, Claim, Effect, Identity, Judgement, Right, RuleConfig, Rules, Voucher};
use lapwing_codec::Limits;
use lapwing_codec::topic::{matches, validate_filter, validate_topic_name};

use crate::naive::Asked;

/// What came of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Something was permitted.
    Permitted,
    /// Nothing was.
    Forbidden,
    /// Rules or users were refused.
    Wrong,
}

/// Reads `input` as JSON where it begins with a brace; else as a line of who asks what (client id, user name or nothing,
/// topic, filter, with tabs between them), and a line for each rule: effect, right, identity, pattern.
pub fn check_access(input: &[u8]) -> Outcome {
    if input.first() == Some(&b'{') {
        return check_json(input);
    }
    let text = String::from_utf8_lossy(input);
    let mut lines = text.lines();
    let mut fields = lines.next().unwrap_or_default().split('\t');
    let mut field = || fields.next().unwrap_or_default();
    let (client_id, username, topic, filter) = (field(), field(), field(), field());
    let asked = Asked { client_id, username: Some(username).filter(|name| !name.is_empty()), topic, filter };
    let rules: Vec<RuleConfig> = lines.filter_map(rule).collect();
    match Rules::new(&rules) {
        Ok(_) if rules.is_empty() => Outcome::Wrong,
        Ok(read) => check_rules(&rules, &read, asked),
        Err(error) => {
            assert!(error.key.starts_with("rules.") && !error.what.is_empty() && !error.remedy.is_empty(), "{error}");
            Outcome::Wrong
        }
    }
}

fn rule(line: &str) -> Option<RuleConfig> {
    let mut fields = line.split('\t');
    let mut field = || fields.next().unwrap_or_default().to_owned();
    let effect = if field() == "deny" { Effect::Deny } else { Effect::Allow };
    let right = Right::from_name(&field())?;
    let (identity, pattern) = (field(), vec![field()]);
    let mut rule = RuleConfig {
        identity,
        may: vec![right],
        topics: vec![],
        streams: vec![],
        groups: None,
        client_ids: vec![],
        effect,
    };
    match right {
        Right::Publish | Right::Subscribe => rule.topics = pattern,
        Right::Connect => rule.client_ids = pattern,
        Right::Stream => rule.streams = pattern,
        Right::Envelope | Right::Bridge | Right::Observe | Right::Admin => {}
    }
    Some(rule)
}

fn check_rules(rules: &[RuleConfig], read: &Rules, asked: Asked<'_>) -> Outcome {
    let identity = asked.username.map_or(Identity::ANONYMOUS, |name| Identity::named(name, Voucher::Users));
    let rights = read.rights(&identity, Some(asked.client_id)).expect("there are rules");
    let mut is_permitted = check_client_id(rules, read, asked, &identity);
    let is_topic = validate_topic_name(asked.topic, &Limits::PROTOCOL).is_ok();
    if is_topic {
        let may = rights.may_publish(asked.topic);
        is_permitted |= may;
        check_topic(rules, asked, Right::Publish, may, "publish");
        if asked.is_plain() {
            let says = |effect| asked.says_of_topic(rules, effect, Right::Publish);
            assert_eq!(may, says(Effect::Allow) && !says(Effect::Deny), "{asked:?} by {rules:?}");
        }
    }
    if validate_filter(asked.filter, &Limits::PROTOCOL).is_ok() && !asked.filter.starts_with("$share") {
        let may = rights.may_subscribe(asked.filter);
        is_permitted |= may;
        // What a subscription brings is permitted, each topic of it.
        check_topic(rules, asked, Right::Subscribe, may && is_topic && matches(asked.filter, asked.topic), "subscribe");
    }
    if is_permitted { Outcome::Permitted } else { Outcome::Forbidden }
}

/// What is permitted, a rule permits, and none forbids.
fn check_topic(rules: &[RuleConfig], asked: Asked<'_>, right: Right, may: bool, what: &str) {
    if may {
        assert!(asked.says_of_topic(rules, Effect::Allow, right), "nobody permits to {what}: {asked:?} by {rules:?}");
        assert!(!asked.says_of_topic(rules, Effect::Deny, right), "somebody forbids to {what}: {asked:?} by {rules:?}");
    }
}

fn check_client_id(rules: &[RuleConfig], read: &Rules, asked: Asked<'_>, identity: &Identity) -> bool {
    let may = read.may_connect(identity, asked.client_id, false);
    if may {
        assert!(!asked.says_of_client_id(rules, Effect::Deny), "{asked:?} by {rules:?}");
        let is_permitted = !asked.is_bound(rules) || asked.says_of_client_id(rules, Effect::Allow);
        assert!(is_permitted, "{asked:?} by {rules:?}");
    }
    may
}

/// Configurations are written and read as the same; who is refused is not told a secret; nobody comes in with nothing.
fn check_json(input: &[u8]) -> Outcome {
    let Ok(config) = serde_json::from_slice::<AccessConfig>(input) else { return Outcome::Wrong };
    let written = serde_json::to_vec(&config).expect("it was read");
    assert_eq!(serde_json::from_slice::<AccessConfig>(&written).ok().as_ref(), Some(&config));
    let authority = match Authority::new(&config.auth, &config.rules) {
        Ok(authority) => authority,
        Err(error) => {
            check_silent(&config, &error.to_string());
            return Outcome::Wrong;
        }
    };
    check_silent(&config, &format!("{config:?}"));
    authority.reload(&config.auth, &config.rules).expect("what was read is read again");
    let claim = |username, password| Claim { username, password, certificate: None, anonymous: false };
    let nobody = [claim(None, None), claim(Some("eve"), None), claim(None, Some(&b"lapwing_guess"[..]))];
    for claim in nobody {
        assert!(matches!(authority.judge(&claim), Judgement::Refused(_)), "somebody comes in with nothing");
    }
    Outcome::Permitted
}

/// A hash that looks like one, and a digest, are told nobody.
fn check_silent(config: &AccessConfig, said: &str) {
    for user in config.auth.users.iter().flatten() {
        let hash = user.password.iter().map(|hash| &hash.0).filter(|hash| hash.starts_with("$argon2"));
        let digests = user.tokens.iter().map(|digest| &digest.0).filter(|digest| digest.len() >= 32);
        for secret in hash.chain(digests) {
            // Who gives a secret as a name tells it himself.
            let is_name = user.name.contains(secret.as_str());
            assert!(is_name || !said.contains(secret.as_str()), "a secret was told");
        }
    }
}

/// Rules of every right, names that would like to be more, and users.
pub fn access_seeds() -> Vec<Vec<u8>> {
    let rules = "allow\tpublish\tdevice-*\td/%c/up\nallow\tsubscribe\t*\td/%u/#\ndeny\tpublish\t*\td/secret/%c\n\
        allow\tconnect\tdevice-*\t%u*\ndeny\tconnect\t*\tevil*\nallow\tpublish\tanonymous\thello/+\n\
        deny\tsubscribe\t*\t+/private/#\nallow\tsubscribe\talice\t#\nallow\tpublish\talice\t%c/#\n";
    let who = [
        "c7\tdevice-7\td/c7/up\td/device-7/#",
        "device-7x\tdevice-7\td/device-7x/up\td/device-7/a",
        "+\tdevice-7\td/x/up\td/+/#",
        "#\tdevice-*\td/#/up\t#",
        "$SYS\talice\t$SYS/x\t$SYS/#",
        "a/b\talice\ta/b/x\ta/+",
        "secret\talice\td/secret/secret\tx/private/#",
        "\t\thello/x\t+/#",
        "evil\tdevice-e*\td/evil/up\td/device-e*/#",
        "%u\tdevice-%c\td/%u/up\td/device-%c/#",
    ];
    let mut seeds: Vec<Vec<u8>> = who.iter().map(|who| format!("{who}\n{rules}").into_bytes()).collect();
    for line in rules.lines() {
        seeds.push(format!("c7\tdevice-7\td/c7/up\td/device-7/#\n{line}\n").into_bytes());
    }
    for wrong in
        ["allow\tpublish\ta\ta/#/b", "allow\tpublish\ta\t%d", "allow\tconnect\tanonymous\t%u", "deny\tadmin\t\t"]
    {
        seeds.push(format!("c\tu\tt\tt\n{wrong}\n").into_bytes());
    }
    let hash = format!("$argon2id$v=19$m=19456,t=2,p=1${}${}", "A".repeat(22), "A".repeat(43));
    let digest = "0a".repeat(32);
    for json in [
        format!(
            r#"{{"auth":{{"users":[{{"name":"a","password":"{hash}","tokens":["{digest}"]}}],"certificates":"any"}},"rules":[]}}"#
        ),
        format!(r#"{{"auth":{{"users":[{{"name":"a"}},{{"name":"a","password":"{hash}"}}]}}}}"#),
        format!(r#"{{"auth":{{"users":[{{"name":"b","tokens":["{digest}0"]}}]}}}}"#),
        r#"{"rules":[{"identity":"*","may":["stream","admin"],"streams":["*"],"effect":"deny"}]}"#.to_owned(),
        r#"{"rules":[{"identity":"x","may":["subscribe"],"topics":["a/#"],"groups":["%c-*"]}]}"#.to_owned(),
    ] {
        seeds.push(json.into_bytes());
    }
    seeds
}
