//! What a token says, once its signature holds: for whom, by whom, until when, and who its bearer is.

use serde_json::{Map, Value};

use super::config::JwtConfig;
use super::fault::TokenFault;
use super::own_rules::rules_of;
use crate::grant::{Grant, OwnRules};
use crate::users::name_fault;
use crate::{Identity, Voucher, wildcard};

type Claims = Map<String, Value>;

/// Who the bearer is, and until when; `now_s`: seconds since 1970, UTC.
pub(super) fn judge(claims: &Claims, settings: &JwtConfig, now_s: u64) -> Result<Identity, TokenFault> {
    let expires_at_s = check_times(claims, settings.leeway_s, now_s)?;
    if let Some(issuer) = &settings.issuer
        && claims.get("iss").and_then(Value::as_str) != Some(issuer)
    {
        return Err(TokenFault::Issuer);
    }
    if !settings.audience.is_empty() && !is_for(claims.get("aud"), &settings.audience) {
        return Err(TokenFault::Audience);
    }
    let name = claims.get(&settings.name_claim).and_then(Value::as_str).ok_or(TokenFault::Name)?;
    if name_fault(name).is_some() || !wildcard::matches(&settings.names, name) {
        return Err(TokenFault::Name);
    }
    let client_id = match &settings.client_id_claim {
        None => None,
        Some(claim) => {
            let id = claims.get(claim).and_then(Value::as_str).filter(|id| !id.is_empty());
            Some(id.ok_or(TokenFault::Claims)?.into())
        }
    };
    let rules = match &settings.rules_claim {
        None => OwnRules::None,
        // A token without the claim brings no rule, and what no rule permits is refused.
        Some(claim) => {
            let none = Value::Array(Vec::new());
            OwnRules::These(rules_of(claims.get(claim).unwrap_or(&none)).ok_or(TokenFault::Claims)?)
        }
    };
    let grant = Grant { client_id, rules, expires_at_s: Some(expires_at_s) };
    Ok(Identity::granted(name, Voucher::Token, grant))
}

/// When it is over, leeway included.
fn check_times(claims: &Claims, leeway_s: u64, now_s: u64) -> Result<u64, TokenFault> {
    let over_at_s = time(claims.get("exp")).ok_or(TokenFault::Expired)?.saturating_add(leeway_s);
    if over_at_s <= now_s {
        return Err(TokenFault::Expired);
    }
    if let Some(begins) = claims.get("nbf") {
        let begins_at_s = time(Some(begins)).ok_or(TokenFault::NotYet)?;
        if begins_at_s > now_s.saturating_add(leeway_s) {
            return Err(TokenFault::NotYet);
        }
    }
    Ok(over_at_s)
}

/// A NumericDate, in whole seconds: it may have a fraction.
fn time(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|seconds| (0.0..1e15).contains(seconds)).map(|seconds| seconds as u64))
}

/// Whether `aud`, one or several, names one of `wanted`.
fn is_for(audience: Option<&Value>, wanted: &[String]) -> bool {
    let names = |value: &Value| value.as_str().is_some_and(|name| wanted.iter().any(|own| own == name));
    match audience {
        Some(Value::Array(several)) => several.iter().any(names),
        Some(one) => names(one),
        None => false,
    }
}
