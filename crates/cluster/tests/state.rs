//! What holds and what does not, in the order in which it is said.

use lapwing_cluster::{
    Answer, Boot, ClusterId, ClusterState, Entry, Features, FolderId, NodeId, Refusal, SecretHash, Standing, TABLES,
    TOKEN_LIFE_MS, TableHash, Tables,
};

const NOW_MS: u64 = 1_700_000_000_000;

fn newcomer(number: u8) -> lapwing_cluster::Newcomer {
    lapwing_cluster::Newcomer {
        name: format!("n{number}"),
        folder: FolderId([number; 16]),
        addresses: vec![format!("10.0.0.{number}:1890")],
        zone: String::new(),
        release: "0.1.0".into(),
        features: Features { least: 1, most: 2 },
    }
}

/// A log, and what it adds up to.
struct Log {
    state: ClusterState,
    next: u64,
}

impl Log {
    /// With a founder, whose number is 1.
    fn new() -> Self {
        let mut log = Log { state: ClusterState::new(), next: 1 };
        let founded = Entry::Founded { cluster: ClusterId([1; 16]), name: "marsh".into(), founder: newcomer(1) };
        assert_eq!(log.say(founded), Ok(Answer::Member(NodeId(1))));
        log
    }

    /// As every node hears it: from bytes.
    fn say(&mut self, entry: Entry) -> Result<Answer, Refusal> {
        let read = Entry::decode(&entry.encode()).expect("it is what was written");
        assert_eq!(read, entry);
        self.next += 1;
        self.state.apply(self.next - 1, &read)
    }

    fn token(&mut self, secret: u8, made_at_ms: u64) {
        let made = Entry::TokenMade { secret: SecretHash([secret; 32]), made_at_ms };
        assert_eq!(self.say(made), Ok(Answer::Done));
    }

    fn join(&mut self, secret: u8, number: u8, joined_at_ms: u64) -> Result<Answer, Refusal> {
        let secret = SecretHash([secret; 32]);
        self.say(Entry::Joined { secret, newcomer: newcomer(number), joined_at_ms })
    }

    /// So many nodes, of which the first five vote.
    fn of(nodes: u8) -> Self {
        let mut log = Log::new();
        for number in 2..=nodes {
            log.token(number, NOW_MS);
            assert_eq!(log.join(number, number, NOW_MS), Ok(Answer::Member(NodeId(number))));
            if number <= 5 {
                assert_eq!(log.say(Entry::Promoted { node: NodeId(number) }), Ok(Answer::Done));
            }
        }
        log
    }

    fn boot(&mut self, number: u8, boot: u64) -> Result<Answer, Refusal> {
        let said = newcomer(number);
        self.say(Entry::Booted {
            node: NodeId(number),
            folder: said.folder,
            boot: Boot(boot),
            addresses: said.addresses,
            release: said.release,
            features: said.features,
        })
    }
}

/// Is a token good once, for an hour, and for nobody who may not join?
#[test]
fn a_token_is_good_once_and_for_an_hour() {
    let mut log = Log::new();
    assert_eq!(log.join(1, 2, NOW_MS), Err(Refusal::UnknownToken));
    log.token(1, NOW_MS);
    assert_eq!(log.join(1, 2, NOW_MS + TOKEN_LIFE_MS + 9_000), Err(Refusal::OldToken { age_s: 3609 }));
    log.token(2, NOW_MS);
    assert_eq!(log.join(2, 1, NOW_MS), Err(Refusal::FolderTaken { node: NodeId(1) }), "the founder's own folder");
    assert_eq!(
        log.join(2, 2, NOW_MS + TOKEN_LIFE_MS),
        Ok(Answer::Member(NodeId(2))),
        "what was refused used nothing up"
    );
    assert_eq!(log.join(2, 3, NOW_MS), Err(Refusal::UnknownToken));
    assert!(log.state.has_token(NOW_MS) && !log.state.has_token(NOW_MS + TOKEN_LIFE_MS + 1), "that of before");
    // A clock that was set back makes nobody's token too old.
    log.token(3, NOW_MS + 1_000_000);
    assert_eq!(log.join(3, 4, NOW_MS), Ok(Answer::Member(NodeId(3))));
}

/// Are tokens that nobody uses bounded, and do old ones make room?
#[test]
fn tokens_do_not_pile_up() {
    let mut log = Log::new();
    for secret in 0..=255 {
        log.token(secret, NOW_MS);
    }
    let more = |made_at_ms| Entry::TokenMade { secret: SecretHash([7, 7].repeat(16).try_into().unwrap()), made_at_ms };
    let one_more = Entry::TokenMade {
        secret: SecretHash(*b"another secret of thirty-two byte"[..32].first_chunk().unwrap()),
        made_at_ms: NOW_MS,
    };
    assert_eq!(log.say(one_more), Err(Refusal::ManyTokens { tokens: 256 }));
    assert_eq!(log.say(more(NOW_MS + TOKEN_LIFE_MS + 1)), Ok(Answer::Done));
    assert_eq!(log.state.tokens(), 1);
}

/// Has who joins no vote until it is promoted: it has nothing yet?
#[test]
fn who_joins_learns_first() {
    let mut log = Log::new();
    log.token(2, NOW_MS);
    assert_eq!(log.join(2, 2, NOW_MS), Ok(Answer::Member(NodeId(2))));
    assert_eq!(log.state.learners().collect::<Vec<_>>(), [NodeId(2)]);
    assert!(log.state.has_room_for_a_voter());
    for _ in 0..2 {
        assert_eq!(log.say(Entry::Promoted { node: NodeId(2) }), Ok(Answer::Done), "said once or twice");
    }
    assert_eq!(log.state.voters().collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
    assert!(!Log::of(5).state.has_room_for_a_voter());
}

/// Does the sixth node have a copy without a vote until somebody makes room and it is promoted?
#[test]
fn five_vote_and_the_sixth_learns() {
    let mut log = Log::of(6);
    assert_eq!(log.state.voters().count(), 5);
    assert_eq!(log.state.learners().collect::<Vec<_>>(), [NodeId(6)]);
    assert_eq!(log.say(Entry::Promoted { node: NodeId(6) }), Err(Refusal::ManyVoters { voters: 5 }));
    assert_eq!(log.say(Entry::Removed { node: NodeId(3) }), Ok(Answer::Done));
    assert_eq!(log.say(Entry::Promoted { node: NodeId(6) }), Ok(Answer::Done));
    assert_eq!(log.say(Entry::Promoted { node: NodeId(10) }), Err(Refusal::NoMember { node: NodeId(10) }));
    assert_eq!(log.state.voters().map(|node| node.0).collect::<Vec<_>>(), [1, 2, 4, 5, 6]);
}

/// Is a copied, an older, an emptied folder known for what it is?
#[test]
fn a_folder_starts_once_and_goes_on() {
    let mut log = Log::of(2);
    assert_eq!(log.boot(2, 1), Ok(Answer::Done));
    let old = |found| Refusal::OldBoot { node: NodeId(2), known: Boot(1), found: Boot(found) };
    assert_eq!(log.boot(2, 1), Err(old(1)), "a copy");
    assert_eq!(log.boot(2, 0), Err(old(0)), "from a backup");
    assert_eq!(log.boot(2, 5), Ok(Answer::Done), "starts that reached nobody");
    let emptied = Entry::Booted {
        node: NodeId(2),
        folder: FolderId([99; 16]),
        boot: Boot(9),
        addresses: vec!["10.0.0.1:1890".into()],
        release: String::new(),
        features: Features { least: 1, most: 1 },
    };
    assert_eq!(log.say(emptied), Err(Refusal::OtherFolder { node: NodeId(2) }));
    assert_eq!(log.say(Entry::Removed { node: NodeId(2) }), Ok(Answer::Done));
    assert_eq!(log.boot(2, 10), Err(Refusal::Gone { node: NodeId(2) }));
    assert_eq!(log.state.member(NodeId(2)).map(|member| member.standing), Some(Standing::Gone));
}

/// Is the number of a node that is gone never given again, nor its folder, while its name is?
#[test]
fn a_number_is_given_once() {
    let mut log = Log::of(2);
    assert_eq!(log.say(Entry::Removed { node: NodeId(2) }), Ok(Answer::Done));
    log.token(50, NOW_MS);
    assert_eq!(log.join(50, 2, NOW_MS), Err(Refusal::FolderTaken { node: NodeId(2) }));
    let secret = SecretHash([50; 32]);
    let again = lapwing_cluster::Newcomer { folder: FolderId([77; 16]), ..newcomer(2) };
    assert_eq!(log.say(Entry::Joined { secret, newcomer: again, joined_at_ms: NOW_MS }), Ok(Answer::Member(NodeId(3))));
    log.token(51, NOW_MS);
    let same_name = lapwing_cluster::Newcomer { folder: FolderId([78; 16]), ..newcomer(2) };
    let joined = Entry::Joined { secret: SecretHash([51; 32]), newcomer: same_name, joined_at_ms: NOW_MS };
    assert_eq!(log.say(joined), Err(Refusal::NameTaken { node: NodeId(3), name: "n2".into() }));
}

/// Is there always somebody who can decide?
#[test]
fn the_last_voter_stays() {
    let mut log = Log::new();
    assert_eq!(log.say(Entry::Removed { node: NodeId(1) }), Err(Refusal::LastVoter { node: NodeId(1) }));
    let mut before = ClusterState::new();
    assert_eq!(before.apply(1, &Entry::Removed { node: NodeId(1) }), Err(Refusal::NotFounded));
    let again = Entry::Founded { cluster: ClusterId([2; 16]), name: "other".into(), founder: newcomer(3) };
    assert_eq!(log.say(again), Err(Refusal::Founded));
}

/// Does the feature level rise only as far as every program reads, and never fall?
#[test]
fn the_level_is_one_that_all_read() {
    let mut log = Log::of(2);
    assert_eq!(log.state.level(), 2);
    let refused = Refusal::Level { node: NodeId(1), least: 1, most: 2, level: 3 };
    assert_eq!(log.say(Entry::LevelRaised { level: 3 }), Err(refused));
    assert_eq!(log.say(Entry::LevelRaised { level: 1 }), Err(Refusal::LevelFell { level: 2 }));
    let old = lapwing_cluster::Newcomer { features: Features { least: 1, most: 1 }, ..newcomer(9) };
    log.token(9, NOW_MS);
    let joined = Entry::Joined { secret: SecretHash([9; 32]), newcomer: old, joined_at_ms: NOW_MS };
    let refused = Refusal::Level { node: NodeId(3), least: 1, most: 1, level: 2 };
    assert_eq!(log.say(joined), Err(refused), "it could not read what is written");
}

/// Are tables that differ named, the first of them?
#[test]
fn the_first_table_that_differs_is_named() {
    let hashes =
        |first: u8| -> Tables { Tables::new(std::array::from_fn(|place| TableHash([first + place as u8; 32]))) };
    let mut log = Log::new();
    assert_eq!(log.say(Entry::TablesSet { tables: hashes(1) }), Ok(Answer::Done));
    assert_eq!(log.state.tables().first_difference(&hashes(1)), None);
    assert_eq!(log.state.tables().first_difference(&hashes(2)), Some(TABLES[0]));
    assert_eq!(log.state.tables().first_difference(&Tables::default()), Some("groups"));
}
