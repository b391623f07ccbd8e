//! Which sites of a chain changed since it was last looked at, for kernels that change few and say
//! which: what is recorded of a chain then follows the changes instead of reading whole states.

/// A site that took another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteChange {
    /// The site.
    pub site: u32,
    /// The value it had.
    pub from: u8,
    /// The value it has.
    pub to: u8,
}

/// The changes of one chain in their order.
///
/// A kernel may record every site that a step changed. Whether it did is seen by comparing with the
/// number of changed sites in its report, so that a kernel which records nothing, or not all, only
/// costs whoever observes a look at the whole state.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    changes: Vec<SiteChange>,
    /// Changes at the end of the last step that was counted.
    counted: usize,
    most: usize,
    is_incomplete: bool,
}

impl Journal {
    /// A journal of at most that many changes; of none if nobody reads it.
    pub(crate) fn of_at_most(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Records that a site took another value.
    #[inline]
    pub fn record(&mut self, site: usize, from: u8, to: u8) {
        if self.changes.len() < self.most {
            self.changes.push(SiteChange { site: site as u32, from, to });
        }
    }

    /// Ends a step that is said to have changed so many sites.
    #[inline]
    pub(crate) fn end_step(&mut self, changed: u32) {
        self.is_incomplete |= self.changes.len() - self.counted != changed as usize;
        self.counted = self.changes.len();
    }

    /// All changes since it was emptied; none if some are missing.
    #[inline]
    pub(crate) fn changes(&self) -> Option<&[SiteChange]> {
        (!self.is_incomplete).then_some(&self.changes)
    }

    /// Begins anew.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.counted = 0;
        self.is_incomplete = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_noticed() {
        let mut journal = Journal::of_at_most(2);
        journal.record(3, 0, 1);
        journal.end_step(1);
        journal.end_step(0);
        assert_eq!(journal.changes(), Some(&[SiteChange { site: 3, from: 0, to: 1 }][..]));
        // A step that does not say what it changed.
        journal.end_step(1);
        assert_eq!(journal.changes(), None);
        journal.clear();
        (0..3).for_each(|site| journal.record(site, 1, 0));
        journal.end_step(3);
        assert_eq!(journal.changes(), None, "more than there is room for");
    }
}
