//! Model files of the field: which format a file has, and what it says.
//!
//! A format is one file here and one line in the table below. A reader takes the bytes of a file and
//! gives a [`ModelFile`] or the reason, with the line, why it cannot; what it had to assume it says.

mod arrays;
mod bif;
mod bqm;
mod coo;
mod dca;
mod evidence;
mod gset;
mod matrix_market;
mod numpy;
pub(in crate::zoo) mod pairs;
mod poly;
mod quadratic;
mod qubo;
mod tensors;
mod text;
mod uai;

pub use evidence::{evidence, evidence_cases};

use crate::error::ModelError;
use crate::model::factor::Factor;
use crate::model::polynomial::Variables;
use crate::model::rbm::RbmParameters;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// What a file of a model says.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub body: Body,
    /// What it is, in a few words.
    pub words: String,
    /// What was taken for granted because the file does not say it.
    pub assumed: Vec<String>,
    /// Names of sites and of their values, where the file has them.
    pub names: Vec<SiteNames>,
    /// What two values stand for, where the format says so.
    pub variables: Option<Variables>,
}

/// What a file calls a site and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteNames {
    /// The site.
    pub site: String,
    /// Its values.
    pub values: Vec<String>,
}

/// The kinds of models that files hold.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Tables over a few sites each.
    Factors {
        /// Number of values of every site.
        cardinalities: Vec<usize>,
        /// The tables.
        factors: Vec<Factor>,
    },
    /// Spins that interact in pairs.
    Spins(Spins),
    /// Products of any number of spins or bits.
    Polynomial(PolynomialTerms),
    /// A restricted Boltzmann machine.
    Rbm(RbmParameters),
}

/// log π = Σ c Π v over spins or bits v.
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialTerms {
    /// What the two values stand for.
    pub variables: Variables,
    /// Number of sites.
    pub sites: usize,
    /// The sites of each term, and its coefficient.
    pub terms: Vec<(Vec<u32>, f64)>,
}

/// log π = Σ J s s′ + Σ b s + constant over spins s = ±1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spins {
    /// b of every site.
    pub fields: Vec<f64>,
    /// Pairs of sites and their J.
    pub couplings: Vec<(u32, u32, f64)>,
    /// What does not depend on the state.
    pub constant: f64,
}

/// One line per format: its name, its reader, how it is recognised and what it is.
macro_rules! formats {
    ($($format:ident($name:literal), $reader:path, $detect:path, $what:literal;)*) => {
        /// A format of model files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Format {
            $(#[doc = $what] #[serde(rename = $name)] $format,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: &[Self] = &[$(Self::$format,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$format => $name,)* }
            }

            /// What it is.
            pub fn describe(self) -> &'static str {
                match self { $(Self::$format => $what,)* }
            }

            /// Reads the bytes of a file of this format, which is not compressed; the error is the
            /// reason alone.
            pub fn read(self, bytes: &[u8]) -> Result<ModelFile, String> {
                let read = match self { $(Self::$format => $reader(bytes),)* };
                read.map_err(printable)
            }

            /// Whether a file that begins like that is of this format.
            fn is_likely(self, bytes: &[u8]) -> bool {
                match self { $(Self::$format => $detect(bytes),)* }
            }
        }
    };
}

formats! {
    Uai("uai"), uai::read, uai::detect, "UAI: Markov and Bayesian networks as tables";
    Bif("bif"), bif::read, bif::detect, "BIF: Bayesian networks with named values";
    Dca("dca"), dca::read, dca::detect, "DCA: parameters of adabmDCA and bmDCA, `J i j a b v` and `h i a v`";
    Bqm("bqm"), bqm::read, bqm::detect, "BQM: dimod's binary quadratic models, .bqm";
    Json("json"), bqm::read_json, bqm::detect_json, "JSON: dimod's binary quadratic models, schema 3.0.0";
    Qubo("qubo"), qubo::read, qubo::detect, "QUBO: problems of qbsolv, `p qubo …`";
    MatrixMarket("mtx"), matrix_market::read, matrix_market::detect, "MatrixMarket: a symmetric matrix of couplings";
    Gset("gset"), gset::read, gset::detect, "Gset and rudy: graphs to be cut, `n m` and then `i j w`";
    Coo("coo"), coo::read, coo::detect, "COO: lines of `i j bias`, with `# vartype=SPIN` for spins";
    Poly("poly"), poly::read, poly::detect, "Polynomials of any order: lines of `i j k … coefficient`";
    Numpy("npz"), numpy::read, numpy::detect, "NPZ and NPY: arrays `h` and `J`, `Q`, or `W` of numpy";
    Tensors("safetensors"), tensors::read, tensors::detect, "safetensors: the weights of an RBM";
}

/// How many rows of a table of probabilities do not add up to 1.
fn uneven(table: &[f64], values: usize) -> usize {
    /// Files round to a few digits.
    const CLOSE: f64 = 2e-3;
    table.chunks(values).filter(|row| (row.iter().sum::<f64>() - 1.0).abs() > CLOSE).count()
}

/// What to say of so many.
fn uneven_rows(rows: usize) -> Option<String> {
    match rows {
        0 => None,
        1 => Some("1 row of probabilities does not add up to 1, and is taken as it is".to_owned()),
        rows => Some(format!(
            "{rows} rows of probabilities do not add up to 1, and are taken as they are"
        )),
    }
}

/// A sentence without what a broken file would do to a terminal.
fn printable(reason: String) -> String {
    /// Letters of a sentence that quotes a file.
    const MOST: usize = 400;
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let mut sentence: String = reason.chars().take(MOST).map(plain).collect();
    if reason.chars().nth(MOST).is_some() {
        sentence.push('…');
    }
    sentence
}

impl Format {
    /// The format of a file with these bytes, which are not compressed.
    pub fn detect(bytes: &[u8]) -> Result<Self, String> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("is empty".to_owned());
        }
        let likely = Self::ALL.iter().find(|format| format.is_likely(bytes));
        likely.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            format!(
                "is of no format that is known by its content; name one of {} by --format",
                names.join(", ")
            )
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.iter().find(|format| format.name() == name.trim());
        named.copied().ok_or_else(|| {
            let known = Self::ALL.iter().map(|format| format.name());
            crate::names::unknown("format", name, known)
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is compressed may unpack to so many times its size, or to [`ALWAYS_UNPACKED`] bytes.
const MOST_TIMES: u64 = 200;
const ALWAYS_UNPACKED: u64 = 1 << 26;

/// The bytes that were compressed by gzip; no more than a model can have.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let most = (bytes.len() as u64).saturating_mul(MOST_TIMES).max(ALWAYS_UNPACKED);
    let mut plain = Vec::new();
    let stream = flate2::read::MultiGzDecoder::new(bytes);
    stream
        .take(most + 1)
        .read_to_end(&mut plain)
        .map_err(|error| format!("cannot be decompressed: {error}"))?;
    if plain.len() as u64 > most {
        return Err(format!(
            "unpacks to more than {MOST_TIMES} times its size, which is not believed"
        ));
    }
    Ok(plain)
}

/// The bytes of a file, or of stdin for `-`, decompressed if they were compressed by gzip.
pub fn bytes_of(path: &Path) -> Result<Vec<u8>, ModelError> {
    let failed = |error: std::io::Error| ModelError::File {
        path: path.display().to_string(),
        reason: format!("cannot be read: {error}"),
    };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        // It can be read once, and may be asked for again: for a model, and for the names of its sites.
        static STDIN: Mutex<Option<Vec<u8>>> = Mutex::new(None);
        let mut kept = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(kept) => bytes.clone_from(kept),
            None => {
                std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
                *kept = Some(bytes.clone());
            }
        }
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return unpacked(&bytes)
            .map_err(|reason| ModelError::File { path: path.display().to_string(), reason });
    }
    Ok(bytes)
}

/// What a file says, in the format it is in unless one is named.
///
/// ```
/// use saltus::zoo::read::{Body, read};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("coin.uai");
/// std::fs::write(&path, "MARKOV 1 2 1 1 0 2 0.25 0.75")?;
/// let (format, file) = read(&path, None)?;
/// assert_eq!(format.name(), "uai");
/// let Body::Factors { cardinalities, factors } = file.body else { panic!("tables") };
/// assert_eq!((cardinalities, factors[0].log_values()[1]), (vec![2], 0.75f64.ln()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path, format: Option<Format>) -> Result<(Format, ModelFile), ModelError> {
    read_as(path, format, &[])
}

/// The same, where the tensors of an RBM have other names: `("weight", "W.T")`.
pub fn read_as(
    path: &Path,
    format: Option<Format>,
    names: &[(String, String)],
) -> Result<(Format, ModelFile), ModelError> {
    let failed = |reason| ModelError::File { path: path.display().to_string(), reason };
    let bytes = bytes_of(path)?;
    let format = format.map_or_else(|| Format::detect(&bytes), Ok).map_err(failed)?;
    let read = match format {
        _ if names.is_empty() => format.read(&bytes),
        Format::Numpy => numpy::read_as(&bytes, names).map_err(printable),
        Format::Tensors => tensors::read_as(&bytes, names).map_err(printable),
        format => Err(format!("is {format}, and has no tensors to be named by --map")),
    };
    Ok((format, read.map_err(failed)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(plain).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        assert_eq!(unpacked(&packed(b"3 1\n1 2\n")).unwrap(), b"3 1\n1 2\n");
        let bomb = packed(&vec![b' '; ALWAYS_UNPACKED as usize + 1]);
        assert!(unpacked(&bomb).unwrap_err().contains("more than 200 times"));
        assert!(unpacked(&bomb[..bomb.len() / 2]).unwrap_err().contains("cannot be decompressed"));
    }
}
