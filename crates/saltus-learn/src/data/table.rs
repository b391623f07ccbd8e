//! Examples in one file: images (IDX), arrays (NPY, NPZ) or rows of numbers (CSV, text).

use super::parts::{Parts, Values, is_bits};
use super::{Binarisation, Coding, DataError, Examples, Split, read_images};
use saltus::Space;
use std::io::{Cursor, Read};
use std::path::Path;

/// Names under which an array of examples is looked for in an NPZ file of several.
const NAMES: [&str; 5] = ["states", "x", "X", "data", "samples"];
/// More bytes than this are no examples: what a compressed array would unpack to.
const MOST_BYTES: u64 = 1 << 34;

/// A table of whole numbers, a row per example.
struct Table {
    numbers: Vec<i64>,
    /// Examples, and then the shape of each.
    shape: Vec<usize>,
}

/// Reads examples from a file: IDX images, perhaps compressed; NPY or NPZ of whole numbers, [examples, sites] or
/// [examples, rows, columns]; or lines of whole numbers with commas or blanks between them (CSV), whose first line may
/// name columns. Values count from 0; spins −1 and +1 become 0 and 1.
///
/// ```
/// use saltus_learn::data::{Coding, read_examples};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("spins.csv");
/// std::fs::write(&path, "a,b,c\n1,-1,1\n-1,-1,1\n")?;
/// let split = read_examples(&path, Coding::default())?;
/// assert_eq!((split.training.count(), split.training.mean()), (2, vec![0.5, 0.0, 1.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_examples(path: &Path, coding: Coding) -> Result<Split, DataError> {
    let failed = |reason: String| DataError::File { path: path.display().to_string(), reason };
    let bytes = std::fs::read(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let table = match &bytes[..] {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => npy(&bytes),
        [b'P', b'K', 3, 4, ..] => npz(&bytes),
        [0, 0, 8, ..] | [0x1f, 0x8b, ..] => return images(path, coding),
        _ => text(&bytes),
    };
    table.and_then(|table| examples(table, coding)).map_err(failed)
}

fn images(path: &Path, coding: Coding) -> Result<Split, DataError> {
    let training = read_images(path)?;
    let values = match coding.values {
        None | Some(2) if is_bits(&training) => Values::Bits,
        None | Some(2) => match coding.binarisation {
            Binarisation::Threshold => Values::Levels(2),
            Binarisation::Stochastic => Values::Drawn,
        },
        Some(levels) => Values::Levels(levels),
    };
    Parts { training, validation: None, test: None }.into_examples(&values, path)
}

/// A table as states.
fn examples(table: Table, coding: Coding) -> Result<Split, String> {
    let Table { mut numbers, shape } = table;
    if numbers.is_empty() || shape.len() < 2 {
        return Err(format!("has an array of shape {shape:?}, not a row of sites per example"));
    }
    // Spins.
    if numbers.iter().all(|number| number.abs() == 1) && numbers.contains(&-1) {
        numbers.iter_mut().for_each(|number| *number = (*number + 1) / 2);
    }
    let largest = numbers.iter().copied().max().unwrap_or(0);
    let smallest = numbers.iter().copied().min().unwrap_or(0);
    if smallest < 0 || largest > 255 {
        return Err(format!("has values from {smallest} to {largest}; values are 0 to 255, or ±1"));
    }
    let values = coding.values.unwrap_or(0).max(largest as usize + 1).max(2);
    if coding.values.is_some_and(|asked| asked < values) {
        return Err(format!("has values up to {largest}, more than were asked for"));
    }
    let sites: usize = shape[1..].iter().product();
    let (rows, columns) = match shape[1..] {
        [rows, columns] => (rows, columns),
        // A picture of the sites, if they make a square.
        _ => match sites.isqrt() {
            side if side * side == sites => (side, side),
            _ => (1, sites),
        },
    };
    let space = Space::new(sites, values).map_err(|error| error.to_string())?;
    let states = numbers.into_iter().map(|number| number as u8).collect();
    let training = Examples::new(space, states).map_err(|error| error.to_string())?;
    Ok(Split { rows, columns, training, validation: None, test: None })
}

/// Lines of whole numbers.
fn text(bytes: &[u8]) -> Result<Table, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| "is neither IDX, NPY nor NPZ, and not a text".to_owned())?;
    let text = text.trim_start_matches('\u{feff}');
    let words = |line: &'_ str| -> Vec<String> {
        let parts = line.split([',', ';', ' ', '\t']);
        parts.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .peekable();
    // Columns that say which draw it is, as `saltus export` writes them, are not sites.
    let mut skipped = 0;
    if let Some((_, line)) = lines.peek()
        && words(line).iter().any(|word| word.parse::<f64>().is_err())
    {
        let names = words(line);
        skipped = names.iter().take_while(|name| *name == "chain" || *name == "draw").count();
        lines.next();
    }
    let (mut numbers, mut sites, mut count) = (Vec::new(), None, 0);
    for (line, content) in lines {
        let row: Vec<String> = words(content).into_iter().skip(skipped).collect();
        let expected = *sites.get_or_insert(row.len());
        if row.len() != expected {
            return Err(format!(
                "line {}: has {} numbers, but the first row has {expected}",
                line + 1,
                row.len()
            ));
        }
        for word in row {
            let number: f64 = word.parse().unwrap_or(f64::NAN);
            numbers.push(
                whole(number)
                    .ok_or_else(|| format!("line {}: '{word}' is not a whole number", line + 1))?,
            );
        }
        count += 1;
    }
    Ok(Table { numbers, shape: vec![count, sites.unwrap_or(0)] })
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 1e9).then_some(number as i64)
}

/// The array of examples in an archive.
fn npz(bytes: &[u8]) -> Result<Table, String> {
    let broken = |error: zip::result::ZipError| format!("is not a whole NPZ file: {error}");
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let arrays: Vec<String> = (0..archive.len())
        .map(|index| Ok(archive.by_index_raw(index)?.name()?.into_owned()))
        .collect::<Result<_, _>>()
        .map_err(broken)?;
    let named = NAMES
        .iter()
        .find_map(|name| arrays.iter().find(|array| array.strip_suffix(".npy") == Some(name)));
    let chosen = match (&arrays[..], named) {
        (_, Some(name)) => name,
        ([only], None) => only,
        _ => {
            return Err(format!(
                "holds the arrays {}, none of which is called {}",
                arrays.join(", "),
                NAMES.join(", ")
            ));
        }
    };
    let index = arrays.iter().position(|array| array == chosen).unwrap_or(0);
    let entry = archive.by_index_raw(index).map_err(broken)?;
    let (method, size) = (entry.compression(), entry.size());
    if size > MOST_BYTES {
        return Err(format!("announces an array of {size} bytes, which is too much"));
    }
    let mut plain = Vec::new();
    let read = match method {
        zip::CompressionMethod::Stored => entry.take(size).read_to_end(&mut plain),
        // What numpy's savez_compressed does, and the only other way of ordinary archives.
        _ => flate2::read::DeflateDecoder::new(entry).take(size).read_to_end(&mut plain),
    };
    read.map_err(|error| format!("is not a whole NPZ file: {error}"))?;
    npy(&plain)
}

/// An array of numbers, in the order of C.
fn npy(bytes: &[u8]) -> Result<Table, String> {
    let broken = || "is not a whole NPY array".to_owned();
    let version = *bytes.get(6).ok_or_else(broken)?;
    let (length, start): (usize, usize) = match version {
        1 => {
            let word = bytes.get(8..10).and_then(|word| word.try_into().ok()).ok_or_else(broken)?;
            (usize::from(u16::from_le_bytes(word)), 10)
        }
        _ => {
            let word = bytes.get(8..12).and_then(|word| word.try_into().ok()).ok_or_else(broken)?;
            (u32::from_le_bytes(word) as usize, 12)
        }
    };
    let header = bytes.get(start..start.saturating_add(length)).ok_or_else(broken)?;
    let header = std::str::from_utf8(header).map_err(|_| broken())?;
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest).ok_or_else(broken);
    if after("'fortran_order':")?.trim_start().starts_with("True") {
        return Err(
            "has an array in the order of Fortran: save a copy in the order of C".to_owned()
        );
    }
    let kind = after("'descr':")?.trim_start().trim_start_matches('\'');
    let kind = kind.split('\'').next().unwrap_or_default();
    let shape = after("'shape':")?.trim_start().trim_start_matches('(');
    let shape: Vec<usize> = shape
        .split(')')
        .next()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|number| !number.is_empty())
        .map(|number| number.parse().map_err(|_| broken()))
        .collect::<Result<_, _>>()?;
    let count = shape.iter().try_fold(1usize, |all, size| all.checked_mul(*size));
    let data = &bytes[start + length..];
    let numbers = numbers(kind, data)?;
    match count {
        Some(count) if count <= numbers.len() => {
            Ok(Table { numbers: numbers[..count].to_vec(), shape })
        }
        _ => Err(broken()),
    }
}

/// The whole numbers of an array of that type.
fn numbers(kind: &str, data: &[u8]) -> Result<Vec<i64>, String> {
    macro_rules! read {
        ($type:ty) => {
            data.as_chunks::<{ size_of::<$type>() }>()
                .0
                .iter()
                .map(|bytes| whole(<$type>::from_le_bytes(*bytes) as f64))
                .collect::<Option<Vec<i64>>>()
        };
    }
    let found = match kind {
        "|u1" | "|b1" | "<u1" => read!(u8),
        "|i1" | "<i1" => read!(i8),
        "<u2" => read!(u16),
        "<i2" => read!(i16),
        "<u4" => read!(u32),
        "<i4" => read!(i32),
        "<u8" => read!(u64),
        "<i8" => read!(i64),
        "<f4" => read!(f32),
        "<f8" => read!(f64),
        other => return Err(format!("has an array of type {other}, not of whole numbers")),
    };
    found.ok_or_else(|| "has numbers that are not whole".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::ChainRng;
    use saltus::rng::Stream;

    fn array(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        [bytes, header.into_bytes(), data.to_vec()].concat()
    }

    fn read(bytes: &[u8], coding: Coding) -> Result<(Vec<u8>, usize, [usize; 2]), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        let split = read_examples(&path, coding).map_err(|error| error.to_string())?;
        let mut rng = ChainRng::new(0, Stream::Data(0));
        let states = (0..split.training.count()).flat_map(|index| {
            let mut state = vec![0; split.training.space().sites()];
            split.training.fill(index, &mut rng, &mut state);
            state
        });
        let values = split.training.space().values();
        Ok((states.collect(), values, [split.rows, split.columns]))
    }

    #[test]
    fn arrays_are_read_in_all_their_types() {
        let ints: Vec<u8> = [0i64, 2, 1, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let floats: Vec<u8> = [0f32, 2.0, 1.0, 1.0].iter().flat_map(|n| n.to_le_bytes()).collect();
        for (kind, data) in [("|u1", &[0, 2, 1, 1][..]), ("<i8", &ints), ("<f4", &floats)] {
            let found = read(&array(kind, "(2, 2)", data), Coding::default()).unwrap();
            assert_eq!(found, (vec![0, 2, 1, 1], 3, [1, 2]), "{kind}");
        }
        let cube = array("|u1", "(1, 2, 3)", &[1, 0, 0, 1, 1, 1]);
        assert_eq!(read(&cube, Coding::default()).unwrap().2, [2, 3]);
        let more = Coding { values: Some(4), ..Coding::default() };
        assert_eq!(read(&cube, more).unwrap().1, 4);
    }

    #[test]
    fn archives_and_texts_are_read() {
        use std::io::Write;
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        for (name, data) in [("other.npy", [1, 1]), ("states.npy", [0, 1])] {
            archive.start_file(name, options).unwrap();
            archive.write_all(&array("|u1", "(1, 2)", &data)).unwrap();
        }
        let bytes = archive.finish().unwrap().into_inner();
        assert_eq!(read(&bytes, Coding::default()).unwrap().0, [0, 1]);
        for text in ["1,0,1\n0,0,1\n", "# spins\n1 -1 1\n-1 -1 1\n", "a;b;c\n1;0;1\n\n0;0;1"] {
            assert_eq!(read(text.as_bytes(), Coding::default()).unwrap().0, [1, 0, 1, 0, 0, 1]);
        }
        let exported = "chain,draw,site_0,site_1\n0,0,1,0\n1,0,2,1\n";
        assert_eq!(read(exported.as_bytes(), Coding::default()).unwrap().0, [1, 0, 2, 1]);
        let mut images = vec![0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2];
        images.extend([200, 30]);
        assert_eq!(read(&images, Coding::default()).unwrap(), (vec![1, 0], 2, [1, 2]));
    }

    #[test]
    fn what_holds_no_examples_is_refused_with_its_reason() {
        let two = Coding { values: Some(2), ..Coding::default() };
        for (bytes, coding, sentence) in [
            (b"1,2\n3\n".to_vec(), Coding::default(), "line 2: has 1 numbers, but"),
            (b"1,x\n1,0.5\n".to_vec(), Coding::default(), "line 2: '0.5' is not a whole number"),
            (b"1,2,3\n".to_vec(), two, "values up to 3, more than were asked for"),
            (b"1,300\n".to_vec(), Coding::default(), "values from 1 to 300"),
            (vec![0xff, 0xfe, 0x80], Coding::default(), "is neither IDX, NPY nor NPZ"),
            (array("|u1", "(9, 9)", &[1]), Coding::default(), "is not a whole NPY array"),
            (array("<c8", "(1, 1)", &[1]), Coding::default(), "of type <c8"),
            (array("|u1", "(2,)", &[1, 1]), Coding::default(), "shape [2]"),
            (b"\x93NUMPY\x01".to_vec(), Coding::default(), "is not a whole NPY array"),
            (b"PK\x03\x04".to_vec(), Coding::default(), "is not a whole NPZ file"),
            (b"".to_vec(), Coding::default(), "not a row of sites"),
        ] {
            let found = read(&bytes, coding).unwrap_err();
            assert!(found.contains(sentence), "{found}");
        }
    }
}
