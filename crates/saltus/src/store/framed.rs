//! Files that hold one value between a header and a checksum.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// With what a kind of file begins, and the version of what follows.
pub(crate) struct Frame {
    /// Its first bytes, a line of text that names it.
    pub(crate) magic: &'static [u8],
    /// Counts up with every change of the value.
    pub(crate) version: u32,
    /// What such a file is, for sentences.
    pub(crate) name: &'static str,
}

const CHECKSUM: usize = 4;

impl Frame {
    /// Magic, version and the number of bytes between header and checksum.
    fn header(&self) -> usize {
        self.magic.len() + 4 + 8
    }

    /// The bytes of a file; the error is the reason alone.
    pub(crate) fn encode<T: Serialize>(&self, value: &T) -> Result<Vec<u8>, String> {
        let content = postcard::to_stdvec(value);
        let content = content.map_err(|error| format!("it cannot be written down: {error}"))?;
        Ok(self.enclose(&content))
    }

    /// The bytes of a file, around a value that is written down already.
    pub(crate) fn enclose(&self, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from(self.magic);
        bytes.extend(self.version.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// The value of a file; the error is the reason alone.
    pub(crate) fn decode<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, String> {
        let &Self { magic, version: expected, name } = self;
        if !bytes.starts_with(&magic[..magic.len().min(bytes.len())]) {
            return Err(format!("it is not {name}"));
        }
        if bytes.len() < self.header() + CHECKSUM {
            return Err(format!("it is cut off after {} bytes", bytes.len()));
        }
        let (version, length) = bytes[magic.len()..self.header()].split_at(4);
        let version = u32::from_le_bytes(version.try_into().expect("four bytes"));
        if version != expected {
            return Err(format!("it has version {version}, this saltus reads version {expected}"));
        }
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
        let whole = length.saturating_add((self.header() + CHECKSUM) as u64);
        if bytes.len() as u64 != whole {
            return Err(format!("it has {} bytes of {whole}", bytes.len()));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if crc32c::crc32c(content).to_le_bytes() != *checksum {
            return Err("its checksum does not match its content".to_owned());
        }
        postcard::from_bytes(&content[self.header()..])
            .map_err(|error| format!("it cannot be read: {error}"))
    }
}
