//! The statements about the flow that its theory makes, each as a test.

use super::conductance::{exponential_mean, logarithmic_mean};
use super::*;
use saltus::rng::{ChainRng, Stream};

const TARGET: [f64; 4] = [0.4, 0.05, 0.25, 0.3];
const START: [f64; 4] = [0.1, 0.5, 0.15, 0.25];

fn graphs() -> [Graph; 3] {
    let triangle = vec![(0, 1, 0.5), (1, 2, 2.0), (2, 3, 1.3), (0, 2, 0.7)];
    [Graph::Complete, Graph::Path, Graph::Edges(triangle)]
}

/// Every graph and weight function.
fn flows() -> Vec<Flow> {
    let pairs = graphs().into_iter().flat_map(|graph| Balancing::ALL.map(|w| (graph.clone(), w)));
    pairs.map(|(graph, weight)| Flow::new(&TARGET, &graph, weight).unwrap()).collect()
}

fn close(one: &[f64], other: &[f64], tolerance: f64) {
    for (one, other) in one.iter().zip(other) {
        assert!((one - other).abs() <= tolerance, "{one} is not {other}");
    }
}

#[test]
fn conductance_is_a_symmetric_logarithmic_mean() {
    assert_eq!(logarithmic_mean(0.3, 0.3), 0.3);
    assert_eq!(logarithmic_mean(0.0, 0.3), 0.0);
    assert!((logarithmic_mean(2.0, 1.0) - 1.0 / 2f64.ln()).abs() < 1e-15);
    // Between the geometric and the arithmetic mean, also for nearly equal numbers.
    for ratio in [1.0 + 1e-12, 1.001, 1.5, 40.0, 1e9] {
        let mean = logarithmic_mean(ratio, 1.0);
        assert!(
            mean >= ratio.sqrt() * (1.0 - 1e-14) && mean <= 0.5 * (1.0 + ratio) * (1.0 + 1e-14)
        );
    }
    for flow in flows() {
        let c = flow.conductance(&START);
        let psi = flow.potential(&START);
        for i in 0..4 {
            for j in (0..4).filter(|j| *j != i) {
                assert!(c[(i, j)] >= 0.0 && (c[(i, j)] - c[(j, i)]).abs() < 1e-15);
                // log m_ij − log m_ji = ψᵢ − ψⱼ because g is locally balanced.
                if flow.neighbours()[(i, j)] > 0.0 {
                    let m = |i: usize, j: usize| (START[i] * flow.rates()[(i, j)]).ln();
                    assert!((m(i, j) - m(j, i) - (psi[i] - psi[j])).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn derivatives_of_the_mean_are_derivatives() {
    for u in [-3.0, -0.6, -0.4, 1e-9, 0.3, 0.49, 0.51, 2.0, 9.0] {
        let h = 1e-5;
        let (below, at, above) =
            (exponential_mean(u - h), exponential_mean(u), exponential_mean(u + h));
        for order in 0..2 {
            let slope = (above[order] - below[order]) / (2.0 * h);
            assert!((slope - at[order + 1]).abs() < 1e-8 * at[order + 1].abs(), "{u}: {order}");
        }
    }
}

#[test]
fn both_forms_of_the_velocity_agree() {
    for flow in flows() {
        close(&flow.gradient_velocity(&START), &flow.velocity(&START), 1e-12);
        // Mass is conserved, and the target stays.
        assert!(flow.velocity(&START).iter().sum::<f64>().abs() < 1e-14);
        close(&flow.velocity(&TARGET), &[0.0; 4], 1e-14);
    }
}

#[test]
fn the_flow_is_reversible_at_every_time() {
    for flow in flows() {
        let semigroup = flow.semigroup();
        let row = |state: usize, time: f64| {
            let mut start = [0.0; 4];
            start[state] = 1.0;
            semigroup.at(&start, time)
        };
        for time in [0.0, 0.3, 2.0, 1e6] {
            for i in 0..4 {
                for j in 0..4 {
                    assert!(
                        (TARGET[i] * row(i, time)[j] - TARGET[j] * row(j, time)[i]).abs() < 1e-13
                    );
                }
            }
        }
        close(&semigroup.at(&TARGET, 0.7), &TARGET, 1e-14);
        close(&row(1, 1e6), &TARGET, 1e-12);
    }
}

#[test]
fn three_ways_through_time_agree() {
    for flow in flows() {
        let times = [0.1, 0.5, 0.5, 2.0];
        let semigroup = flow.semigroup();
        let integrated = flow.integrate(&START, &times).unwrap();
        for (time, integrated) in times.iter().zip(&integrated) {
            let exact = semigroup.at(&START, *time);
            close(integrated, &exact, 1e-9);
            // A dense exponential by scaling and squaring knows nothing of eigenvalues.
            let dense = (flow.rates() * *time).exp();
            let rho = nalgebra::RowDVector::from_row_slice(&START) * dense;
            close(rho.as_slice(), &exact, 1e-12);
        }
    }
    // From the rim of the simplex, too.
    let flow = Flow::new(&TARGET, &Graph::Path, Balancing::Sqrt).unwrap();
    let start = [0.0, 0.0, 0.0, 1.0];
    let integrated = flow.integrate(&start, &[0.4]).unwrap();
    close(&integrated[0], &flow.semigroup().at(&start, 0.4), 1e-9);
    assert!(flow.integrate(&START, &[1.0, 0.5]).is_err());
}

#[test]
fn the_divergence_falls_by_what_is_dissipated() {
    for flow in flows() {
        let semigroup = flow.semigroup();
        let divergence = |time: f64| flow.divergence(&semigroup.at(&START, time));
        let mut last = f64::INFINITY;
        for time in [0.0, 0.05, 0.2, 0.6, 1.5] {
            let (rho, h) = (semigroup.at(&START, time), 1e-5);
            let slope = (divergence(time + h) - divergence((time - h).max(0.0)))
                / if time > 0.0 { 2.0 * h } else { h };
            let lost = flow.dissipation(&rho);
            let tolerance = if time > 0.0 { 1e-6 } else { 1e-3 };
            // Rounding of the divergence, over the difference of times.
            let rounding = 1e-15 / h;
            assert!((slope + lost).abs() < tolerance * lost + rounding, "{slope} {lost}");
            // The same from the conductances.
            let (c, psi) = (flow.conductance(&rho), flow.potential(&rho));
            let pairs = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
            let sum: f64 = pairs.map(|(i, j)| c[(i, j)] * (psi[i] - psi[j]).powi(2)).sum();
            // Differences of size √lost are taken between numbers of size one.
            assert!((0.5 * sum - lost).abs() < 1e-12 * lost + 1e-14 * lost.sqrt());
            assert!(flow.divergence(&rho) < last);
            last = flow.divergence(&rho);
        }
        assert!(flow.dissipation(&TARGET).abs() < 1e-15 && flow.divergence(&TARGET) < 1e-15);
    }
}

#[test]
fn in_the_end_the_divergence_falls_with_twice_the_gap() {
    for flow in flows() {
        let semigroup = flow.semigroup();
        let gap = semigroup.spectral_gap();
        let divergence = |time: f64| flow.divergence(&semigroup.at(&START, time));
        // Late enough for the slowest deviation to be alone, early enough to be above rounding.
        let (one, other) = (14.0 / gap, 15.0 / gap);
        let rate = (divergence(one) / divergence(other)).ln() / (other - one);
        assert!((rate / (2.0 * gap) - 1.0).abs() < 0.03, "{rate} {gap}");
    }
}

#[test]
fn the_free_energy_is_the_divergence_without_its_constant() {
    // f = −log of weights that do not sum to one; KL = Σρf + Σρ log ρ + log Z.
    let weights = [2.0f64, 0.25, 1.25, 1.5];
    let z: f64 = weights.iter().sum();
    let target: Vec<f64> = weights.iter().map(|weight| weight / z).collect();
    let flow = Flow::new(&target, &Graph::Complete, Balancing::Ratio).unwrap();
    let energy: f64 = START.iter().zip(&weights).map(|(rho, weight)| -rho * weight.ln()).sum();
    let entropy: f64 = START.iter().map(|rho| rho * rho.ln()).sum();
    assert!((energy + entropy + z.ln() - flow.divergence(&START)).abs() < 1e-14);
}

#[test]
fn lengths_are_those_of_the_metric() {
    for flow in flows() {
        let change = [0.1, -0.25, 0.05, 0.1];
        let c = flow.conductance(&START);
        let laplacian = conductance::laplacian(&c);
        // Any potential with LΦ = σ gives the length: here the one whose entries sum to zero.
        let sigma = nalgebra::DVector::from_column_slice(&change);
        let phi = laplacian.add_scalar(1.0).lu().solve(&sigma).unwrap();
        close((&laplacian * &phi).as_slice(), &change, 1e-12);
        let pairs = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
        let sum: f64 = pairs.map(|(i, j)| 0.5 * c[(i, j)] * (phi[i] - phi[j]).powi(2)).sum();
        let length = flow.squared_length(&START, &change).unwrap();
        assert!((length - sum).abs() < 1e-11 * sum, "{length} {sum}");
        // The gradient of KL is L_cψ, and the flow goes down it.
        let psi = nalgebra::DVector::from_vec(flow.potential(&START));
        let gradient = &laplacian * psi;
        close((-gradient).as_slice(), &flow.velocity(&START), 1e-12);
    }
}

#[test]
fn two_states_are_as_far_apart_as_the_integral_says() {
    let golden = [
        (0.5, Balancing::Sqrt, 0.5756413164893677),
        (0.5, Balancing::Ratio, 0.8140797568415669),
        (0.8, Balancing::Sqrt, 0.5407280997742581),
        (0.8, Balancing::Ratio, 0.8549661950707171),
    ];
    for (first, weight, expected) in golden {
        let flow = Flow::new(&[first, 1.0 - first], &Graph::Complete, weight).unwrap();
        let found = flow.distance(&[0.2, 0.8], &[0.6, 0.4]).unwrap();
        assert!((found.value - expected).abs() < 1e-12, "{found:?} {expected}");
        assert_eq!(found, flow.distance(&[0.6, 0.4], &[0.2, 0.8]).unwrap());
    }
}

#[test]
fn more_states_are_measured_by_the_least_action() {
    // Two states that are alike stay alike along the shortest path, and what leaves the first state
    // splits in two: W₂ = ∫ dr/√(2c(r)) with c between the first state and one of the others.
    for weight in Balancing::ALL {
        let target = [0.5, 0.25, 0.25];
        let flow = Flow::new(&target, &Graph::Complete, weight).unwrap();
        let (to, back) = (flow.rates()[(0, 1)], flow.rates()[(1, 0)]);
        let speed =
            |r: f64| (2.0 * logarithmic_mean(r * to, 0.5 * (1.0 - r) * back)).sqrt().recip();
        let steps = 4000;
        let width = 0.4 / f64::from(steps);
        // The midpoint rule, whose error is far below the tolerance.
        let expected: f64 =
            (0..steps).map(|k| speed(0.2 + (f64::from(k) + 0.5) * width)).sum::<f64>() * width;
        let found = flow.distance(&[0.2, 0.4, 0.4], &[0.6, 0.2, 0.2]).unwrap();
        assert!((found.value - expected).abs() < 1e-7, "{weight}: {found:?} {expected}");
    }
    let flow = Flow::new(&[0.5, 0.3, 0.2], &Graph::Complete, Balancing::Sqrt).unwrap();
    let (a, b, c) = ([0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]);
    let distance = |from: &[f64], to: &[f64]| flow.distance(from, to).unwrap();
    // A metric: symmetric, with a triangle inequality.
    assert!((distance(&a, &b).value - distance(&b, &a).value).abs() < 1e-7);
    assert!(distance(&a, &c).value < distance(&a, &b).value + distance(&b, &c).value);
    assert!(distance(&a, &b).error < 1e-6, "{:?}", distance(&a, &b));
    // Near each other it is the length of the change.
    let near = [0.2 + 1e-4, 0.3 - 4e-5, 0.5 - 6e-5];
    let length = flow.squared_length(&a, &[1e-4, -4e-5, -6e-5]).unwrap().sqrt();
    assert!((distance(&a, &near).value / length - 1.0).abs() < 1e-3);
    // Twice the weights make everything √2 closer.
    let edges = vec![(0, 1, 2.0), (1, 2, 2.0), (0, 2, 2.0)];
    let heavier = Flow::new(&[0.5, 0.3, 0.2], &Graph::Edges(edges), Balancing::Sqrt).unwrap();
    let ratio = distance(&a, &b).value / heavier.distance(&a, &b).unwrap().value;
    assert!((ratio - 2f64.sqrt()).abs() < 1e-6, "{ratio}");
    // No longer than the way of the flow itself, which is one path between the two.
    let semigroup = flow.semigroup();
    let speed = |time: f64| flow.dissipation(&semigroup.at(&a, time)).sqrt();
    let steps = 2000;
    let end = 3.0;
    let travelled: f64 =
        (0..steps).map(|k| speed((f64::from(k) + 0.5) * end / f64::from(steps))).sum::<f64>() * end
            / f64::from(steps);
    assert!(distance(&a, &semigroup.at(&a, end)).value <= travelled + 1e-6);
    // From corner to corner it is finite.
    let corner = distance(&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]);
    assert!(
        corner.value.is_finite() && corner.value > distance(&a, &b).value && corner.error < 0.05
    );
}

#[test]
fn particles_follow_the_law_of_the_flow() {
    let flow = Flow::new(
        &TARGET,
        &Graph::Edges(vec![(0, 1, 0.5), (1, 2, 2.0), (2, 3, 1.3)]),
        Balancing::Ratio,
    )
    .unwrap();
    let times = [0.2, 1.0, 4.0];
    let particles = 200_000;
    let mut rng = ChainRng::new(7, Stream::Model);
    let counted = flow.simulate(&START, &times, particles, &mut rng);
    for (time, counted) in times.iter().zip(counted) {
        for (share, p) in counted.iter().zip(flow.semigroup().at(&START, *time)) {
            let deviation = (p * (1.0 - p) / particles as f64).sqrt();
            assert!((share - p).abs() < 5.0 * deviation, "{share} {p} at {time}");
        }
    }
}

#[test]
fn the_first_jump_is_the_proposal_of_one_site() {
    // From i: an exponential time of rate −Qᵢᵢ, then j with probability Q_ij/(−Qᵢᵢ).
    let flow = Flow::new(&TARGET, &Graph::Complete, Balancing::Sqrt).unwrap();
    let mut rng = ChainRng::new(3, Stream::Model);
    let (draws, from) = (100_000, 2);
    let mut counts = [0.0; 4];
    let mut time = 0.0;
    for _ in 0..draws {
        time += flow.holding_time(from, &mut rng) / f64::from(draws);
        counts[flow.jump(from, &mut rng)] += 1.0 / f64::from(draws);
    }
    let rate = -flow.rates()[(from, from)];
    assert!((time * rate - 1.0).abs() < 5.0 / f64::from(draws).sqrt());
    for to in (0..4).filter(|to| *to != from) {
        let p = (TARGET[to] / TARGET[from]).sqrt() / rate;
        assert!((counts[to] - p).abs() < 5.0 * (p / f64::from(draws)).sqrt());
    }
    assert_eq!(counts[from], 0.0);
}

#[test]
fn what_is_no_flow_is_refused_in_a_sentence() {
    let refused = |target: &[f64], graph: Graph| {
        Flow::new(target, &graph, Balancing::Sqrt).unwrap_err().to_string()
    };
    assert!(refused(&[0.5, 0.6], Graph::Complete).contains("sums to 1.1, not to 1"));
    assert!(refused(&[1.0], Graph::Complete).contains("at least two states"));
    assert!(refused(&[0.5, f64::NAN], Graph::Complete).contains("NaN"));
    assert!(refused(&[1.5, -0.5], Graph::Complete).contains("-0.5"));
    assert!(refused(&[0.5, 0.5, 0.0], Graph::Path).contains("probability 0 at state 2"));
    assert!(refused(&[0.5, 0.5], Graph::Edges(vec![(0, 2, 1.0)])).contains("there are 2"));
    assert!(refused(&[0.5, 0.5], Graph::Edges(vec![(0, 1, -1.0)])).contains("positive weight"));
    assert!(refused(&[0.5, 0.5], Graph::Edges(vec![])).contains("does not lead from state 0"));
    // A third is a third.
    assert_eq!(distribution("x", &[0.333, 0.333, 0.333]).unwrap(), [1.0 / 3.0; 3]);
}
