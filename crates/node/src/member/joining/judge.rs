//! Whether somebody may join, by what the cluster has agreed on.

use lapwing_authority::Authority;
use lapwing_cluster::{ClusterState, Entry};
use lapwing_peer::JoinCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::answer::Refused;
use super::asked::Asked;

/// The entry that makes a member of who asks at `now_ms`, on the wall clock. Nothing of the token is used up by a refusal.
///
/// # Errors
/// Why not: the first reason of token, tables, folder, name, level and request.
pub(in crate::member) fn judge(
    state: &ClusterState,
    authority: Option<&Authority>,
    asked: &Asked,
    now_ms: u64,
) -> Result<Entry, Refused> {
    let entry = Entry::Joined { secret: asked.secret, newcomer: asked.newcomer.clone(), joined_at_ms: now_ms };
    // As everybody would read it.
    let entry = Entry::decode(&entry.encode()).map_err(|fault| Refused::new(JoinCode::Malformed, fault.to_string()))?;
    let mut tried = state.clone();
    let answer = tried.apply(state.applied() + 1, &entry);
    if let Err(refusal @ (lapwing_cluster::Refusal::UnknownToken | lapwing_cluster::Refusal::OldToken { .. })) = &answer
    {
        // Who has no token learns nothing of the tables.
        return Err(Refused::of(refusal));
    }
    if let Some(table) = state.tables().first_difference(&asked.tables) {
        let words = format!(
            "the table [{table}] of the configuration is another one than the cluster's: make it the same, then join"
        );
        return Err(Refused::new(JoinCode::TablesDiffer, words));
    }
    answer.map_err(|refusal| Refused::of(&refusal))?;
    check_request(authority, asked, now_ms)?;
    Ok(entry)
}

/// Whether a certificate can be made of the request: before the token is used up.
fn check_request(authority: Option<&Authority>, asked: &Asked, now_ms: u64) -> Result<(), Refused> {
    let Some(authority) = authority else {
        let words = "this cluster's certificates are of an authority of its owner's, whose key is not here: nobody can join \
                     by a token";
        return Err(Refused::new(JoinCode::NoAuthority, words));
    };
    let now: SystemTime = UNIX_EPOCH + Duration::from_millis(now_ms);
    let issued = authority.issue(0, &asked.request, now);
    issued.map(drop).map_err(|fault| Refused::new(JoinCode::Malformed, fault.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_authority::NodeKey;
    use lapwing_cluster::{
        ClusterId, Features, FolderId, Newcomer, NodeId, SecretHash, TOKEN_LIFE_MS, TableHash, Tables,
    };

    const NOW_MS: u64 = 1_800_000_000_000;

    fn newcomer(number: u8) -> Newcomer {
        Newcomer {
            name: format!("n{number}"),
            folder: FolderId([number; 16]),
            addresses: vec!["h:1".into()],
            zone: String::new(),
            release: "lapwing".into(),
            features: Features { least: 1, most: 1 },
        }
    }

    fn tables(groups: u8) -> Tables {
        Tables::new([groups, 0, 0, 0, 0].map(|byte| TableHash([byte; 32])))
    }

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(NOW_MS)
    }

    /// A cluster of one with a token.
    fn state() -> ClusterState {
        let mut state = ClusterState::new();
        let founded = Entry::Founded { cluster: ClusterId([1; 16]), name: "marsh".into(), founder: newcomer(1) };
        let made = Entry::TokenMade { secret: SecretHash([2; 32]), made_at_ms: NOW_MS };
        for (sequence, entry) in (1..).zip([founded, made, Entry::TablesSet { tables: tables(7) }]) {
            state.apply(sequence, &entry).expect("nothing refuses it");
        }
        state
    }

    fn asked() -> Asked {
        let request = NodeKey::generate().and_then(|key| key.request()).expect("a request");
        Asked { secret: SecretHash([2; 32]), newcomer: newcomer(2), tables: tables(7), request }
    }

    /// Is each reason said by its code, and is nothing used up by a refusal?
    #[test]
    fn each_reason_has_its_code() {
        let authority = Authority::found([1; 16], now()).expect("an authority");
        let code =
            |asked: &Asked, now_ms| judge(&state(), Some(&authority), asked, now_ms).map_err(|refused| refused.code);
        let good = asked();
        let entry = code(&good, NOW_MS).expect("it may join");
        assert_eq!(state().apply(4, &entry), Ok(lapwing_cluster::Answer::Member(NodeId(2))));
        let with = |change: fn(&mut Asked)| {
            let mut other = good.clone();
            change(&mut other);
            other
        };
        for (other, expected) in [
            (with(|asked| asked.secret = SecretHash([9; 32])), JoinCode::UnknownToken),
            (with(|asked| asked.tables = tables(8)), JoinCode::TablesDiffer),
            (with(|asked| asked.newcomer.name = "n1".into()), JoinCode::NameTaken),
            (with(|asked| asked.newcomer.name = String::new()), JoinCode::Malformed),
            (with(|asked| asked.newcomer.folder = FolderId([1; 16])), JoinCode::FolderTaken),
            (with(|asked| asked.newcomer.features = Features { least: 2, most: 2 }), JoinCode::Level),
            (with(|asked| asked.request = "sesame".into()), JoinCode::Malformed),
        ] {
            assert_eq!(code(&other, NOW_MS), Err(expected), "{other:?}");
        }
        assert_eq!(code(&good, NOW_MS + TOKEN_LIFE_MS + 1), Err(JoinCode::OldToken));
        assert_eq!(judge(&state(), None, &good, NOW_MS).map_err(|refused| refused.code), Err(JoinCode::NoAuthority));
        let words =
            judge(&state(), None, &with(|asked| asked.tables = tables(8)), NOW_MS).expect_err("it differs").words;
        assert!(words.contains("[groups]"), "{words}");
    }
}
