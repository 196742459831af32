//! Columns in which rows may have no value. A column without any value takes no memory, and neither do the bits of a
//! column whose rows all have one.

use crate::bits::BitList;

/// Values of a fixed width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionalColumn<T> {
    /// One for each row; empty if no row has a value.
    values: Vec<T>,
    /// Which rows have a value; none if all have, or if none has.
    valid: Option<BitList>,
    rows: usize,
}

impl<T: Copy + Default> OptionalColumn<T> {
    /// Appends a row for each value.
    pub(crate) fn extend(&mut self, values: impl ExactSizeIterator<Item = T>) {
        self.begin();
        let count = values.len();
        self.values.extend(values);
        self.rows += count;
        if let Some(valid) = &mut self.valid {
            valid.extend(true, count);
        }
    }

    /// Appends a row with this value, or without.
    pub(crate) fn push(&mut self, value: Option<T>) {
        match value {
            Some(value) => self.extend(std::iter::once(value)),
            None => self.skip(1),
        }
    }

    /// Appends so many rows without a value.
    pub(crate) fn skip(&mut self, count: usize) {
        if count > 0 && !self.values.is_empty() {
            self.valid.get_or_insert_with(|| BitList::filled(true, self.rows)).extend(false, count);
            self.values.resize(self.rows + count, T::default());
        }
        self.rows += count;
    }

    /// The rows at these positions.
    pub(crate) fn take(&self, positions: &[u32]) -> Self {
        let values = if self.values.is_empty() {
            Vec::new()
        } else {
            positions.iter().map(|at| self.values[*at as usize]).collect()
        };
        let valid = self.valid.as_ref().map(|valid| valid.take(positions));
        Self { values, valid, rows: positions.len() }
    }

    /// Removes all rows; their memory is used again.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.valid = None;
        self.rows = 0;
    }

    /// Those of all rows; empty if no row has a value.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// Whether rows may lack a value although others have one.
    pub(crate) fn has_gaps(&self) -> bool {
        self.valid.is_some()
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> Option<T> {
        let is_valid = self.valid.as_ref().is_none_or(|valid| valid.get(row));
        self.values.get(row).copied().filter(|_| is_valid)
    }

    /// The bits of rows with a value, if not all have one, and the values. None if no row has a value.
    pub fn into_parts(self) -> Option<(Option<Vec<u8>>, Vec<T>)> {
        let Self { values, valid, .. } = self;
        (!values.is_empty()).then(|| (valid.map(BitList::into_bytes), values))
    }

    /// Makes room for the first value: the rows before it have none.
    fn begin(&mut self) {
        if self.values.is_empty() && self.rows > 0 {
            self.values.resize(self.rows, T::default());
            self.valid = Some(BitList::filled(false, self.rows));
        }
    }
}

/// Byte strings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionalBytes {
    /// Where the value of each row ends in `data`; the same as the one before if there is none.
    ends: OptionalColumn<i32>,
    data: Vec<u8>,
}

impl OptionalBytes {
    /// Appends a row with this value, or without.
    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else { return self.skip(1) };
        self.data.extend_from_slice(value);
        self.ends.push(Some(self.end()));
    }

    /// Appends so many rows without a value.
    pub(crate) fn skip(&mut self, count: usize) {
        self.ends.skip(count);
        let end = self.end();
        let after = self.ends.values.len().saturating_sub(count);
        self.ends.values[after..].fill(end);
    }

    /// The rows at these positions.
    pub(crate) fn take(&self, positions: &[u32]) -> Self {
        let mut taken = Self::default();
        if self.ends.values.is_empty() {
            taken.skip(positions.len());
            return taken;
        }
        for row in positions {
            taken.push(self.get(*row as usize));
        }
        taken
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let end = self.ends.get(row)?;
        let start = row.checked_sub(1).map_or(0, |before| self.ends.values[before]);
        Some(&self.data[start as usize..end as usize])
    }

    /// Removes all rows; their memory is used again.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.data.clear();
    }

    /// Whether any row has a value.
    pub(crate) fn has_values(&self) -> bool {
        !self.ends.values.is_empty()
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// The bits of rows with a value, if not all have one; ends with a 0 in front; the bytes. None if no row has a
    /// value.
    #[allow(clippy::type_complexity, reason = "the three buffers of Arrow's layout")]
    pub fn into_parts(self) -> Option<(Option<Vec<u8>>, Vec<i32>, Vec<u8>)> {
        let (valid, mut ends) = self.ends.into_parts()?;
        ends.insert(0, 0);
        Some((valid, ends, self.data))
    }

    /// Panics beyond 2 GiB, which the decoder's bound prevents.
    fn end(&self) -> i32 {
        i32::try_from(self.data.len()).expect("columns are cut below 2 GiB")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_column_has_what_was_appended(rows in prop::collection::vec(any::<Option<u8>>(), 0..50)) {
            let mut column = OptionalColumn::default();
            for row in &rows {
                column.push(*row);
            }
            let found: Vec<_> = (0..rows.len()).map(|row| column.get(row)).collect();
            prop_assert_eq!(&found, &rows);
            let back: Vec<u32> = (0..rows.len() as u32).rev().collect();
            let taken = column.take(&back);
            let found: Vec<_> = (0..rows.len()).rev().map(|row| taken.get(row)).collect();
            prop_assert_eq!(found, rows);
        }

        #[test]
        fn bytes_are_what_was_appended(
            rows in prop::collection::vec(any::<Option<Vec<u8>>>(), 0..20)
        ) {
            let mut column = OptionalBytes::default();
            for row in &rows {
                column.push(row.as_deref());
            }
            let found: Vec<_> = (0..rows.len()).map(|row| column.get(row).map(<[u8]>::to_vec)).collect();
            prop_assert_eq!(&found, &rows);
            let back: Vec<u32> = (0..rows.len() as u32).rev().collect();
            let taken = column.take(&back);
            let found: Vec<_> =
                (0..rows.len()).rev().map(|row| taken.get(row).map(<[u8]>::to_vec)).collect();
            prop_assert_eq!(found, rows);
        }
    }

    #[test]
    fn a_column_without_values_has_no_parts() {
        let mut column = OptionalColumn::<f64>::default();
        column.skip(3);
        assert_eq!(column.into_parts(), None);
    }

    #[test]
    fn a_column_of_values_has_no_bits() {
        let mut column = OptionalColumn::default();
        column.extend([1_i32, 2].into_iter());
        assert_eq!(column.into_parts(), Some((None, vec![1, 2])));
    }
}
