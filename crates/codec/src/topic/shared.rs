//! Shared filters: `$share/GROUP/FILTER`.

use super::TopicError;

/// The two halves of a shared filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedFilter<'a> {
    /// ShareName: not empty, without `/`, `+` and `#`.
    pub group: &'a str,
    /// The topic filter that the group has together.
    pub filter: &'a str,
}

impl<'a> SharedFilter<'a> {
    /// Splits `filter`; `Ok(None)` when it is an ordinary one. The inner filter's wildcards are not looked at here.
    /// # Errors
    /// It begins with `$share/` but has no valid group or no filter behind it.
    pub fn parse(filter: &'a str) -> Result<Option<Self>, TopicError> {
        let Some(rest) = filter.strip_prefix("$share/") else { return Ok(None) };
        match rest.split_once('/') {
            Some((group, filter)) if !group.is_empty() && !filter.is_empty() && !group.contains(['+', '#']) => {
                Ok(Some(SharedFilter { group, filter }))
            }
            _ => Err(TopicError::Share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_filter_splits_at_the_first_two_slashes() {
        assert_eq!(SharedFilter::parse("$share/g/a/+/#"), Ok(Some(SharedFilter { group: "g", filter: "a/+/#" })));
        assert_eq!(SharedFilter::parse("$share/g//"), Ok(Some(SharedFilter { group: "g", filter: "/" })));
        assert_eq!(SharedFilter::parse("a/$share/g"), Ok(None));
        assert_eq!(SharedFilter::parse("$shared/g"), Ok(None));
        assert_eq!(SharedFilter::parse("$share"), Ok(None));
    }

    #[test]
    fn a_group_is_named_and_plain_and_a_filter_follows() {
        for filter in ["$share/", "$share/g", "$share/g/", "$share//a", "$share/g+/a", "$share/#/a"] {
            assert_eq!(SharedFilter::parse(filter), Err(TopicError::Share), "{filter}");
        }
    }
}
