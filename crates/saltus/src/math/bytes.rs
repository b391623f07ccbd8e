//! Sums over rows of bytes, a whole register of them to an instruction.

use super::vectorised;

/// Bytes added up side by side.
const LANES: usize = 256;
/// The same where less is left.
const FEW: usize = 32;
/// Ones that a byte can take before it overflows.
const MOST: usize = 255;

/// Number of places at which two rows differ; the longer one's rest does not count.
pub fn count_differences(a: &[u8], b: &[u8]) -> u32 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    vectorised(
        #[inline(always)]
        || {
            // In chunks of lengths that the compiler knows, so that counts stay in registers.
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            let many = a.chunks(MOST).zip(b.chunks(MOST)).map(|(a, b)| count(a, b)).sum::<u32>();
            let ((a, a_rest), (b, b_rest)) = (a_rest.as_chunks::<FEW>(), b_rest.as_chunks::<FEW>());
            let last = a_rest.iter().zip(b_rest).map(|(a, b)| u32::from(a != b)).sum::<u32>();
            many + count(a, b) + last
        },
    )
}

/// The same of at most 255 whole chunks, added up in bytes.
#[inline(always)]
fn count<const N: usize>(a: &[[u8; N]], b: &[[u8; N]]) -> u32 {
    let mut ones = [0u8; N];
    for (a, b) in a.iter().zip(b) {
        for place in 0..N {
            ones[place] += u8::from(a[place] != b[place]);
        }
    }
    add_up(&ones)
}

/// The sum of at most 256 bytes.
#[inline(always)]
fn add_up(bytes: &[u8]) -> u32 {
    let mut sums = [0u16; FEW];
    for bytes in bytes.as_chunks::<FEW>().0 {
        for place in 0..FEW {
            sums[place] += u16::from(bytes[place]);
        }
    }
    sums.iter().map(|sum| u32::from(*sum)).sum()
}

/// Number of bytes that are not zero.
pub fn count_nonzero(bytes: &[u8]) -> u32 {
    vectorised(
        #[inline(always)]
        || {
            let (many, rest) = bytes.as_chunks::<LANES>();
            let (few, rest) = rest.as_chunks::<FEW>();
            let last = rest.iter().map(|byte| u32::from(*byte != 0)).sum::<u32>();
            many.chunks(MOST).map(nonzero).sum::<u32>() + nonzero(few) + last
        },
    )
}

/// The same of at most 255 whole chunks.
#[inline(always)]
fn nonzero<const N: usize>(chunks: &[[u8; N]]) -> u32 {
    let mut ones = [0u8; N];
    for bytes in chunks {
        for place in 0..N {
            ones[place] += u8::from(bytes[place] != 0);
        }
    }
    add_up(&ones)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_counted_at_every_length() {
        for length in [0, 1, 255, 256, 257, 2500, 70_000, 150_001] {
            let a: Vec<u8> = (0..length).map(|i| (i * 7 % 5) as u8).collect();
            let b: Vec<u8> = (0..length).map(|i| (i * 3 % 11) as u8).collect();
            let differ = a.iter().zip(&b).filter(|(a, b)| a != b).count();
            assert_eq!(count_differences(&a, &b) as usize, differ);
            assert_eq!(count_differences(&a, &a), 0);
            assert_eq!(count_nonzero(&a) as usize, a.iter().filter(|a| **a != 0).count());
        }
        // Everything differs, so many times that bytes would overflow.
        assert_eq!(count_differences(&[1; 300_000], &[2; 300_000]), 300_000);
        assert_eq!(count_nonzero(&[1; 300_000]), 300_000);
    }
}
