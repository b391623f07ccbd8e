//! Rows for √t and 1 + t: the resolvent (z − Q)⁻¹ in closed form, inverted along Talbot's contour.
//!
//! A matrix exponential is the inverse Laplace transform of the resolvent. Along this contour
//! (the cotangent one of Dingfelder and Weideman, with their constants) it is a sum over a dozen
//! complex numbers, whatever the number of values and however large the rates.

use super::RowWork;
use std::f64::consts::PI;

/// The contour, as points on its upper half.
#[derive(Clone, Debug)]
pub(super) struct Contour(Vec<Node>);

/// A point of the contour and its weight.
#[derive(Clone, Copy, Debug)]
struct Node {
    point: Complex,
    weight: Complex,
}

#[derive(Clone, Copy, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    fn times(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }

    fn scaled(self, factor: f64) -> Self {
        Self::new(factor * self.re, factor * self.im)
    }

    fn plus(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }

    fn inverse(self) -> Self {
        let square = self.re * self.re + self.im * self.im;
        Self::new(self.re / square, -self.im / square)
    }
}

impl Contour {
    /// ζ_k and e^ζ_k·ζ′_k/i·2/N for time 1, N twice the number of points.
    pub(super) fn new(points: usize) -> Self {
        let n = 2.0 * points as f64;
        let node = |k: usize| {
            let angle = (2.0 * k as f64 + 1.0) * PI / n;
            let inner = 0.6407 * angle;
            let (sine, cotangent) = (inner.sin(), inner.tan().recip());
            let point = Complex::new(n * (0.5017 * angle * cotangent - 0.6122), n * 0.2645 * angle);
            let real = 0.5017 * cotangent - 0.5017 * inner / (sine * sine);
            let slope = Complex::new(n * real, n * 0.2645);
            let size = point.re.exp();
            let power = Complex::new(size * point.im.cos(), size * point.im.sin());
            // Divided by i.
            let weight = power.times(slope).times(Complex::new(0.0, -1.0)).scaled(2.0 / n);
            Node { point, weight }
        };
        Self((0..points).map(node).collect())
    }
}

/// g = √t. With s = √ν and Z = Σs, the resolvent off the diagonal is
/// Z·sⱼ²/(z(Z + z·sᵢ)(Z + z·sⱼ)·G(z)), G = Σ s²/(Z + z·s).
pub(in crate::balancing) fn square_root(work: RowWork<'_>, row: &mut [f64]) {
    let RowWork { contour, nu, current, h, one: re, two: im, .. } = work;
    let z: f64 = nu.iter().map(|nu| nu.sqrt()).sum();
    let root = nu[current].sqrt();
    row.fill(0.0);
    for node in &contour.0 {
        let point = node.point.scaled(1.0 / h);
        // 1/(Z + z·s) of every value.
        re.clear();
        im.clear();
        let mut g = Complex::new(0.0, 0.0);
        for nu in nu {
            let s = nu.sqrt();
            let inverse = Complex::new(z + point.re * s, point.im * s).inverse();
            g = g.plus(inverse.scaled(*nu));
            re.push(inverse.re);
            im.push(inverse.im);
        }
        let own = Complex::new(z + point.re * root, point.im * root);
        let factor = node.weight.times(point.times(own).times(g).inverse()).scaled(z / h);
        for (value, entry) in row.iter_mut().enumerate() {
            *entry += nu[value] * (factor.re * re[value] - factor.im * im[value]);
        }
    }
    row[current] += (-h * z / root).exp();
}

/// g = 1 + t. With β = 1/(1 + ν(z + C)), B = Σ ν²β and E = Σ β, the resolvent off the diagonal is
/// νⱼβᵢβⱼ·(1 + (z + C)(νᵢ + νⱼ) + νᵢνⱼE/B)/z.
pub(in crate::balancing) fn sum(work: RowWork<'_>, row: &mut [f64]) {
    let RowWork { contour, nu, current, h, one: re, two: im, .. } = work;
    let count = nu.len() as f64;
    let own = nu[current];
    row.fill(0.0);
    for node in &contour.0 {
        let point = node.point.scaled(1.0 / h);
        let shifted = point.plus(Complex::new(count, 0.0));
        re.clear();
        im.clear();
        let (mut b, mut e) = (Complex::new(0.0, 0.0), Complex::new(0.0, 0.0));
        for nu in nu {
            let beta = Complex::new(1.0 + nu * shifted.re, nu * shifted.im).inverse();
            b = b.plus(beta.scaled(nu * nu));
            e = e.plus(beta);
            re.push(beta.re);
            im.push(beta.im);
        }
        let beta = Complex::new(re[current], im[current]);
        let ratio = e.times(b.inverse());
        let factor = node.weight.times(beta).times(point.inverse()).scaled(1.0 / h);
        for (value, entry) in row.iter_mut().enumerate() {
            let other = nu[value];
            let bracket = Complex::new(1.0, 0.0)
                .plus(shifted.scaled(own + other))
                .plus(ratio.scaled(own * other));
            let term = factor.times(Complex::new(re[value], im[value])).times(bracket);
            *entry += other * term.re;
        }
    }
    row[current] += (-h * (count + 1.0 / own)).exp();
}
