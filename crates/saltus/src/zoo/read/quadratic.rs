//! Energies that are quadratic in bits or spins, as people minimise them: turned into the log π of spins.

use super::pairs::Pairs;
use super::{Body, ModelFile, Spins};
use crate::model::polynomial::Variables;

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vartype {
    /// −1 and +1.
    Spin,
    /// 0 and 1.
    Binary,
}

impl Vartype {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.to_uppercase().as_str() {
            "SPIN" => Some(Self::Spin),
            "BINARY" => Some(Self::Binary),
            _ => None,
        }
    }

    /// What a comment says of it, if it does: `vartype=SPIN`, in any letters, or as Python prints it.
    pub(super) fn of_comment(comment: &str, line: usize) -> Result<Option<Self>, String> {
        const KEY: &str = "VARTYPE";
        let comment = comment.to_ascii_uppercase();
        let Some((_, behind)) = comment.split_once(KEY) else { return Ok(None) };
        let behind = behind.trim_start_matches([' ', '=', ':', '\t']);
        let name = behind.strip_prefix(KEY).map_or(behind, |name| name.trim_start_matches('.'));
        let named = Self::named(name.split_whitespace().next().unwrap_or_default());
        let expected = || format!("line {line}: expected vartype=SPIN or vartype=BINARY");
        named.map(Some).ok_or_else(expected)
    }

    pub(super) fn variables(self) -> Variables {
        match self {
            Self::Spin => Variables::Spins,
            Self::Binary => Variables::Bits,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Spin => "variables are −1 and +1",
            Self::Binary => "variables are 0 and 1",
        }
    }
}

/// An energy E = offset + Σ linear v + Σ quadratic v v′.
#[derive(Clone, Debug)]
pub(super) struct Quadratic {
    pub(super) vartype: Vartype,
    pub(super) linear: Vec<f64>,
    pub(super) quadratic: Vec<(u32, u32, f64)>,
    pub(super) offset: f64,
}

impl Quadratic {
    /// Of no energy yet.
    pub(super) fn new(vartype: Vartype, sites: usize) -> Self {
        Self { vartype, linear: vec![0.0; sites], quadratic: Vec::new(), offset: 0.0 }
    }

    /// Adds to the term of two variables, or of one if they are the same.
    pub(super) fn add(&mut self, one: u32, other: u32, bias: f64) {
        let sites = one.max(other) as usize + 1;
        if self.linear.len() < sites {
            self.linear.resize(sites, 0.0);
        }
        if one != other {
            self.quadratic.push((one, other, bias));
        } else if self.vartype == Vartype::Binary {
            self.linear[one as usize] += bias;
        } else {
            // s² = 1.
            self.offset += bias;
        }
    }

    /// The distribution p ∝ e^−E over spins. Bits are (1 + s)/2.
    pub(super) fn spins(self) -> Spins {
        let mut spins = Spins { fields: vec![0.0; self.linear.len()], ..Spins::default() };
        spins.constant = -self.offset;
        match self.vartype {
            Vartype::Spin => {
                spins.fields.iter_mut().zip(&self.linear).for_each(|(field, h)| *field = -h);
                spins.couplings = self.quadratic;
                spins.couplings.iter_mut().for_each(|(_, _, bias)| *bias = -*bias);
            }
            Vartype::Binary => {
                for (field, bias) in spins.fields.iter_mut().zip(&self.linear) {
                    *field -= bias / 2.0;
                    spins.constant -= bias / 2.0;
                }
                for (one, other, bias) in &mut spins_of(self.quadratic) {
                    spins.fields[*one as usize] -= *bias;
                    spins.fields[*other as usize] -= *bias;
                    spins.constant -= *bias;
                    spins.couplings.push((*one, *other, -*bias));
                }
            }
        }
        spins
    }

    /// The file it is from.
    pub(super) fn file(mut self, what: &str, mut assumed: Vec<String>) -> ModelFile {
        let (quadratic, again) = Pairs(self.quadratic).added_up();
        self.quadratic = quadratic;
        assumed.extend(again);
        let (variables, terms) = (self.linear.len(), self.quadratic.len());
        assumed.push(self.vartype.words().to_owned());
        assumed.push("p ∝ e^−E".to_owned());
        ModelFile {
            variables: Some(self.vartype.variables()),
            words: format!("{what} of {variables} variables and {terms} pairs"),
            body: Body::Spins(self.spins()),
            assumed,
            names: Vec::new(),
        }
    }
}

/// A quarter of each term: that of the product of two spins.
fn spins_of(mut quadratic: Vec<(u32, u32, f64)>) -> Vec<(u32, u32, f64)> {
    quadratic.iter_mut().for_each(|(_, _, bias)| *bias /= 4.0);
    quadratic
}

/// A number that is neither NaN nor infinite, also in single precision.
pub(super) fn finite(number: f64, line: usize) -> Result<f64, String> {
    if (number as f32).is_finite() {
        return Ok(number);
    }
    Err(format!("line {line}: {number} is not a number that can be used"))
}

#[cfg(test)]
pub(super) fn energy(spins: &Spins, state: &[u8]) -> f64 {
    let spin = |site: u32| 2.0 * f64::from(state[site as usize]) - 1.0;
    let pairs = spins.couplings.iter().map(|(a, b, j)| j * spin(*a) * spin(*b));
    let fields = spins.fields.iter().enumerate().map(|(site, b)| b * spin(site as u32));
    -(spins.constant + pairs.sum::<f64>() + fields.sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_of_bits_and_spins_are_those_of_the_file() {
        for vartype in [Vartype::Binary, Vartype::Spin] {
            let mut model = Quadratic::new(vartype, 3);
            model.linear = vec![0.5, -1.5, 2.0];
            model.offset = 0.25;
            model.add(0, 1, 3.0);
            model.add(2, 1, -0.5);
            model.add(1, 0, 0.75);
            let spins = model.spins();
            for number in 0..8u8 {
                let state = [number & 1, number >> 1 & 1, number >> 2 & 1];
                let v = state.map(|x| match vartype {
                    Vartype::Binary => f64::from(x),
                    Vartype::Spin => 2.0 * f64::from(x) - 1.0,
                });
                let expected = 0.25 + 0.5 * v[0] - 1.5 * v[1] + 2.0 * v[2] + 3.75 * v[0] * v[1]
                    - 0.5 * v[2] * v[1];
                assert!((energy(&spins, &state) - expected).abs() < 1e-12, "{state:?}");
            }
        }
    }
}
