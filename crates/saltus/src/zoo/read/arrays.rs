//! Arrays of numpy: `.npy` files and the archives of them, `.npz`.

use super::ALWAYS_UNPACKED;
use crate::tensor_file::NamedTensors;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

const NPY: &[u8] = b"\x93NUMPY";
const ZIP: &[u8] = b"PK\x03\x04";
/// Archives may unpack to so many times their size, or to [`ALWAYS_UNPACKED`] bytes.
const MOST_TIMES: usize = 100;

/// The name of the array of a file that holds one.
pub(super) const ONLY: &str = "array";

pub(super) fn is_numpy(bytes: &[u8]) -> bool {
    bytes.starts_with(NPY) || bytes.starts_with(ZIP)
}

/// Arrays by name; of those that are not read, such as labels, the reason, which matters where they are asked for.
pub(super) struct Arrays<'b>(BTreeMap<String, Result<Array<'b>, String>>);

/// One array; its numbers stay as they are in the file until they are asked for.
pub(super) struct Array<'b> {
    kind: Kind,
    bytes: Cow<'b, [u8]>,
    pub(super) shape: Vec<usize>,
    /// How far each index moves.
    strides: Vec<usize>,
}

/// The type of numbers, and how many bytes each takes.
#[derive(Clone, Copy)]
struct Kind {
    letter: u8,
    size: usize,
    is_big: bool,
}

impl Kind {
    fn of(words: &str) -> Result<Self, String> {
        let unknown = || format!("holds numbers of type '{words}', which are not read");
        let (order, letter, size) = match words.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), letter, size] => (*order, *letter, *size),
            _ => return Err(unknown()),
        };
        let size = usize::from(size.wrapping_sub(b'0'));
        let known =
            matches!((letter, size), (b'f', 2 | 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1));
        if known { Ok(Self { letter, size, is_big: order == b'>' }) } else { Err(unknown()) }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        let bits = match self.is_big {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        };
        match (self.letter, self.size) {
            (b'f', 2) => f64::from(crate::tensor_file::half_to_single(bits as u16)),
            (b'f', 4) => f64::from(f32::from_bits(bits as u32)),
            (b'f', _) => f64::from_bits(bits),
            (b'i', 1) => f64::from(bits as i8),
            (b'i', 2) => f64::from(bits as i16),
            (b'i', 4) => f64::from(bits as i32),
            (b'i', _) => bits as i64 as f64,
            _ => bits as f64,
        }
    }
}

impl<'b> Array<'b> {
    /// The array in the bytes of a file: a mark, a version, the length of a header, the header as Python would write
    /// it, and the numbers.
    fn new(bytes: Cow<'b, [u8]>) -> Result<Self, String> {
        let whole = bytes.strip_prefix(NPY).ok_or("is no array of numpy")?;
        let (length, rest) = match whole {
            [1, _, low, high, rest @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => {
                (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest)
            }
            _ => return Err("is an array of numpy of an unknown version".to_owned()),
        };
        let (header, data) = rest.split_at_checked(length).ok_or("ends within its header")?;
        let header = std::str::from_utf8(header).map_err(|_| "has a header that is not text")?;
        let kind = Kind::of(entry(header, "descr")?.trim_matches(['\'', '"']))?;
        let shape = shape_of(entry(header, "shape")?)?;
        let count = shape.iter().try_fold(1usize, |all, length| all.checked_mul(*length));
        let size = count.and_then(|count| count.checked_mul(kind.size));
        if size.is_none_or(|size| size > data.len()) {
            return Err(format!("announces an array of shape {shape:?}, which it does not hold"));
        }
        let is_fortran = entry(header, "fortran_order")?.starts_with("True");
        let mut strides = vec![1; shape.len()];
        let mut step = 1usize;
        for at in 0..shape.len() {
            let at = if is_fortran { at } else { shape.len() - 1 - at };
            strides[at] = step;
            // Of an array without numbers lengths may be anything.
            step = step.wrapping_mul(shape[at]);
        }
        let start = bytes.len() - data.len();
        let bytes = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[start..]),
            Cow::Owned(mut bytes) => {
                bytes.drain(..start);
                Cow::Owned(bytes)
            }
        };
        Ok(Self { kind, bytes, shape, strides })
    }

    /// The number at some indices.
    pub(super) fn at(&self, indices: &[usize]) -> f64 {
        let place: usize =
            indices.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
        self.nth(place)
    }

    /// A number of an array of one index, or of more of which all but one have one value.
    pub(super) fn nth(&self, at: usize) -> f64 {
        self.kind.number(&self.bytes[at * self.kind.size..][..self.kind.size])
    }

    /// All numbers, the last index fastest.
    fn numbers(&self) -> Vec<f32> {
        let count: usize = self.shape.iter().product();
        let mut indices = vec![0; self.shape.len()];
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(self.at(&indices) as f32);
            for at in (0..indices.len()).rev() {
                indices[at] += 1;
                if indices[at] < self.shape[at] {
                    break;
                }
                indices[at] = 0;
            }
        }
        numbers
    }
}

/// What stands behind a key of a header, up to the comma that ends it.
fn entry<'t>(header: &'t str, key: &str) -> Result<&'t str, String> {
    let missing = || format!("has a header without '{key}'");
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let found = quoted.iter().find_map(|key| header.split_once(key.as_str()));
    let value = found.ok_or_else(missing)?.1.trim_start().strip_prefix(':').ok_or_else(missing)?;
    let value = value.trim_start();
    let end = match value.starts_with('(') {
        true => value.find(')').map(|end| end + 1),
        false => value.find([',', '}']),
    };
    Ok(value[..end.ok_or_else(missing)?].trim())
}

fn shape_of(words: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("has a header whose shape is '{words}'");
    let inner = words.strip_prefix('(').and_then(|words| words.strip_suffix(')'));
    let lengths =
        inner.ok_or_else(wrong)?.split(',').map(str::trim).filter(|word| !word.is_empty());
    let lengths = lengths.map(|word| word.trim_end_matches('L').parse().map_err(|_| wrong()));
    lengths.collect()
}

impl<'b> Arrays<'b> {
    /// The arrays in the bytes of a file.
    pub(super) fn new(bytes: &'b [u8]) -> Result<Self, String> {
        if bytes.starts_with(NPY) {
            let array = Array::new(bytes.into())?;
            return Ok(Self(BTreeMap::from([(ONLY.to_owned(), Ok(array))])));
        }
        let broken = |error: &dyn std::fmt::Display| format!("is not a whole archive: {error}");
        let mut archive =
            zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
        let mut arrays = BTreeMap::new();
        let mut left = bytes.len().saturating_mul(MOST_TIMES).max(ALWAYS_UNPACKED as usize);
        for number in 0..archive.len() {
            let file = archive.by_index(number).map_err(|error| broken(&error))?;
            let name = file.name().map_err(|error| broken(&error))?.into_owned();
            let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
            let mut content = Vec::new();
            file.take(left as u64 + 1).read_to_end(&mut content).map_err(|error| broken(&error))?;
            left = left.checked_sub(content.len()).ok_or_else(|| {
                format!("unpacks to more than {MOST_TIMES} times its size, which is not believed")
            })?;
            let array = Array::new(content.into()).map_err(|reason| format!("{name}: {reason}"));
            arrays.insert(name, array);
        }
        Ok(Self(arrays))
    }

    /// The first array of these names that is there, and its name.
    pub(super) fn first(&self, names: &[&str]) -> Result<Option<(&str, &Array<'b>)>, String> {
        let found = names.iter().find_map(|name| self.0.get_key_value(*name));
        let Some((name, array)) = found else { return Ok(None) };
        Ok(Some((name, array.as_ref().map_err(String::clone)?)))
    }

    /// The array of that name, which must be there.
    pub(super) fn named(&self, name: &str) -> Result<&Array<'b>, String> {
        let missing = || format!("has no array {name}; it has {}", self.names().join(", "));
        self.0.get(name).ok_or_else(missing)?.as_ref().map_err(String::clone)
    }
}

impl NamedTensors for Arrays<'_> {
    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    fn floats(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>), String> {
        let array = self.named(name)?;
        Ok((array.numbers(), array.shape.clone()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file as numpy writes it.
    pub(in crate::zoo::read) fn npy(descr: &str, order: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if order { "True" } else { "False" };
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while !(NPY.len() + 4 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let length = (header.len() as u16).to_le_bytes();
        [NPY, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn numbers_of_every_type_and_order() {
        let read = |bytes: &[u8]| {
            let arrays = Arrays::new(bytes).unwrap();
            arrays.floats(ONLY).unwrap()
        };
        let doubles: Vec<u8> = [1.5f64, -2.0, 3.0, 4.0, 5.0, 6.25]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        let (numbers, shape) = read(&npy("<f8", false, "(2, 3)", &doubles));
        assert_eq!((numbers, shape), (vec![1.5, -2.0, 3.0, 4.0, 5.0, 6.25], vec![2, 3]));
        // Columns first: the same bytes are other numbers.
        let (numbers, _) = read(&npy("<f8", true, "(2, 3)", &doubles));
        assert_eq!(numbers, [1.5, 3.0, 5.0, -2.0, 4.0, 6.25]);
        assert_eq!(read(&npy(">i2", false, "(2,)", &[0xff, 0xfe, 0, 3])).0, [-2.0, 3.0]);
        assert_eq!(read(&npy("|b1", false, "(2,)", &[0, 1])).0, [0.0, 1.0]);
        assert_eq!(read(&npy("<f2", false, "()", &[0, 0x3c])), (vec![1.0], vec![]));
    }

    #[test]
    fn what_is_broken_is_refused() {
        let reason = |bytes: &[u8]| Arrays::new(bytes).err().unwrap();
        assert!(
            reason(&npy("<f8", false, "(99999999, 99999999)", &[0; 8])).contains("does not hold")
        );
        assert!(reason(&npy("<c8", false, "(1,)", &[0; 8])).contains("'<c8'"));
        assert!(reason(&npy("<f8", false, "(a)", &[])).contains("shape is '(a)'"));
        assert!(reason(b"\x93NUMPY\x09\x00").contains("unknown version"));
        assert!(reason(b"PK\x03\x04 and no more").contains("whole archive"));
        let whole = npy("<f8", false, "(1,)", &[0; 8]);
        (0..whole.len()).for_each(|length| drop(reason(&whole[..length])));
    }
}
