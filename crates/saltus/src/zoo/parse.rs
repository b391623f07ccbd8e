//! Options with a meaning: counts, sizes and finite numbers, each refused in a sentence.

use crate::error::ModelError;
use crate::model::lattice::Lattice;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Rows and columns of a lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Size {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl FromStr for Size {
    type Err = String;

    /// `30x40`, or `16` for a square.
    fn from_str(text: &str) -> Result<Self, String> {
        let (rows, columns) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
        let side = |side: &str| {
            positive(side.trim()).map_err(|reason| {
                format!("{reason}; a size is ROWSxCOLUMNS such as 30x40, or 16 for a square")
            })
        };
        Ok(Self { rows: side(rows)?, columns: side(columns)? })
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Size> for String {
    fn from(size: Size) -> Self {
        size.to_string()
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

impl Size {
    /// The lattice of that size.
    pub(super) fn lattice(self, periodic: bool) -> Result<Lattice, ModelError> {
        let Self { rows, columns } = self;
        if periodic { Lattice::periodic(rows, columns) } else { Lattice::free(rows, columns) }
    }

    /// What such a lattice is called.
    pub(super) fn words(self, periodic: bool) -> String {
        let kind = if periodic { "periodic lattice" } else { "lattice" };
        format!("a {self} {kind}")
    }
}

/// Lengths of a grid of any dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shape(pub Vec<usize>);

impl FromStr for Shape {
    type Err = String;

    /// `30x40`, `8x8x8`, or `16` for a square.
    fn from_str(text: &str) -> Result<Self, String> {
        let side = |side: &str| {
            positive(side.trim()).map_err(|reason| {
                format!("{reason}; a size is such as 30x40, 8x8x8, or 16 for a square")
            })
        };
        let lengths = text.split(['x', 'X', '×']).map(side).collect::<Result<Vec<_>, _>>()?;
        match lengths[..] {
            [length] => Ok(Self(vec![length, length])),
            _ => Ok(Self(lengths)),
        }
    }
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shape> for String {
    fn from(shape: Shape) -> Self {
        shape.to_string()
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&lengths.join("x"))
    }
}

/// Two names, `ours=theirs`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.trim().split_once('=') {
        Some((ours, theirs)) if !ours.is_empty() && !theirs.is_empty() => {
            Ok((ours.to_owned(), theirs.to_owned()))
        }
        _ => Err(format!("'{text}' is not a pair of names such as weight=W")),
    }
}

/// A whole number that may be zero.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        let negative = text.parse::<f64>().is_ok_and(|number| number < 0.0);
        let large = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if negative {
            format!("it cannot be negative, got {text}")
        } else if large {
            format!("{text} is more than can be counted")
        } else {
            format!("'{text}' is not a whole number")
        }
    })
}

/// A whole number of at least one.
pub fn positive(text: &str) -> Result<usize, String> {
    match count(text)? {
        0 => Err("it must be at least 1, got 0".to_owned()),
        number => Ok(number),
    }
}

/// A number of values per site.
pub fn values(text: &str) -> Result<usize, String> {
    match count(text)? {
        number @ 2..=256 => Ok(number),
        number => Err(format!("a site needs between 2 and 256 values, got {number}")),
    }
}

/// A number that is not NaN or infinite.
pub fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if number.is_finite() { Ok(number) } else { Err(format!("{number} is not a finite number")) }
}

/// A finite number in single precision, in which models keep their parameters.
pub fn finite_single(text: &str) -> Result<f32, String> {
    let number = finite(text)? as f32;
    if number.is_finite() { Ok(number) } else { Err(format!("{text} is too large")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let size = |rows, columns| Ok(Size { rows, columns });
        assert_eq!("30x40".parse::<Size>(), size(30, 40));
        assert_eq!("16".parse::<Size>(), size(16, 16));
        assert_eq!("3X4".parse::<Size>(), size(3, 4));
        for wrong in
            ["", "x", "3x", "0", "3x0", "-3x4", "3x4x5", "3.5", "ten", "99999999999999999999"]
        {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shapes() {
        let shape = |text: &str| text.parse::<Shape>().map(|shape| shape.0);
        assert_eq!(shape("16"), Ok(vec![16, 16]));
        assert_eq!(shape("3x4"), Ok(vec![3, 4]));
        assert_eq!(shape("3x4X5"), Ok(vec![3, 4, 5]));
        for wrong in ["", "x", "3x", "0", "3x0", "-3x4", "3.5", "ten"] {
            assert!(shape(wrong).is_err(), "{wrong}");
        }
        assert_eq!("2x3x4".parse::<Shape>().unwrap().to_string(), "2x3x4");
    }

    #[test]
    fn counts() {
        assert_eq!(count("0"), Ok(0));
        assert!(count("-5").unwrap_err().contains("cannot be negative"));
        assert!(count("99999999999999999999").unwrap_err().contains("more than can be counted"));
        assert!(count("many").unwrap_err().contains("not a whole number"));
        assert!(positive("0").unwrap_err().contains("at least 1"));
        assert!(values("1").unwrap_err().contains("between 2 and 256"));
        assert_eq!(values("256"), Ok(256));
    }

    #[test]
    fn numbers() {
        assert_eq!(finite("-1e-3"), Ok(-1e-3));
        for wrong in ["nan", "inf", "-inf", "", "one"] {
            assert!(finite(wrong).is_err(), "{wrong}");
        }
        assert!(finite_single("1e300").is_err());
    }
}
