//! Which sites see each other, and a colouring of them.

/// The neighbours of every site, in compressed rows: the sites whose differences change when it does.
///
/// ```
/// use saltus::Adjacency;
/// let path = Adjacency::new(3, &[(0, 1), (1, 2)]);
/// assert_eq!(path.neighbours(1), [0, 2]);
/// assert_eq!(path.colours().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Adjacency {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Adjacency {
    /// Sites joined by these pairs; a pair given twice is listed twice.
    ///
    /// # Panics
    /// If a pair names a site that does not exist.
    pub fn new(sites: usize, pairs: &[(u32, u32)]) -> Self {
        let mut offsets = vec![0u32; sites + 1];
        for end in pairs.iter().flat_map(|(one, other)| [*one, *other]) {
            offsets[end as usize + 1] += 1;
        }
        for site in 0..sites {
            offsets[site + 1] += offsets[site];
        }
        let mut adjacency = Self { targets: vec![0; 2 * pairs.len()], offsets };
        let places = adjacency.places(pairs);
        for ((one, other), (from_one, from_other)) in pairs.iter().zip(places) {
            adjacency.targets[from_one] = *other;
            adjacency.targets[from_other] = *one;
        }
        adjacency
    }

    /// Where each pair stands in the rows of its two sites.
    pub(crate) fn places(&self, pairs: &[(u32, u32)]) -> Vec<(usize, usize)> {
        let mut next = self.offsets.clone();
        let mut place = |site: u32| {
            next[site as usize] += 1;
            next[site as usize] as usize - 1
        };
        pairs.iter().map(|(one, other)| (place(*one), place(*other))).collect()
    }

    /// No site sees another.
    pub fn none(sites: usize) -> Self {
        Self::new(sites, &[])
    }

    /// Sites that a site sees, on average.
    pub fn mean_degree(&self) -> f64 {
        let ends: usize = (0..self.sites()).map(|site| self.neighbours(site).len()).sum();
        ends as f64 / self.sites().max(1) as f64
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The places of a site's neighbours among all.
    #[inline]
    pub(crate) fn row(&self, site: usize) -> std::ops::Range<usize> {
        self.offsets[site] as usize..self.offsets[site + 1] as usize
    }

    /// The neighbours of a site.
    #[inline]
    pub fn neighbours(&self, site: usize) -> &[u32] {
        &self.targets[self.row(site)]
    }

    /// Sites by colour: no two sites of one colour are neighbours (greedy, in order of site).
    pub fn colours(&self) -> Vec<Vec<u32>> {
        const NONE: u32 = u32::MAX;
        let mut colour = vec![NONE; self.sites()];
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut taken = Vec::new();
        for site in 0..self.sites() {
            taken.clear();
            taken.resize(classes.len(), false);
            for other in self.neighbours(site) {
                if colour[*other as usize] != NONE {
                    taken[colour[*other as usize] as usize] = true;
                }
            }
            let free = taken.iter().position(|taken| !taken).unwrap_or(classes.len());
            if free == classes.len() {
                classes.push(Vec::new());
            }
            colour[site] = free as u32;
            classes[free].push(site as u32);
        }
        classes
    }

    /// The same among some of the sites, which are numbered anew in their order.
    pub fn among(&self, sites: &[u32]) -> Self {
        let mut numbers = vec![u32::MAX; self.sites()];
        for (number, site) in sites.iter().enumerate() {
            numbers[*site as usize] = number as u32;
        }
        let mut offsets = vec![0];
        let mut targets = Vec::new();
        for site in sites {
            let kept = self.neighbours(*site as usize).iter().map(|other| numbers[*other as usize]);
            targets.extend(kept.filter(|number| *number != u32::MAX));
            offsets.push(targets.len() as u32);
        }
        Self { offsets, targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_separate_neighbours() {
        let pairs: Vec<(u32, u32)> = (0..20)
            .flat_map(|from| (from + 1..20).map(move |to| (from, to)))
            .filter(|(from, to)| (from * 7 + to * 3) % 5 == 0)
            .collect();
        let adjacency = Adjacency::new(20, &pairs);
        let colours = adjacency.colours();
        assert_eq!(colours.iter().map(Vec::len).sum::<usize>(), 20);
        for class in colours {
            for site in &class {
                let neighbours = adjacency.neighbours(*site as usize);
                assert!(neighbours.iter().all(|other| !class.contains(other)));
            }
        }
    }

    #[test]
    fn some_of_the_sites_keep_the_neighbours_they_have_among_them() {
        let ring = Adjacency::new(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
        let part = ring.among(&[0, 2, 3]);
        assert_eq!(part.sites(), 3);
        assert!(part.neighbours(0).is_empty());
        assert_eq!((part.neighbours(1), part.neighbours(2)), (&[2][..], &[1][..]));
    }
}
