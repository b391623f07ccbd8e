//! Bytes of zero or one as bits, and walks through those that are set.

/// Sixty-four bytes of zero or one as the bits of a word.
#[inline(always)]
pub(crate) fn pack(bytes: &[u8; 64]) -> u64 {
    let mut bits = 0;
    for (number, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // The factor moves the lowest bit of byte k to bit 56 + k; nothing else gets there.
        let packed = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= packed << (8 * number);
    }
    bits
}

/// The places of the bits that are set, lowest first.
#[inline(always)]
pub(crate) fn for_each_set(mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_are_found_where_they_were() {
        for seed in 0..50u64 {
            let ones = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(seed + 1).rotate_left(seed as u32);
            let bytes: [u8; 64] = std::array::from_fn(|place| (ones >> place & 1) as u8);
            assert_eq!(pack(&bytes), ones);
            let mut found = 0;
            for_each_set(ones, |place| found |= 1u64 << place);
            assert_eq!(found, ones);
        }
        assert_eq!(pack(&[1; 64]), u64::MAX);
    }
}
