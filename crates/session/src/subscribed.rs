//! The subscriptions of one session, and whether a client could ask for all of them again at once.

use std::collections::BTreeMap;

use crate::Grant;

/// Bytes of a filter in a SUBSCRIBE besides its text: its length, and its options.
const AROUND_FILTER_BYTES: usize = 2 + 1;
/// Bytes of a SUBSCRIBE besides its filters: header, packet id, and a Subscription Identifier, the largest one.
const AROUND_FILTERS_BYTES: usize = 5 + 2 + 1 + 5;

/// So many filters are a list: a tree begins with places for eleven, and hardly a client has more than two.
const LIST_MAX: usize = 16;

/// By filter as the client wrote it (with `$share/...`).
#[derive(Debug, Default)]
pub(crate) struct Subscribed {
    by_filter: Filters,
    /// What the filters take in a packet.
    filters_bytes: usize,
}

/// In the order of their names.
#[derive(Debug)]
enum Filters {
    List(Box<[(Box<str>, Grant)]>),
    #[expect(clippy::box_collection, reason = "a tree's own three words would be in every session")]
    Tree(Box<BTreeMap<Box<str>, Grant>>),
}

impl Default for Filters {
    fn default() -> Self {
        Filters::List(Box::default())
    }
}

impl Filters {
    /// Those of a list, sorted.
    fn of(list: Vec<(Box<str>, Grant)>) -> Self {
        if list.len() <= LIST_MAX {
            return Filters::List(list.into());
        }
        Filters::Tree(Box::new(list.into_iter().collect()))
    }
}

impl Subscribed {
    /// Whether one more filter leaves all of them in one SUBSCRIBE of `packet_bytes_max`: a client may have to ask for all
    /// again, and some do so in one packet, for ever.
    pub(crate) fn has_room(&self, filter: &str, packet_bytes_max: u32) -> bool {
        AROUND_FILTERS_BYTES + self.filters_bytes + filter_bytes(filter) <= packet_bytes_max as usize
    }

    pub(crate) fn len(&self) -> usize {
        match &self.by_filter {
            Filters::List(list) => list.len(),
            Filters::Tree(tree) => tree.len(),
        }
    }

    pub(crate) fn get(&self, filter: &str) -> Option<Grant> {
        match &self.by_filter {
            Filters::List(list) => place(list, filter).ok().map(|at| list[at].1),
            Filters::Tree(tree) => tree.get(filter).copied(),
        }
    }

    pub(crate) fn iter(&self) -> Box<dyn ExactSizeIterator<Item = (&str, Grant)> + '_> {
        match &self.by_filter {
            Filters::List(list) => Box::new(list.iter().map(|(filter, grant)| (&**filter, *grant))),
            Filters::Tree(tree) => Box::new(tree.iter().map(|(filter, grant)| (&**filter, *grant))),
        }
    }

    pub(crate) fn insert(&mut self, filter: &str, grant: Grant) {
        let is_new = match &mut self.by_filter {
            Filters::List(list) => match place(list, filter) {
                Ok(at) => {
                    list[at].1 = grant;
                    false
                }
                Err(at) => {
                    let mut all = std::mem::take(list).into_vec();
                    all.reserve_exact(1);
                    all.insert(at, (filter.into(), grant));
                    self.by_filter = Filters::of(all);
                    true
                }
            },
            Filters::Tree(tree) => match tree.get_mut(filter) {
                Some(known) => {
                    *known = grant;
                    false
                }
                None => tree.insert(filter.into(), grant).is_none(),
            },
        };
        if is_new {
            self.filters_bytes += filter_bytes(filter);
        }
    }

    pub(crate) fn remove(&mut self, filter: &str) -> Option<Grant> {
        let grant = match &mut self.by_filter {
            Filters::List(list) => {
                let at = place(list, filter).ok()?;
                let mut rest = std::mem::take(list).into_vec();
                let (_, grant) = rest.remove(at);
                *list = rest.into();
                grant
            }
            Filters::Tree(tree) => tree.remove(filter)?,
        };
        self.filters_bytes -= filter_bytes(filter);
        Some(grant)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, Grant) -> bool) {
        let filters_bytes = &mut self.filters_bytes;
        let mut is_kept = |filter: &str, grant| {
            let is_kept = keep(filter, grant);
            if !is_kept {
                *filters_bytes -= filter_bytes(filter);
            }
            is_kept
        };
        match &mut self.by_filter {
            Filters::List(list) => {
                let mut rest = std::mem::take(list).into_vec();
                rest.retain(|(filter, grant)| is_kept(filter, *grant));
                *list = rest.into();
            }
            Filters::Tree(tree) => tree.retain(|filter, grant| is_kept(filter, *grant)),
        }
    }

    pub(crate) fn into_filters(self) -> Box<dyn ExactSizeIterator<Item = Box<str>>> {
        match self.by_filter {
            Filters::List(list) => Box::new(list.into_iter().map(|(filter, _)| filter)),
            Filters::Tree(tree) => Box::new(tree.into_keys()),
        }
    }
}

/// Where the filter is in a list, or where it belongs.
fn place(list: &[(Box<str>, Grant)], filter: &str) -> Result<usize, usize> {
    list.binary_search_by(|(other, _)| (**other).cmp(filter))
}

fn filter_bytes(filter: &str) -> usize {
    AROUND_FILTER_BYTES + filter.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(number: usize) -> String {
        format!("{}/{number}", number * 7 % 10)
    }

    /// Are list and tree one to whoever asks: the same filters in the same order, each once, and none left?
    #[test]
    fn list_and_tree_agree() {
        let count = 3 * LIST_MAX;
        let mut subscribed = Subscribed::default();
        for number in 0..count {
            subscribed.insert(&filter(number), Grant::default());
            subscribed.insert(&filter(number), Grant::default());
            assert_eq!(subscribed.len(), number + 1);
            assert_eq!(matches!(subscribed.by_filter, Filters::Tree(_)), number >= LIST_MAX);
            let mut expected: Vec<String> = (0..=number).map(filter).collect();
            expected.sort();
            assert_eq!(subscribed.iter().map(|(filter, _)| filter.to_owned()).collect::<Vec<_>>(), expected);
            assert_eq!(subscribed.filters_bytes, expected.iter().map(|filter| filter_bytes(filter)).sum::<usize>());
        }
        assert!(subscribed.get(&filter(1)).is_some() && subscribed.get("nobody's").is_none());
        assert!(subscribed.remove(&filter(0)).is_some() && subscribed.remove(&filter(0)).is_none());
        subscribed.retain(|other, _| other != filter(1));
        assert_eq!((subscribed.len(), subscribed.get(&filter(1))), (count - 2, None));
        subscribed.retain(|_, _| false);
        assert_eq!((subscribed.len(), subscribed.filters_bytes, subscribed.into_filters().len()), (0, 0, 0));
    }

    /// The same of a list alone.
    #[test]
    fn a_list_comes_and_goes() {
        let mut subscribed = Subscribed::default();
        for name in ["b", "a", "c"] {
            subscribed.insert(name, Grant::default());
        }
        assert!(subscribed.remove("b").is_some() && subscribed.remove("b").is_none() && subscribed.get("a").is_some());
        subscribed.retain(|other, _| other != "c");
        assert_eq!((subscribed.len(), subscribed.filters_bytes), (1, filter_bytes("a")));
        assert_eq!(subscribed.into_filters().collect::<Vec<_>>(), ["a".into()]);
    }
}
