//! The labels of an enumeration: the label of a number, and the number of a label.

use std::collections::BTreeMap;

use slipring_wire::frame::Kind;

/// The most labels of one parameter.
const LABELS_MAX: usize = 4_096;
/// The most bytes of a label.
const LABEL_BYTES_MAX: usize = 256;

/// At least one label; no two numbers have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// By number.
    labels: Box<[(u32, Box<str>)]>,
    /// Positions in `labels`, sorted by label.
    by_label: Box<[u16]>,
}

impl Labels {
    /// These labels, or what is wrong with them.
    pub fn new(labels: BTreeMap<u32, String>) -> Result<Self, String> {
        if labels.is_empty() {
            return Err("an enum needs labels, such as {\"0\": \"off\", \"1\": \"on\"}".to_owned());
        }
        if labels.len() > LABELS_MAX {
            let count = labels.len();
            return Err(format!("{count} labels are too many; {LABELS_MAX} are allowed"));
        }
        let labels: Box<[(u32, Box<str>)]> =
            labels.into_iter().map(|(value, label)| (value, label.into_boxed_str())).collect();
        labels.iter().try_for_each(|(value, label)| check(*value, label))?;
        let mut by_label: Box<[u16]> = (0..labels.len() as u16).collect();
        by_label.sort_unstable_by_key(|at| &labels[usize::from(*at)].1);
        let pairs = by_label.windows(2).map(|pair| (pair[0], pair[1]));
        for (one, other) in pairs.map(|(one, other)| (usize::from(one), usize::from(other))) {
            let ((one, label), (other, again)) = (&labels[one], &labels[other]);
            if label == again {
                let (low, high) = (one.min(other), one.max(other));
                return Err(format!("{low} and {high} have the same label \"{label}\""));
            }
        }
        Ok(Self { labels, by_label })
    }

    /// The label of a number.
    pub fn label(&self, value: u32) -> Option<&str> {
        let at = self.labels.binary_search_by_key(&value, |(known, _)| *known).ok()?;
        Some(&self.labels[at].1)
    }

    /// The number with this label.
    pub fn value(&self, label: &str) -> Option<u32> {
        let found =
            self.by_label.binary_search_by(|at| (*self.labels[usize::from(*at)].1).cmp(label));
        Some(self.labels[usize::from(self.by_label[found.ok()?])].0)
    }

    /// Numbers with their labels, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &str)> + Clone {
        self.labels.iter().map(|(value, label)| (*value, &**label))
    }

    /// How many labels there are.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The smallest kind that holds every number: the kind of the values on the wire.
    pub fn kind(&self) -> Kind {
        match self.labels.last().map_or(0, |(value, _)| *value) {
            0..=0xff => Kind::U8,
            0x100..=0xffff => Kind::U16,
            _ => Kind::U32,
        }
    }

    /// The bytes of all labels.
    pub(super) fn bytes(&self) -> usize {
        self.labels.iter().map(|(_, label)| label.len() + 8).sum()
    }
}

fn check(value: u32, label: &str) -> Result<(), String> {
    match label.len() {
        0 => Err(format!("the label of {value} is empty")),
        1..=LABEL_BYTES_MAX => Ok(()),
        bytes => {
            Err(format!("the label of {value} has {bytes} bytes; {LABEL_BYTES_MAX} are allowed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(u32, &str)]) -> Result<Labels, String> {
        Labels::new(pairs.iter().map(|(value, label)| (*value, (*label).to_owned())).collect())
    }

    #[test]
    fn a_label_leads_to_its_number_and_back() {
        let gear = labels(&[(0, "up"), (1, "down"), (7, "between")]).unwrap();
        for (value, label) in gear.iter() {
            assert_eq!((gear.label(value), gear.value(label)), (Some(label), Some(value)));
        }
        assert_eq!((gear.label(2), gear.value("open"), gear.len()), (None, None, 3));
    }

    #[test]
    fn an_enumeration_travels_in_the_smallest_kind_that_holds_it() {
        for (highest, kind) in
            [(255, Kind::U8), (256, Kind::U16), (65_535, Kind::U16), (65_536, Kind::U32)]
        {
            assert_eq!(labels(&[(0, "a"), (highest, "b")]).unwrap().kind(), kind);
        }
    }

    #[test]
    fn labels_that_could_be_mistaken_are_refused() {
        assert!(labels(&[]).is_err());
        assert!(labels(&[(1, "")]).is_err());
        assert!(labels(&[(1, &"x".repeat(257))]).is_err());
        let twice = labels(&[(4, "on"), (2, "off"), (9, "on")]);
        assert_eq!(twice.unwrap_err(), "4 and 9 have the same label \"on\"");
        let many = (0..=4_096).map(|value| (value, value.to_string())).collect();
        assert!(Labels::new(many).unwrap_err().contains("4097 labels"));
    }
}
