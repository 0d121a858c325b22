//! Tables with a place for each client, which grow by little.
//!
//! A list that doubles has on average a third of its places to spare: of what a broker knows of its clients that is the largest
//! single part. By an eighth of the next power of two it is a fifteenth; each entry is then moved some eight times in all, at most,
//! and in large tables not at all, because the kernel moves their pages.

use slab::Slab;

/// Puts `value` into a free place, and says which.
pub(crate) fn insert<T>(table: &mut Slab<T>, value: T) -> usize {
    if table.len() == table.capacity() {
        table.reserve_exact(growth(table.len()));
    }
    table.insert(value)
}

/// Places that a full table of so many gets.
const fn growth(places: usize) -> usize {
    let eighth = (places + 1).next_power_of_two() / 8;
    if eighth > 8 { eighth } else { 8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is little to spare at every size, and does it not grow at each?
    #[test]
    fn little_is_to_spare() {
        let (mut table, mut grown) = (Slab::new(), 0);
        for number in 0..10_000_usize {
            let before = table.capacity();
            assert_eq!(insert(&mut table, number), number);
            grown += usize::from(table.capacity() != before);
            assert!(table.capacity() <= table.len() + table.len() / 4 + 8, "{} for {}", table.capacity(), table.len());
        }
        assert!(grown <= 64, "{grown}");
        assert_eq!((table.remove(17), insert(&mut table, 3)), (17, 17), "a place that was left is taken first");
    }
}
