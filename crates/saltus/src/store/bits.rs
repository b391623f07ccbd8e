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
        packed.extend(state.chunks(8).map(|sites| {
            let byte = sites.iter().fold(0, |byte, value| byte << 1 | value);
            byte << (8 - sites.len())
        }));
    }
    packed
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
