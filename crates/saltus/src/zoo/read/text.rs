//! Words of text files, with the line each stands in.

use std::borrow::Cow;
use std::str::FromStr;

/// The text of a file: UTF-8, or UTF-16 with a mark of its order; the mark is left out.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let wide = |from: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            bytes[2..].as_chunks::<2>().0.iter().map(|pair| from(*pair)).collect();
        String::from_utf16(&units).map(Cow::Owned).map_err(|_| "is not whole UTF-16".to_owned())
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => {
            let text = std::str::from_utf8(bytes).map_err(|error| {
                format!("is not text: byte {} is not UTF-8", error.valid_up_to())
            })?;
            Ok(Cow::Borrowed(text.trim_start_matches('\u{feff}')))
        }
    }
}

/// A number as programs write them: also those of Fortran, whose exponents begin with D.
pub(super) fn float(word: &str) -> Option<f64> {
    word.parse().ok().or_else(|| {
        let is_exponent = |letter: char| matches!(letter, 'd' | 'D');
        let (mantissa, exponent) = word.split_once(is_exponent)?;
        let whole: i32 = exponent.parse().ok()?;
        mantissa.ends_with(|c: char| c.is_ascii_digit() || c == '.').then_some(())?;
        format!("{mantissa}e{whole}").parse().ok()
    })
}

/// The first word of what a file begins with, if it is text.
pub(super) fn first_word(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(4096)];
    let text = match start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => decode(start).unwrap_or_default().into_owned(),
        _ => String::from_utf8_lossy(start).into_owned(),
    };
    let text = text.trim_start_matches('\u{feff}');
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// The words of a text, one after the other.
#[derive(Clone)]
pub(super) struct Words<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// The next word, or none at the end.
    pub(super) fn next_word(&mut self) -> Option<&'t str> {
        let start = self.rest.find(|c: char| !c.is_whitespace()).unwrap_or(self.rest.len());
        self.line += self.rest[..start].bytes().filter(|byte| *byte == b'\n').count();
        let rest = &self.rest[start..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.rest = &rest[end..];
        (end > 0).then(|| &rest[..end])
    }

    /// A number that must come next.
    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.next_word().ok_or_else(|| format!("ends before {what}"))?;
        word.parse().map_err(|_| format!("line {}: expected {what}, found '{word}'", self.line))
    }

    /// A number with or without a fraction that must come next.
    pub(super) fn float(&mut self, what: &str) -> Result<f64, String> {
        let word = self.next_word().ok_or_else(|| format!("ends before {what}"))?;
        float(word).ok_or_else(|| format!("line {}: expected {what}, found '{word}'", self.line))
    }

    /// A count of things that take at least so many bytes each, so that it cannot be larger than the
    /// file allows.
    pub(super) fn count(&mut self, what: &str, bytes_each: usize) -> Result<usize, String> {
        let count: usize = self.number(what)?;
        if count > self.rest.len() / bytes_each + 1 {
            return Err(format!("line {}: ends before {count}, {what}", self.line));
        }
        Ok(count)
    }

    /// The line of the last word.
    pub(super) fn line(&self) -> usize {
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_writer() {
        let right =
            [("1.", 1.0), (".5", 0.5), ("+2e-1", 0.2), ("1.5D-3", 0.0015), ("-2d+00", -2.0)];
        for (word, number) in right {
            assert_eq!(float(word), Some(number), "{word}");
        }
        for word in ["", "D", "d1", "1D", "1Dx", "1D1D1", "1e2D3", "x", "1,5", "infD1"] {
            assert_eq!(float(word), None, "{word}");
        }
    }
}
