//! Logarithms of products Π (a·b + c·d) over long rows, vectorised and the same on every machine.

use pulp::Simd;

/// Rows must be whole steps of this many entries: the running products fill two registers of AVX2.
pub(crate) const STEP: usize = 16;

/// log Π (a·b + c·d), taking a logarithm after every `group` factors.
///
/// The products within a group must fit in single precision; `group` is a whole number of steps,
/// and a step is `VECTORS` registers.
#[inline(always)]
pub(crate) fn log_product<'a, S: Simd, const VECTORS: usize>(
    simd: S,
    [a, b, c, d]: [&'a [f32]; 4],
    group: usize,
) -> f64 {
    let length = a.len();
    let (mut total, mut start) = (0.0, 0);
    while start < length {
        let end = length.min(start + group);
        let steps = |row: &'a [f32]| {
            let (registers, _) = S::as_simd_f32s(&row[start..end]);
            registers.as_chunks::<VECTORS>().0.iter()
        };
        let mut products = [simd.splat_f32s(1.0); VECTORS];
        for (((a, b), c), d) in steps(a).zip(steps(b)).zip(steps(c)).zip(steps(d)) {
            for vector in 0..VECTORS {
                let first = simd.mul_f32s(a[vector], b[vector]);
                let second = simd.mul_f32s(c[vector], d[vector]);
                products[vector] = simd.mul_f32s(products[vector], simd.add_f32s(first, second));
            }
        }
        // Halved again and again, so that the order does not depend on the size of a register.
        let mut lanes = [0.0f32; STEP];
        lanes.copy_from_slice(pulp::bytemuck::cast_slice(&products));
        let mut width = STEP / 2;
        while width > 0 {
            for lane in 0..width {
                lanes[lane] *= lanes[lane + width];
            }
            width /= 2;
        }
        total += f64::from(super::ln(lanes[0]));
        start = end;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Call<'a>([&'a [f32]; 4], usize);

    impl pulp::WithSimd for Call<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            match S::F32_LANES {
                16 => log_product::<S, 1>(simd, self.0, self.1),
                8 => log_product::<S, 2>(simd, self.0, self.1),
                4 => log_product::<S, 4>(simd, self.0, self.1),
                2 => log_product::<S, 8>(simd, self.0, self.1),
                _ => log_product::<S, 16>(simd, self.0, self.1),
            }
        }
    }

    #[test]
    fn a_product_of_mixtures_is_accurate_and_the_same_without_vectors() {
        let row = |seed: usize| -> Vec<f32> {
            (0..208).map(|i| 0.4 + ((i * seed) % 97) as f32 / 97.0).collect()
        };
        let rows = [row(31), row(17), row(53), row(29)];
        let exact: f64 = (0..208)
            .map(|i| {
                let [a, b, c, d] = [0, 1, 2, 3].map(|row| f64::from(rows[row][i]));
                (a * b + c * d).ln()
            })
            .sum();
        for group in [16, 48, 208] {
            let call = || Call([0, 1, 2, 3].map(|row: usize| &rows[row][..]), group);
            let found = pulp::Arch::new().dispatch(call());
            assert!((found - exact).abs() < 2e-5, "{found} {exact}");
            assert_eq!(found, pulp::Arch::Scalar.dispatch(call()));
        }
    }
}
