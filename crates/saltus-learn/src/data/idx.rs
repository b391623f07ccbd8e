//! Images in the IDX format, plain or compressed by gzip, and why a file is not one.

use super::DataError;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Gray images of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Rows of an image.
    pub rows: usize,
    /// Columns of an image.
    pub columns: usize,
    /// Image after image, each row after row; 0 to 255.
    pub pixels: Vec<u8>,
}

impl Images {
    /// Number of images.
    pub fn count(&self) -> usize {
        self.pixels.len() / (self.rows * self.columns)
    }
}

/// Two zero bytes, unsigned bytes as entries, three dimensions.
const MAGIC: u32 = 0x0000_0803;
/// How much larger than its file an image may become: real ones become ten or twenty times as large,
/// and a thousand times is all that gzip can do.
const MOST_INFLATED: u64 = 200;
/// So many bytes do no harm.
const ALWAYS_INFLATED: u64 = 1 << 28;
/// First bytes of a file compressed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads the images of an IDX file of unsigned bytes.
///
/// Whether it is compressed is seen from its first bytes, not from its name.
pub fn read_images(path: impl AsRef<Path>) -> Result<Images, DataError> {
    let path = path.as_ref();
    read(path).map_err(|reason| DataError::File { path: path.display().to_string(), reason })
}

fn read(path: &Path) -> Result<Images, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(cannot)?;
    let length = file.metadata().map_err(cannot)?.len();
    let mut file = BufReader::new(file);
    let compressed = file.fill_buf().map_err(cannot)?.starts_with(&GZIP);
    if compressed {
        let most = length.saturating_mul(MOST_INFLATED).max(ALWAYS_INFLATED);
        content(MultiGzDecoder::new(file), "decompressed", most)
    } else {
        content(file, "read", u64::MAX)
    }
}

/// The images of a stream of bytes, of which there may be so many; `verb` says how they are got.
fn content(mut stream: impl Read, verb: &str, most: u64) -> Result<Images, String> {
    let mut header = Vec::new();
    stream
        .by_ref()
        .take(16)
        .read_to_end(&mut header)
        .map_err(|error| format!("cannot be {verb}: {error}"))?;
    let (words, _) = header.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect();
    match words.first() {
        None => {
            return Err(format!("is not an IDX file: it ends after {} bytes", header.len()));
        }
        Some(&MAGIC) => {}
        Some(magic) => {
            return Err(format!(
                "is not an IDX file of images: it starts with {magic:#010x}, expected \
                 {MAGIC:#010x} (unsigned bytes in three dimensions)"
            ));
        }
    }
    let [_, images, rows, columns] = words[..] else {
        return Err(format!("is cut off: its header has {} bytes of 16", header.len()));
    };
    if images == 0 || rows == 0 || columns == 0 {
        return Err(format!("holds {images} images of {rows}×{columns} pixels: nothing to learn"));
    }
    let announced = u64::from(images)
        .checked_mul(u64::from(rows))
        .and_then(|pixels| pixels.checked_mul(u64::from(columns)))
        .filter(|pixels| usize::try_from(*pixels).is_ok())
        .ok_or_else(|| {
            format!("announces {images} images of {rows}×{columns} pixels, more than fit anywhere")
        })?;
    if announced > most {
        return Err(format!(
            "announces {images} images of {rows}×{columns} pixels, far more than its size allows: \
             decompress it first if that is true"
        ));
    }
    // One byte more than announced shows a file that is too long. The announcement is not
    // trusted with memory: a vector grows as bytes come.
    let mut pixels = Vec::new();
    stream
        .take(announced.saturating_add(1))
        .read_to_end(&mut pixels)
        .map_err(|error| format!("cannot be {verb} beyond {} pixels: {error}", pixels.len()))?;
    let found = pixels.len() as u64;
    if found < announced {
        return Err(format!(
            "is cut off: {images} images of {rows}×{columns} are {announced} pixels, but it has \
             {found}"
        ));
    }
    if found > announced {
        return Err(format!(
            "goes on after its {images} images of {rows}×{columns}, which are {announced} pixels"
        ));
    }
    Ok(Images { rows: rows as usize, columns: columns as usize, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn idx(dimensions: &[u32], pixels: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, dimensions.len() as u8];
        bytes.extend(dimensions.iter().flat_map(|size| size.to_be_bytes()));
        bytes.extend(pixels);
        bytes
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_bytes(bytes: &[u8]) -> Result<Images, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images");
        std::fs::write(&path, bytes).unwrap();
        read_images(path)
    }

    #[test]
    fn images_are_read_plain_and_compressed() {
        let pixels: Vec<u8> = (1..=12).collect();
        let bytes = idx(&[2, 3, 2], &pixels);
        let expected = Images { rows: 3, columns: 2, pixels };
        assert_eq!(read_bytes(&bytes).unwrap(), expected);
        assert_eq!(read_bytes(&gzip(&bytes)).unwrap(), expected);
        assert_eq!(expected.count(), 2);
    }

    #[test]
    fn what_is_not_a_file_of_images_is_refused_with_the_numbers() {
        let whole = idx(&[2, 3, 2], &[7; 12]);
        let reason = |bytes: &[u8]| match read_bytes(bytes).unwrap_err() {
            DataError::File { reason, .. } => {
                assert!(!reason.contains('\n'), "{reason}");
                reason
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(b""), "is not an IDX file: it ends after 0 bytes");
        assert_eq!(reason(&whole[..10]), "is cut off: its header has 10 bytes of 16");
        let found = reason(&whole[..20]);
        assert_eq!(found, "is cut off: 2 images of 3×2 are 12 pixels, but it has 4");
        let longer = [&whole[..], &[0]].concat();
        assert_eq!(reason(&longer), "goes on after its 2 images of 3×2, which are 12 pixels");
        let labels = idx(&[3], &[1, 2, 3]);
        assert!(reason(&labels).contains("starts with 0x00000801, expected 0x00000803"));
        assert!(reason(b"P5 28 28 255").contains("starts with 0x50352032"));
        assert!(reason(&idx(&[0, 28, 28], &[])).starts_with("holds 0 images of 28×28 pixels"));
        let huge = idx(&[u32::MAX, u32::MAX, u32::MAX], &[]);
        assert!(reason(&huge).contains("more than fit anywhere"));
        let many = idx(&[u32::MAX, 28, 28], &[1; 100]);
        assert!(reason(&many).ends_with("but it has 100"));
        let compressed = gzip(&whole);
        let found = reason(&compressed[..compressed.len() - 6]);
        assert!(found.starts_with("cannot be decompressed"), "{found}");
        // Three gigabytes of the same pixel would be three megabytes.
        let bomb = gzip(&idx(&[4_000_000, 28, 28], &[0; 10_000]));
        assert!(reason(&bomb).contains("far more than its size allows"), "{}", reason(&bomb));
        let missing = read_images("/nowhere/at/all").unwrap_err().to_string();
        assert!(missing.starts_with("/nowhere/at/all: cannot be read: "), "{missing}");
    }
}
