//! The distance W₂ in the metric of the flow, after Benamou and Brenier: the least action of a path
//! between two distributions.
//!
//! With two states a path is a number that moves, and the distance an integral. With more, a path is
//! cut into pieces, straight in ρ and with the metric of its middle; the action of the pieces is
//! convex in the path, and Newton's method with blocks for the pieces finds the least. Halving the
//! pieces quarters the error, which is how the limit is found and its accuracy stated.

use super::conductance::{exponential_mean, laplacian};
use super::{Flow, FlowError};
use nalgebra::{DMatrix, DVector};

/// A distance and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// W₂.
    pub value: f64,
    /// Estimated from the last two refinements.
    pub error: f64,
}

/// Pieces of the first path.
const FIRST_PIECES: usize = 8;
/// Pieces of the finest, with few states and with many, where each costs their number cubed.
const MOST_PIECES: (usize, usize) = (256, 64);
/// As many are few.
const FEW_STATES: usize = 40;
/// Relative error that is good enough to stop refining.
const ACCURACY: f64 = 1e-8;
/// Newton's steps for one path; a handful suffices from the path before.
const MOST_STEPS: usize = 100;

impl Flow {
    /// W₂ between two distributions.
    ///
    /// ```
    /// use saltus::Balancing;
    /// use saltus_lab::flow::{Flow, Graph};
    /// let flow = Flow::new(&[0.5, 0.5], &Graph::Complete, Balancing::Sqrt)?;
    /// let distance = flow.distance(&[0.2, 0.8], &[0.6, 0.4])?;
    /// assert!((distance.value - 0.5756413164893677).abs() < 1e-10);
    /// # Ok::<(), saltus_lab::flow::FlowError>(())
    /// ```
    pub fn distance(&self, from: &[f64], to: &[f64]) -> Result<Distance, FlowError> {
        if from == to {
            return Ok(Distance { value: 0.0, error: 0.0 });
        }
        if self.states() == 2 { Ok(self.two_states(from[0], to[0])) } else { self.least(from, to) }
    }

    /// ∫ dr/√c(r), by a rule that does not mind an infinite end.
    fn two_states(&self, from: f64, to: f64) -> Distance {
        let (low, high) = (from.min(to), from.max(to));
        let inverse_root = |r: f64, rest: f64| {
            let (there, back) = (self.rates()[(0, 1)] * r, self.rates()[(1, 0)] * rest);
            super::conductance::logarithmic_mean(there, back).sqrt().recip()
        };
        let integrand = |from_low: f64, from_high: f64| {
            // Both distances are exact near their end, where the other would have cancelled.
            let r = if from_low < from_high { low + from_low } else { high - from_high };
            let rest =
                if from_low < from_high { 1.0 - low - from_low } else { (1.0 - high) + from_high };
            inverse_root(r, rest)
        };
        let (coarse, fine) =
            (tanh_sinh(high - low, 40, integrand), tanh_sinh(high - low, 80, integrand));
        Distance { value: fine, error: (fine - coarse).abs().max(1e-15 * fine) }
    }

    /// The least action of paths of more and more pieces, and their limit.
    fn least(&self, from: &[f64], to: &[f64]) -> Result<Distance, FlowError> {
        let few = self.states() <= FEW_STATES;
        let most = if few { MOST_PIECES.0 } else { MOST_PIECES.1 };
        let mut pieces = FIRST_PIECES;
        let mut path = Path::first(self, from, to, pieces);
        let mut before = path.relax(self)?;
        let mut limit_before: Option<f64> = None;
        loop {
            pieces *= 2;
            path = path.refined();
            let action = path.relax(self)?;
            // Richardson: the error of the action falls with the square of the length of a piece.
            let limit = (4.0 * action - before) / 3.0;
            let change = limit_before.map_or((action - before).abs(), |old| (limit - old).abs());
            let value = limit.max(0.0).sqrt();
            let error = 0.5 * change / value.max(f64::MIN_POSITIVE);
            if change <= ACCURACY * limit || pieces >= most {
                return Ok(Distance { value, error });
            }
            (before, limit_before) = (action, Some(limit));
        }
    }
}

/// A path of distributions from one end to the other.
struct Path {
    /// All but the last probability of each, which the others determine.
    nodes: Vec<DVector<f64>>,
}

/// The derivatives of the action of a piece by its two ends.
struct Piece {
    by_start: DVector<f64>,
    by_end: DVector<f64>,
    start_start: DMatrix<f64>,
    start_end: DMatrix<f64>,
    end_end: DMatrix<f64>,
}

impl Path {
    /// Straight, but bent a little towards the target, so that no state is empty on the way.
    fn first(flow: &Flow, from: &[f64], to: &[f64], pieces: usize) -> Self {
        let node = |piece: usize| {
            let t = piece as f64 / pieces as f64;
            let bend = 0.4 * t * (1.0 - t);
            let all = from.iter().zip(to).zip(flow.target());
            let bent = all.map(|((from, to), target)| {
                (1.0 - bend) * ((1.0 - t) * from + t * to) + bend * target
            });
            DVector::from_iterator(flow.states(), bent).remove_row(flow.states() - 1)
        };
        Self { nodes: (0..=pieces).map(node).collect() }
    }

    /// With a node in the middle of each piece.
    fn refined(&self) -> Self {
        let mut nodes = Vec::with_capacity(2 * self.nodes.len());
        for pair in self.nodes.windows(2) {
            nodes.push(pair[0].clone());
            nodes.push((&pair[0] + &pair[1]) / 2.0);
        }
        nodes.extend(self.nodes.last().cloned());
        Self { nodes }
    }

    fn pieces(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The action, or nothing if a node is not inside the simplex.
    fn action(&self, flow: &Flow) -> Option<f64> {
        let inside = |node: &DVector<f64>| node.iter().all(|p| *p > 0.0) && node.sum() < 1.0;
        if !self.nodes[1..self.pieces()].iter().all(inside) {
            return None;
        }
        let pairs = self.nodes.windows(2);
        pairs.map(|pair| action(flow, &pair[0], &pair[1], self.pieces())).sum()
    }

    /// Moves the nodes until the action is least; returns it.
    fn relax(&mut self, flow: &Flow) -> Result<f64, FlowError> {
        let stuck = || FlowError::Numerical("the shortest path could not be found".to_owned());
        let mut now = self.action(flow).ok_or_else(stuck)?;
        for _ in 0..MOST_STEPS {
            let pieces: Option<Vec<Piece>> = self
                .nodes
                .windows(2)
                .map(|pair| piece(flow, &pair[0], &pair[1], self.pieces()))
                .collect();
            let step = newton_step(&pieces.ok_or_else(stuck)?).ok_or_else(stuck)?;
            let promised: f64 = step.decrease;
            if promised <= 1e-14 * now {
                return Ok(now);
            }
            let mut length = 1.0;
            loop {
                let mut tried = Self { nodes: self.nodes.clone() };
                for (node, direction) in tried.nodes[1..].iter_mut().zip(&step.directions) {
                    *node += length * direction;
                }
                // A quarter of what the slope promises is progress.
                match tried.action(flow).filter(|then| *then <= now - 0.25 * length * promised) {
                    Some(then) => {
                        (*self, now) = (tried, then);
                        break;
                    }
                    // So small a promise is within rounding.
                    None if length < 1e-6 => return Ok(now),
                    None => length /= 2.0,
                }
            }
        }
        Ok(now)
    }
}

/// All probabilities from all but the last.
fn full(node: &DVector<f64>) -> Vec<f64> {
    node.iter().copied().chain([1.0 - node.sum()]).collect()
}

/// Middle and velocity of a piece.
fn middle(start: &DVector<f64>, end: &DVector<f64>, pieces: usize) -> (Vec<f64>, DVector<f64>) {
    (full(&((start + end) / 2.0)), (end - start) * pieces as f64)
}

fn action(flow: &Flow, start: &DVector<f64>, end: &DVector<f64>, pieces: usize) -> Option<f64> {
    let (rho, velocity) = middle(start, end, pieces);
    Some(flow.squared_length(&rho, velocity.as_slice())? / pieces as f64)
}

/// The derivatives of a piece: of F(σ, ρ) = σᵀL(ρ)⁻¹σ at the middle, σ the velocity.
fn piece(flow: &Flow, start: &DVector<f64>, end: &DVector<f64>, pieces: usize) -> Option<Piece> {
    let (rho, sigma) = middle(start, end, pieces);
    let states = flow.states();
    let last = states - 1;
    let conductance = flow.conductance(&rho);
    let inverse =
        laplacian(&conductance).remove_row(last).remove_column(last).cholesky()?.inverse();
    let phi = &inverse * &sigma;
    let potential = |state: usize| if state == last { 0.0 } else { phi[state] };

    // How the Laplacian answers to each probability: of L itself times Φ, and of ΦᵀLΦ.
    let mut bend = DMatrix::zeros(states, states);
    let mut slope = DVector::<f64>::zeros(states);
    let mut curvature = DMatrix::zeros(states, states);
    for i in 0..states {
        for j in (0..states).filter(|j| flow.neighbours()[(i, *j)] > 0.0) {
            let drop = potential(i) - potential(j);
            let edge = Edge::new(flow, &rho, i, j);
            bend[(i, i)] += edge.by_own * drop;
            bend[(j, i)] -= edge.by_own * drop;
            slope[i] += edge.by_own * drop * drop;
            curvature[(i, i)] += edge.by_own_twice * drop * drop;
            curvature[(i, j)] += edge.by_both * drop * drop;
        }
    }
    // The last probability gives what the others take.
    let reduce = |matrix: &DMatrix<f64>| {
        let mut reduced = matrix.columns(0, last).into_owned();
        for mut column in reduced.column_iter_mut() {
            column -= matrix.column(last);
        }
        reduced
    };
    let bend = reduce(&bend.remove_row(last));
    let curvature = reduce(&reduce(&curvature).transpose());
    let slope = DVector::from_fn(last, |i, _| -(slope[i] - slope[last]));

    let n = pieces as f64;
    let answer = &inverse * &bend;
    let sigma_sigma = 2.0 * &inverse;
    let sigma_rho = -2.0 * &answer;
    let rho_rho = 2.0 * bend.tr_mul(&answer) - curvature;
    let turn = 0.5 * (&sigma_rho + sigma_rho.transpose());
    let twist = 0.5 * (sigma_rho.transpose() - &sigma_rho);
    let push = 2.0 * &phi;
    let quarter = rho_rho / (4.0 * n);
    Some(Piece {
        by_start: &slope / (2.0 * n) - &push,
        by_end: &slope / (2.0 * n) + &push,
        start_start: n * &sigma_sigma - &turn + &quarter,
        end_end: n * &sigma_sigma + &turn + &quarter,
        start_end: -n * &sigma_sigma + &twist + &quarter,
    })
}

/// How the conductance of an edge answers to the probability of its own end.
struct Edge {
    by_own: f64,
    by_own_twice: f64,
    by_both: f64,
}

impl Edge {
    fn new(flow: &Flow, rho: &[f64], i: usize, j: usize) -> Self {
        let (a, b) = (flow.rates()[(i, j)], flow.rates()[(j, i)]);
        let (there, back) = (a * rho[i], b * rho[j]);
        let [_, first, second] = exponential_mean((there / back).ln());
        let second = second - first;
        Self {
            by_own: a * first * back / there,
            by_own_twice: a * a * second * back / (there * there),
            by_both: -a * b * second / there,
        }
    }
}

/// Where Newton's method wants the inner nodes to go.
struct Step {
    directions: Vec<DVector<f64>>,
    /// Of the action, by the slope.
    decrease: f64,
}

/// Solves the equations of all inner nodes, each of which is coupled to its two neighbours.
fn newton_step(pieces: &[Piece]) -> Option<Step> {
    let inner = pieces.len() - 1;
    let mut factors = Vec::with_capacity(inner);
    let mut forward: Vec<DVector<f64>> = Vec::with_capacity(inner);
    let gradients: Vec<DVector<f64>> =
        pieces.windows(2).map(|pair| &pair[0].by_end + &pair[1].by_start).collect();
    for node in 0..inner {
        let mut diagonal = &pieces[node].end_end + &pieces[node + 1].start_start;
        let mut right = -&gradients[node];
        if node > 0 {
            // The coupling to the node before was taken out of this one's equations.
            let coupling = &pieces[node].start_end;
            let factor: &nalgebra::Cholesky<f64, nalgebra::Dyn> = &factors[node - 1];
            diagonal -= coupling.tr_mul(&factor.solve(coupling));
            right -= coupling.tr_mul(&factor.solve(&forward[node - 1]));
        }
        factors.push(nalgebra::Cholesky::new(0.5 * (&diagonal + diagonal.transpose()))?);
        forward.push(right);
    }
    let mut directions = vec![DVector::zeros(0); inner];
    for node in (0..inner).rev() {
        let mut right = forward[node].clone();
        if node + 1 < inner {
            right -= &pieces[node + 1].start_end * &directions[node + 1];
        }
        directions[node] = factors[node].solve(&right);
    }
    let decrease = gradients.iter().zip(&directions).map(|(g, d)| -g.dot(d)).sum();
    Some(Step { directions, decrease })
}

/// ∫₀ˡ f by the double exponential rule with 2n + 1 points; f is given the distances from both ends.
fn tanh_sinh(length: f64, n: i32, f: impl Fn(f64, f64) -> f64) -> f64 {
    use std::f64::consts::FRAC_PI_2;
    const REACH: f64 = 4.0;
    let step = REACH / f64::from(n);
    let terms = (-n..=n).map(|k| {
        let t = f64::from(k) * step;
        let inner = FRAC_PI_2 * t.sinh();
        // The share of the way behind and ahead: (1 ± tanh)/2 without cancellation.
        let behind = 1.0 / (1.0 + (-2.0 * inner).exp());
        let ahead = 1.0 / (1.0 + (2.0 * inner).exp());
        let weight = FRAC_PI_2 * t.cosh() / inner.cosh().powi(2) / 2.0;
        let value = weight * f(length * behind, length * ahead);
        // Beyond what can be told from an end there is nothing to add.
        if value.is_finite() { value } else { 0.0 }
    });
    length * step * terms.sum::<f64>()
}
