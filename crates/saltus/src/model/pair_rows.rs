//! Tables of pairs in single precision, a row of a site's values for every value of another site: what sweeps and
//! differences of many chains add up.

use super::factor::Factor;
use super::{Sweep, SweptChains};
use crate::adjacency::Adjacency;
use crate::math::{Arithmetic, FusedLoop, exp, larger, vectorised_and_fused};
use crate::space::{Space, States};

/// Numbers that are added at once.
const STEP: usize = 8;
/// Some values of a site, side by side.
type Eight = [f32; STEP];
/// Groups of eight values that are kept in registers.
const AT_ONCE: usize = 4;
/// Sites whose differences are written together, so that they fill lines of the cache.
const TILE: usize = 16;
/// The largest sum of a site's tables in single precision, where its rounding stays below 1e-4.
const LARGEST_SUM: f64 = 1024.0;
/// What is less likely than e^−60 of the likeliest value counts as that, unless it is impossible.
const SMALLEST: f32 = 60.0;

/// The tables of sites and pairs of sites, in the order in which a sweep visits sites.
///
/// A row of a table stands where the value of the other site says, and is as long as the values of the own
/// site: adding the rows of all neighbours needs no gathering. The tables of a site are read by all chains of a
/// block while they are in the cache.
#[derive(Clone, Debug)]
pub(super) struct PairRows {
    space: Space,
    /// Groups of eight in a row.
    chunks: usize,
    visits: Vec<Visit>,
    /// The visit of every site.
    visit_of: Vec<u32>,
    pairs: Vec<Pair>,
    rows: Vec<Eight>,
    constant: f64,
}

/// One site: where its own table stands, and its pairs, those with sites that are visited before it first.
#[derive(Clone, Copy, Debug)]
struct Visit {
    site: u32,
    field: u32,
    first: u32,
    before: u32,
    after: u32,
}

/// Another site, and where the rows of its values begin.
#[derive(Clone, Copy, Debug)]
struct Pair {
    other: u32,
    table: u32,
}

/// Memory of one block of chains.
#[derive(Clone, Debug, Default)]
pub(super) struct PairScratch {
    words: Vec<u32>,
    uniforms: Vec<f32>,
    before: Vec<Eight>,
    sums: Vec<Eight>,
    tile: Vec<f32>,
}

impl PairRows {
    /// Rows of tables over one or two sites each, of which none has the same sites as another. None if a table has more
    /// sites, or is too large for single precision or for the numbers of rows.
    pub(super) fn new(
        space: &Space,
        factors: &[Factor],
        adjacency: &Adjacency,
        constant: f64,
    ) -> Option<Self> {
        let sites = space.sites();
        let chunks = match space.values().div_ceil(STEP) {
            few if few <= AT_ONCE => few,
            many => many.next_multiple_of(AT_ONCE),
        };
        if !factors.iter().all(|one| one.scope().len() <= 2) || !are_small(factors, sites) {
            return None;
        }
        let mut of_site: Vec<Vec<(u32, &Factor)>> = vec![Vec::new(); sites];
        let mut fields: Vec<Option<&Factor>> = vec![None; sites];
        let mut tables = sites;
        for factor in factors {
            match *factor.scope() {
                [site] => fields[site as usize] = Some(factor),
                [one, other] => {
                    of_site[one as usize].push((other, factor));
                    of_site[other as usize].push((one, factor));
                    tables += space.values_at(one as usize) + space.values_at(other as usize);
                }
                _ => {}
            }
        }
        if tables.saturating_mul(chunks) > u32::MAX as usize {
            return None;
        }
        let mut made = Self {
            space: space.clone(),
            chunks,
            visits: Vec::with_capacity(sites),
            visit_of: vec![0; sites],
            pairs: Vec::new(),
            rows: Vec::with_capacity(tables * chunks),
            constant,
        };
        let mut is_visited = vec![false; sites];
        for site in adjacency.colours().concat() {
            made.visit_of[site as usize] = made.visits.len() as u32;
            let pairs = &of_site[site as usize];
            made.visit(site, fields[site as usize], pairs, &is_visited);
            is_visited[site as usize] = true;
        }
        Some(made)
    }

    /// Takes in the tables of a site.
    fn visit(
        &mut self,
        site: u32,
        field: Option<&Factor>,
        pairs: &[(u32, &Factor)],
        is_visited: &[bool],
    ) {
        let values = self.space.values_at(site as usize);
        let start = self.rows.len() as u32;
        self.row((0..values).map(|value| field.map_or(0.0, |field| field.log_values()[value])));
        let first = self.pairs.len();
        let mut before = 0;
        for visited in [true, false] {
            for (other, factor) in
                pairs.iter().filter(|(other, _)| is_visited[*other as usize] == visited)
            {
                self.pairs.push(Pair { other: *other, table: self.rows.len() as u32 });
                let others = self.space.values_at(*other as usize);
                // The last site of a table runs fastest.
                let (own, apart) =
                    if factor.scope()[1] == site { (1, values) } else { (others, 1) };
                for value in 0..others {
                    let entry = |mine: usize| factor.log_values()[mine * own + value * apart];
                    self.row((0..values).map(entry));
                }
            }
            if visited {
                before = (self.pairs.len() - first) as u32;
            }
        }
        let after = (self.pairs.len() - first) as u32 - before;
        self.visits.push(Visit { site, field: start, first: first as u32, before, after });
    }

    /// A row, and impossible values behind it.
    fn row(&mut self, logs: impl Iterator<Item = f64>) {
        let start = self.rows.len();
        self.rows.resize(start + self.chunks, [f32::NEG_INFINITY; STEP]);
        let row = self.rows[start..].as_flattened_mut();
        row.iter_mut().zip(logs).for_each(|(entry, log)| *entry = log as f32);
    }

    fn at(&self, visit: &Visit) -> (&[Pair], &[Pair]) {
        let pairs = &self.pairs[visit.first as usize..][..(visit.before + visit.after) as usize];
        pairs.split_at(visit.before as usize)
    }

    /// The entry of a pair for the values of both sites.
    #[inline(always)]
    fn entry(&self, pair: &Pair, state: &[u8], own: u8) -> f32 {
        let row = pair.table as usize + usize::from(state[pair.other as usize]) * self.chunks;
        self.rows[row + usize::from(own) / STEP][usize::from(own) % STEP]
    }

    /// log π of a state, added up in double precision.
    pub(super) fn log_prob(&self, state: &[u8]) -> f64 {
        let visits = self.visit_of.iter().map(|number| &self.visits[*number as usize]);
        visits.fold(self.constant, |sum, visit| sum + self.settled(visit, state))
    }

    /// What all tables say of the values of one site, added up in double precision.
    pub(super) fn site_sums(&self, state: &[u8], site: usize, sums: &mut [f64]) {
        let visit = &self.visits[self.visit_of[site] as usize];
        let mut add = |row: usize| {
            let row = self.rows[row..row + self.chunks].as_flattened();
            sums.iter_mut().zip(row).for_each(|(sum, log)| *sum += f64::from(*log));
        };
        add(visit.field as usize);
        let (before, after) = self.at(visit);
        for pair in before.iter().chain(after) {
            add(pair.table as usize + usize::from(state[pair.other as usize]) * self.chunks);
        }
    }

    /// log π and all differences of a block of chains; values that a site does not have are left to be masked.
    pub(super) fn log_prob_and_diff(
        &self,
        states: States<'_>,
        scratch: &mut PairScratch,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) {
        log_prob.fill(self.constant);
        let values = self.space.values();
        scratch.tile.resize(states.chains() * values * TILE, 0.0);
        let sites: Vec<u32> = (0..self.space.sites() as u32).collect();
        for tile in sites.chunks(TILE) {
            let PairScratch { before, sums, tile: changes, .. } = &mut *scratch;
            vectorised_and_fused(DiffLoop {
                rows: self,
                sites: tile,
                states,
                log_prob,
                before,
                sums,
                changes,
            });
            self.write(tile, scratch, diff);
        }
    }

    /// Moves the differences of some sites to their places.
    fn write(&self, tile: &[u32], scratch: &PairScratch, diff: &mut [f32]) {
        let (sites, first) = (self.space.sites(), tile[0] as usize);
        let table = self.space.diff_len();
        let planes = self.space.planes();
        let changes = scratch.tile.chunks_exact(self.space.values() * TILE);
        for (diff, changes) in diff.chunks_exact_mut(table).zip(changes) {
            for (plane, changes) in changes.chunks_exact(TILE).take(planes).enumerate() {
                let start = plane * sites + first;
                diff[start..start + tile.len()].copy_from_slice(&changes[..tile.len()]);
            }
        }
    }

    /// Draws every site of every chain from its conditional distribution.
    pub(super) fn sweep(&self, chains: SweptChains<'_>, scratch: &mut PairScratch) {
        let sites = self.space.sites();
        let SweptChains { states, betas, base, rngs, done } = chains;
        let count = rngs.len();
        scratch.words.resize(sites, 0);
        scratch.uniforms.resize(sites * count, 0.0);
        for (uniforms, rng) in scratch.uniforms.chunks_exact_mut(sites).zip(rngs) {
            rng.fill_uniform(&mut scratch.words, uniforms);
        }
        done.fill(Sweep { changed: 0, log_prob: self.constant });
        let PairScratch { uniforms, before, sums, .. } = scratch;
        let mut weights = vec![[0.0; STEP]; self.chunks];
        for (number, visit) in self.visits.iter().enumerate() {
            if self.space.values_at(visit.site as usize) == 1 {
                // Nothing to draw, but it may be in tables.
                for (state, done) in states.chunks_exact(sites).zip(&mut *done) {
                    done.log_prob += self.settled(visit, state);
                }
                continue;
            }
            // Independent sites at β = 0: what they add for each value.
            if let Some(base) = base {
                for (value, weight) in weights.as_flattened_mut().iter_mut().enumerate() {
                    let exists = value < self.space.values_at(visit.site as usize);
                    *weight =
                        if exists { base.weight(visit.site as usize, value as u8) } else { 0.0 };
                }
            }
            vectorised_and_fused(SweepLoop {
                rows: self,
                visit,
                number,
                states,
                betas: base.map(|_| betas),
                base: &weights,
                uniforms,
                done,
                before,
                sums,
            });
        }
    }

    /// What a site adds to log π together with the sites before it, in double precision; several pairs side by side, so
    /// that no addition waits for the one before it.
    #[inline(always)]
    fn settled(&self, visit: &Visit, state: &[u8]) -> f64 {
        let own = state[visit.site as usize];
        let field = self.rows[visit.field as usize..].as_flattened()[usize::from(own)];
        let mut sums = [f64::from(field), 0.0, 0.0, 0.0];
        let (groups, rest) = self.at(visit).0.as_chunks::<4>();
        for group in groups {
            for (sum, pair) in sums.iter_mut().zip(group) {
                *sum += f64::from(self.entry(pair, state, own));
            }
        }
        for (sum, pair) in sums.iter_mut().zip(rest) {
            *sum += f64::from(self.entry(pair, state, own));
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// What the tables of a site say of its values: together with the sites before it, and with all.
    #[inline(always)]
    fn sums(&self, visit: &Visit, state: &[u8], before: &mut [Eight], all: &mut [Eight]) {
        match self.chunks {
            1 => self.sums_by::<1, 4>(visit, state, before, all),
            2 => self.sums_by::<2, 2>(visit, state, before, all),
            3 => self.sums_by::<3, 2>(visit, state, before, all),
            _ => self.sums_by::<AT_ONCE, 2>(visit, state, before, all),
        }
    }

    #[inline(always)]
    fn sums_by<const CHUNKS: usize, const SIDE: usize>(
        &self,
        visit: &Visit,
        state: &[u8],
        before: &mut [Eight],
        all: &mut [Eight],
    ) {
        let (earlier, later) = self.at(visit);
        let blocks = before.as_chunks_mut::<CHUNKS>().0.iter_mut();
        for (number, (before, all)) in blocks.zip(all.as_chunks_mut::<CHUNKS>().0).enumerate() {
            let offset = number * CHUNKS;
            let mut field = [[0.0; STEP]; CHUNKS];
            field.copy_from_slice(&self.rows[visit.field as usize + offset..][..CHUNKS]);
            *before = self.added::<CHUNKS, SIDE>(field, earlier, state, offset);
            *all = self.added::<CHUNKS, SIDE>(*before, later, state, offset);
        }
    }

    /// Adds the rows of pairs, several side by side, so that no addition waits for the one before it.
    #[inline(always)]
    fn added<const CHUNKS: usize, const SIDE: usize>(
        &self,
        start: [Eight; CHUNKS],
        pairs: &[Pair],
        state: &[u8],
        offset: usize,
    ) -> [Eight; CHUNKS] {
        let row = |pair: &Pair| {
            let value = usize::from(state[pair.other as usize]);
            let place = pair.table as usize + value * self.chunks + offset;
            &self.rows[place..place + CHUNKS]
        };
        let mut sides = [[[0.0f32; STEP]; CHUNKS]; SIDE];
        sides[0] = start;
        let (groups, rest) = pairs.as_chunks::<SIDE>();
        for group in groups {
            for (side, pair) in sides.iter_mut().zip(group) {
                add(side, row(pair));
            }
        }
        for pair in rest {
            add(&mut sides[0], row(pair));
        }
        let mut sum = sides[0];
        for side in &sides[1..] {
            add(&mut sum, side);
        }
        sum
    }
}

#[inline(always)]
fn add<const CHUNKS: usize>(sum: &mut [Eight; CHUNKS], row: &[Eight]) {
    for (sum, row) in sum.iter_mut().zip(row) {
        for lane in 0..STEP {
            sum[lane] += row[lane];
        }
    }
}

/// Whether the tables of every site add up to numbers that single precision holds well enough.
fn are_small(factors: &[Factor], sites: usize) -> bool {
    let mut reach = vec![0.0f64; sites];
    for factor in factors {
        let finite = factor.log_values().iter().filter(|log| log.is_finite());
        let largest = finite.fold(0.0f64, |largest, log| largest.max(log.abs()));
        factor.scope().iter().for_each(|site| reach[*site as usize] += largest);
    }
    reach.iter().all(|reach| *reach <= LARGEST_SUM)
}

/// The differences of a tile of sites of all chains.
struct DiffLoop<'a> {
    rows: &'a PairRows,
    sites: &'a [u32],
    states: States<'a>,
    log_prob: &'a mut [f64],
    before: &'a mut Vec<Eight>,
    sums: &'a mut Vec<Eight>,
    /// By chain, plane and site of the tile.
    changes: &'a mut [f32],
}

impl FusedLoop for DiffLoop<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { rows, sites, states, log_prob, before, sums, changes } = self;
        before.resize(rows.chunks, [0.0; STEP]);
        sums.resize(rows.chunks, [0.0; STEP]);
        let (values, binary) = (rows.space.values(), rows.space.is_binary());
        for (number, site) in sites.iter().enumerate() {
            let visit = &rows.visits[rows.visit_of[*site as usize] as usize];
            let of_chains = changes.chunks_exact_mut(values * TILE);
            for ((state, log_prob), changes) in states.rows().zip(&mut *log_prob).zip(of_chains) {
                rows.sums(visit, state, before, sums);
                let own = usize::from(state[*site as usize]);
                *log_prob += rows.settled(visit, state);
                let logs = sums.as_flattened();
                let here = logs[own];
                // From a forbidden state nobody goes on.
                let change = |log: f32| if here == f32::NEG_INFINITY { 0.0 } else { log - here };
                if binary {
                    changes[number] = change(logs[1 - own]);
                } else {
                    for (value, log) in logs[..values].iter().enumerate() {
                        changes[value * TILE + number] = change(*log);
                    }
                }
            }
        }
    }
}

/// One site of all chains, redrawn.
struct SweepLoop<'a> {
    rows: &'a PairRows,
    visit: &'a Visit,
    number: usize,
    states: &'a mut [u8],
    /// Inverse temperatures, where there is a base.
    betas: Option<&'a [f64]>,
    base: &'a [Eight],
    uniforms: &'a [f32],
    done: &'a mut [Sweep],
    before: &'a mut Vec<Eight>,
    sums: &'a mut Vec<Eight>,
}

impl FusedLoop for SweepLoop<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { rows, visit, number, states, betas, base, uniforms, done, before, sums } = self;
        before.resize(rows.chunks, [0.0; STEP]);
        sums.resize(rows.chunks, [0.0; STEP]);
        let (sites, site) = (rows.space.sites(), visit.site as usize);
        let chains = states.chunks_exact_mut(sites).zip(uniforms.chunks_exact(sites)).zip(done);
        for (chain, ((state, uniforms), done)) in chains.enumerate() {
            rows.sums(visit, state, before, sums);
            if let Some(betas) = betas {
                mix(sums, base, betas[chain] as f32);
            }
            let own = state[site];
            let drawn = draw::<A>(sums, own, uniforms[number]);
            state[site] = drawn;
            done.changed += u32::from(drawn != own);
            done.log_prob += f64::from(before.as_flattened()[usize::from(drawn)]);
        }
    }
}

/// On the path from independent sites: what is impossible stays so at β = 0, too.
#[inline(always)]
fn mix(sums: &mut [Eight], base: &[Eight], beta: f32) {
    for (sums, base) in sums.iter_mut().zip(base) {
        for lane in 0..STEP {
            let mixed = beta * larger(sums[lane], f32::MIN) + (1.0 - beta) * base[lane];
            sums[lane] = if sums[lane] == f32::NEG_INFINITY { f32::NEG_INFINITY } else { mixed };
        }
    }
}

/// Draws a value with probability proportional to e^log; `logs` are overwritten. The value that the site has
/// comes last among those that a uniform number can fall on, so it decides first whether to move, however
/// seldom that is.
#[inline(always)]
fn draw<A: Arithmetic>(logs: &mut [Eight], own: u8, uniform: f32) -> u8 {
    let mut most = [f32::NEG_INFINITY; STEP];
    for logs in logs.iter() {
        for lane in 0..STEP {
            most[lane] = larger(logs[lane], most[lane]);
        }
    }
    let largest = most.into_iter().fold(f32::NEG_INFINITY, larger);
    if largest == f32::NEG_INFINITY {
        return own;
    }
    let mut totals = [0.0f32; STEP];
    for logs in logs.iter_mut() {
        for lane in 0..STEP {
            let log = logs[lane];
            let weight = exp::<A>(larger(log - largest, -SMALLEST));
            logs[lane] = if log == f32::NEG_INFINITY { 0.0 } else { weight };
            totals[lane] += logs[lane];
        }
    }
    let mut left = uniform * totals.iter().sum::<f32>();
    for (value, weight) in logs.as_flattened().iter().enumerate() {
        if value != usize::from(own) {
            if left < *weight {
                return value as u8;
            }
            left -= weight;
        }
    }
    own
}
