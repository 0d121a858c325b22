//! Which files of certificates, authorities, revocation lists and keys hold something else than before: for the audit trail.

use std::path::PathBuf;

use lapwing_node::{ListenerConfig, files_digest};

/// What is in those of each listener, none for one without: a number stands for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyFiles(Vec<Option<u64>>);

impl KeyFiles {
    /// As they are now.
    pub(crate) fn of(listeners: &[ListenerConfig]) -> Self {
        KeyFiles(listeners.iter().map(digest).collect())
    }

    /// The listeners of `listeners` whose files are others now, by URL.
    pub(crate) fn changes_to<'a>(&self, now: &Self, listeners: &'a [ListenerConfig]) -> Vec<&'a str> {
        let both = self.0.iter().zip(&now.0).zip(listeners);
        both.filter(|((before, now), _)| before != now).map(|(_, listener)| &*listener.url).collect()
    }
}

fn digest(listener: &ListenerConfig) -> Option<u64> {
    let ListenerConfig { certificate, key, client_ca, crl, psk, .. } = listener;
    let files: Vec<PathBuf> = [certificate, key, client_ca, psk].into_iter().flatten().chain(crl).cloned().collect();
    files_digest(&files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are just those listeners named in whose files something else lies?
    #[test]
    fn what_is_in_the_files_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "first").expect("written");
            path
        };
        let of = |url: &str| ListenerConfig { url: url.into(), ..ListenerConfig::default() };
        let listeners = [
            ListenerConfig {
                certificate: Some(file("server.pem")),
                crl: vec![file("a"), file("b")],
                ..of("tls://a:1")
            },
            ListenerConfig { psk: Some(file("psk")), ..of("sns://a:1") },
            of("tcp://a:2"),
        ];
        let before = KeyFiles::of(&listeners);
        let changed = || before.changes_to(&KeyFiles::of(&listeners), &listeners).join(" ");
        assert_eq!(changed(), "");
        std::fs::write(folder.path().join("b"), "second").expect("written");
        assert_eq!(changed(), "tls://a:1");
        std::fs::write(folder.path().join("psk"), "").expect("written");
        let emptied = KeyFiles::of(&listeners);
        std::fs::remove_file(folder.path().join("psk")).expect("it is there");
        assert_eq!(changed(), "tls://a:1 sns://a:1");
        assert_eq!(emptied.changes_to(&KeyFiles::of(&listeners), &listeners), ["sns://a:1"], "gone is not empty");
    }
}
