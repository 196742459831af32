//! Who selects a parameter: for people. It changes nothing.

use std::sync::Arc;

use super::Groups;
use crate::{ParameterIndex, SessionKey};

/// One selection that has a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Whose it is.
    pub session: SessionKey,
    /// The filter as its client wrote it.
    pub filter: Arc<str>,
    /// The newest values at most this often, in thousandths of a hertz; without it every sample.
    pub rate_mhz: Option<u32>,
}

impl Groups {
    /// At most so many of the selections that have a parameter, and how many there are.
    pub fn selectors(&self, index: ParameterIndex, most: usize) -> (Vec<Selector>, usize) {
        let (mut found, mut total) = (Vec::new(), 0);
        for (session, selections) in &self.by_subscriber {
            for (filter, group) in selections {
                let Some(group) = self.all.get(group) else { continue };
                if !group.chosen.contains(index.get()) {
                    continue;
                }
                total += 1;
                if found.len() < most {
                    let rate_mhz = group.key.needs.rate_mhz;
                    found.push(Selector {
                        session: *session,
                        filter: Arc::clone(filter),
                        rate_mhz,
                    });
                }
            }
        }
        (found, total)
    }
}
