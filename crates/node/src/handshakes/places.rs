//! How many handshakes may be unfinished: in all, and of one source of connections.

use std::collections::HashMap;
use std::net::IpAddr;

/// Which bound has no room for one more handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// `limits.handshakes_max`.
    All,
    /// `limits.handshakes_per_address_max`.
    Address,
}

/// Unfinished handshakes, counted. A source that is not known (yet) counts in all only.
#[derive(Debug)]
pub(crate) struct Places {
    all_max: u32,
    source_max: u32,
    all: u32,
    /// Only sources that have one: as many entries as there are handshakes, at most.
    sources: HashMap<IpAddr, u32>,
}

impl Places {
    /// Both bounds are 1 or more.
    pub(crate) fn new(all_max: u32, source_max: u32) -> Self {
        Places { all_max, source_max, all: 0, sources: HashMap::new() }
    }

    /// Takes a place; [`Places::leave`] gives it back.
    ///
    /// # Errors
    /// Which bound is reached; nothing was taken.
    pub(crate) fn enter(&mut self, source: Option<IpAddr>) -> Result<(), Full> {
        if self.all >= self.all_max {
            return Err(Full::All);
        }
        if let Some(source) = source {
            self.take(source)?;
        }
        self.all += 1;
        Ok(())
    }

    /// A handshake that has its place already is found to be of `source`.
    ///
    /// # Errors
    /// That one has no place left: the handshake has to leave, without a source.
    pub(crate) fn name(&mut self, source: IpAddr) -> Result<(), Full> {
        self.take(source)
    }

    pub(crate) fn leave(&mut self, source: Option<IpAddr>) {
        self.all -= 1;
        if let Some(source) = source
            && let Some(count) = self.sources.get_mut(&source)
        {
            *count -= 1;
            if *count == 0 {
                self.sources.remove(&source);
            }
        }
    }

    /// All that are unfinished.
    pub(crate) fn taken(&self) -> u32 {
        self.all
    }

    fn take(&mut self, source: IpAddr) -> Result<(), Full> {
        let count = self.sources.entry(source).or_insert(0);
        if *count >= self.source_max {
            return Err(Full::Address);
        }
        *count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(n: u32) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::from_bits(n))
    }

    /// Does one source get its share and no more, and is there always room for others until all places are taken?
    #[test]
    fn a_source_has_its_share() {
        let mut places = Places::new(5, 2);
        let enter = |places: &mut Places, n| places.enter(Some(source(n)));
        assert_eq!((enter(&mut places, 1), enter(&mut places, 1)), (Ok(()), Ok(())));
        assert_eq!(enter(&mut places, 1), Err(Full::Address));
        assert_eq!((enter(&mut places, 2), enter(&mut places, 3)), (Ok(()), Ok(())));
        assert_eq!(places.enter(None), Ok(()));
        assert_eq!((enter(&mut places, 4), places.enter(None)), (Err(Full::All), Err(Full::All)));
        assert_eq!(places.taken(), 5);
        places.leave(Some(source(1)));
        assert_eq!((enter(&mut places, 1), enter(&mut places, 1)), (Ok(()), Err(Full::All)));
    }

    /// Is whom a proxy names counted from then on, and is nothing left behind when all have gone?
    #[test]
    fn a_source_that_is_named_later_counts_too() {
        let mut places = Places::new(9, 1);
        for _ in 0..3 {
            places.enter(None).unwrap();
        }
        assert_eq!(places.name(source(1)), Ok(()));
        assert_eq!(places.name(source(1)), Err(Full::Address));
        assert_eq!(places.enter(Some(source(1))), Err(Full::Address));
        places.leave(Some(source(1)));
        places.leave(None);
        places.leave(None);
        assert_eq!((places.taken(), places.sources.len()), (0, 0));
    }
}
