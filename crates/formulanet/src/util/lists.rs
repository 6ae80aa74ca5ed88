//! Lists of different lengths.

/// Lists one after the other in one allocation: thousands of short ones are read much faster than as many vectors.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lists<T> {
    items: Vec<T>,
    /// Where each list ends.
    ends: Vec<usize>,
}

impl<T> Lists<T> {
    /// No lists, with room for this number of items.
    pub fn with_room(items: usize) -> Self {
        Lists { items: Vec::with_capacity(items), ends: Vec::new() }
    }

    /// Adds a list of what is added to the items; no list if nothing is returned, after which no other may be added.
    pub fn push(&mut self, add: impl FnOnce(&mut Vec<T>) -> Option<()>) -> Option<()> {
        add(&mut self.items)?;
        self.ends.push(self.items.len());
        Some(())
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A list by its number.
    pub fn get(&self, number: usize) -> &[T] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[number]]
    }

    /// All lists in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Releases room that is left.
    pub fn shrink(&mut self) {
        self.items.shrink_to_fit();
    }
}

impl<T> FromIterator<Vec<T>> for Lists<T> {
    fn from_iter<I: IntoIterator<Item = Vec<T>>>(lists: I) -> Self {
        let (mut items, mut ends) = (Vec::new(), Vec::new());
        for list in lists {
            items.extend(list);
            ends.push(items.len());
        }
        Lists { items, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_kept_apart() {
        let mut lists: Lists<u8> = [vec![1, 2], vec![], vec![3]].into_iter().collect();
        lists.push(|items| {
            items.extend([4, 5]);
            Some(())
        });
        let expected: [&[u8]; 4] = [&[1, 2], &[], &[3], &[4, 5]];
        assert_eq!(lists.iter().collect::<Vec<_>>(), expected);
        assert_eq!((lists.len(), lists.get(3)), (4, &[4, 5][..]));
        assert!(Lists::<u8>::default().is_empty());
    }
}
