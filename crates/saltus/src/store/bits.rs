//! States of two values, eight sites to a byte; the first site is the highest bit, as
//! `numpy.packbits` has it.

/// Bytes that a state takes.
pub(super) fn bytes(sites: usize) -> usize {
    sites.div_ceil(8)
}

/// Packs rows of that many sites.
pub(super) fn pack(states: &[u8], sites: usize) -> Vec<u8> {
    let mut packed = Vec::with_capacity(states.len() / sites * bytes(sites));
    for state in states.chunks_exact(sites) {
        let (eights, rest) = state.as_chunks::<8>();
        packed.extend(eights.iter().map(|eight| byte(*eight)));
        if !rest.is_empty() {
            let mut eight = [0; 8];
            eight[..rest.len()].copy_from_slice(rest);
            packed.push(byte(eight));
        }
    }
    packed
}

/// Eight sites as a byte: the factor moves the lowest bit of every byte to the top, the first byte's highest.
#[inline(always)]
fn byte(sites: [u8; 8]) -> u8 {
    (u64::from_be_bytes(sites).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The rows again.
pub(super) fn unpack(packed: &[u8], sites: usize) -> Vec<u8> {
    let mut states = Vec::with_capacity(packed.len() * 8);
    for row in packed.chunks_exact(bytes(sites)) {
        states.extend((0..sites).map(|site| row[site / 8] >> (7 - site % 8) & 1));
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_numpy() {
        // numpy.packbits([1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1]) is [129, 96].
        let state = [1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1];
        assert_eq!(pack(&state, 11), [129, 96]);
        assert_eq!(unpack(&[129, 96], 11), state);
    }

    #[test]
    fn rows_begin_at_bytes() {
        for sites in [1, 7, 8, 9, 64] {
            let states: Vec<u8> = (0..5 * sites).map(|n| u8::from(n % 3 == 1)).collect();
            let packed = pack(&states, sites);
            assert_eq!(packed.len(), 5 * bytes(sites));
            assert_eq!(unpack(&packed, sites), states);
        }
    }
}
