//! BIF: Bayesian networks with named variables and values, as the repositories of networks have them.

use super::text::{decode, float};
use super::{Body, ModelFile, SiteNames, uneven, uneven_rows};
use crate::model::factor::Factor;
use std::collections::HashMap;

pub(super) fn detect(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 16) & !1];
    let text = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => decode(head).unwrap_or_default().into_owned(),
        _ => String::from_utf8_lossy(head).into_owned(),
    };
    // Behind comments, and also where no blank stands before the next sign.
    let first = Tokens { rest: text.trim_start_matches('\u{feff}'), line: 1 }.next();
    first.is_some_and(|word| ["network", "variable", "probability"].contains(&word))
}

/// Entries that tables of few written rows may have beyond what the file is long.
const SMALL: usize = 1 << 22;

/// A variable: its place and the places of its values.
struct Variable {
    site: u32,
    values: HashMap<String, usize>,
}

/// A text as tokens: signs of their own, quoted texts, and words.
struct Tokens<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Tokens<'t> {
    /// Goes over blanks, commas, `//` and `/* */`.
    fn skip(&mut self) {
        loop {
            let start =
                self.rest.find(|c: char| !c.is_whitespace() && c != ',').unwrap_or(self.rest.len());
            self.advance(start);
            let length = if self.rest.starts_with("//") {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return;
            };
            self.advance(length.unwrap_or(self.rest.len()));
        }
    }

    fn advance(&mut self, length: usize) {
        self.line += self.rest[..length].bytes().filter(|byte| *byte == b'\n').count();
        self.rest = &self.rest[length..];
    }

    fn next(&mut self) -> Option<&'t str> {
        self.skip();
        let first = self.rest.chars().next()?;
        let token = if "{}()[];|".contains(first) {
            &self.rest[..1]
        } else if first == '"' {
            let inside = &self.rest[1..];
            let end = inside.find('"').unwrap_or(inside.len());
            self.advance((end + 2).min(self.rest.len()));
            return Some(&inside[..end]);
        } else {
            let end = self.rest.find(|c: char| c.is_whitespace() || "{}()[];|,\"".contains(c));
            &self.rest[..end.unwrap_or(self.rest.len())]
        };
        self.advance(token.len());
        Some(token)
    }

    fn peek(&self) -> Option<&'t str> {
        Tokens { rest: self.rest, line: self.line }.next()
    }

    fn some(&mut self, what: &str) -> Result<&'t str, String> {
        self.next().ok_or_else(|| format!("ends before {what}"))
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        let found = self.some(&format!("'{sign}'"))?;
        if found == sign { Ok(()) } else { Err(self.wrong(&format!("'{sign}'"), found)) }
    }

    fn wrong(&self, expected: &str, found: &str) -> String {
        format!("line {}: expected {expected}, found '{found}'", self.line)
    }

    /// All tokens up to a sign.
    fn until(&mut self, sign: &str) -> Result<Vec<&'t str>, String> {
        let mut tokens = Vec::new();
        loop {
            match self.some(&format!("'{sign}'"))? {
                token if token == sign => return Ok(tokens),
                token => tokens.push(token),
            }
        }
    }

    /// Goes over what stands between braces.
    fn skip_block(&mut self) -> Result<(), String> {
        while self.some("'{'")? != "{" {}
        let mut depth = 1;
        while depth > 0 {
            match self.some("'}'")? {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn numbers(&self, words: &[&str]) -> Result<Vec<f64>, String> {
        words.iter().map(|word| float(word).ok_or_else(|| self.wrong("a number", word))).collect()
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let mut network = Network { left: text.len().max(SMALL), ..Network::default() };
    // Tables may stand before the variables that they are about.
    for pass in [Pass::Variables, Pass::Tables] {
        let mut tokens = Tokens { rest: &text, line: 1 };
        while let Some(token) = tokens.next() {
            match (token, pass) {
                ("network", _) => tokens.skip_block()?,
                ("variable", Pass::Variables) => network.variable(&mut tokens)?,
                ("probability", Pass::Tables) => network.probability(&mut tokens)?,
                ("variable" | "probability", _) => tokens.skip_block()?,
                // Some writers end blocks with it, some have properties between them.
                (";", _) => {}
                ("property", _) => drop(tokens.until(";")?),
                (other, _) => return Err(tokens.wrong("variable or probability", other)),
            }
        }
    }
    let Network { names, factors, uneven, .. } = network;
    if names.is_empty() {
        return Err("has no variable".to_owned());
    }
    if factors.len() != names.len() {
        return Err(format!(
            "has {} variables but {} tables of probabilities",
            names.len(),
            factors.len()
        ));
    }
    Ok(ModelFile {
        variables: None,
        words: format!("Bayesian network of {} variables", names.len()),
        body: Body::Factors {
            cardinalities: names.iter().map(|name| name.values.len()).collect(),
            factors,
        },
        assumed: std::iter::once(
            "values are numbered in the order in which the file names them".to_owned(),
        )
        .chain(uneven_rows(uneven))
        .collect(),
        names,
    })
}

/// What is read on a way through the text.
#[derive(Clone, Copy)]
enum Pass {
    Variables,
    Tables,
}

#[derive(Default)]
struct Network {
    /// Entries that further tables may have.
    left: usize,
    names: Vec<SiteNames>,
    variables: HashMap<String, Variable>,
    factors: Vec<Factor>,
    /// Rows of probabilities that do not add up to 1.
    uneven: usize,
}

impl Network {
    fn variable(&mut self, tokens: &mut Tokens<'_>) -> Result<(), String> {
        let name = tokens.some("the name of a variable")?.to_owned();
        tokens.expect("{")?;
        let mut values = Vec::new();
        loop {
            match tokens.some("'}'")? {
                "}" => break,
                "type" => values = states(tokens)?,
                "property" => drop(tokens.until(";")?),
                other => return Err(tokens.wrong("type, property or '}'", other)),
            }
        }
        if !(1..=256).contains(&values.len()) {
            return Err(format!(
                "line {}: variable {name} has {} values; between 1 and 256 can be sampled",
                tokens.line,
                values.len()
            ));
        }
        let places: HashMap<String, usize> =
            values.iter().enumerate().map(|(place, value)| (value.clone(), place)).collect();
        if places.len() < values.len() {
            return Err(format!("line {}: variable {name} has a value twice", tokens.line));
        }
        let variable = Variable { site: self.names.len() as u32, values: places };
        if self.variables.insert(name.clone(), variable).is_some() {
            return Err(format!("line {}: there are two variables named {name}", tokens.line));
        }
        self.names.push(SiteNames { site: name, values });
        Ok(())
    }

    fn named(&self, tokens: &Tokens<'_>, name: &str) -> Result<&Variable, String> {
        self.variables.get(name).ok_or_else(|| tokens.wrong("the name of a variable", name))
    }

    /// The table of a variable given its parents, whose values run slower than its own.
    fn probability(&mut self, tokens: &mut Tokens<'_>) -> Result<(), String> {
        tokens.expect("(")?;
        let head = tokens.until(")")?;
        let line = tokens.line;
        let mut family = Vec::new();
        for name in head.iter().filter(|name| **name != "|") {
            family.push(self.named(tokens, name)?);
        }
        let Some((child, parents)) = family.split_first() else {
            return Err(tokens.wrong("the name of a variable", ")"));
        };
        let child_values = child.values.len();
        let rows = parents.iter().try_fold(1usize, |all, one| all.checked_mul(one.values.len()));
        // With a default most rows need not be written, so that it is memory that bounds them.
        let entries = rows.and_then(|rows| rows.checked_mul(child_values));
        let left = entries.and_then(|entries| self.left.checked_sub(entries)).ok_or_else(|| {
            format!(
                "line {line}: the table of {} is too large; all tables together may have {SMALL} \
                 entries, or as many as the file has bytes",
                head[0]
            )
        })?;
        let rows = rows.unwrap_or(0);
        let mut table = vec![f64::NAN; rows * child_values];
        tokens.expect("{")?;
        loop {
            match tokens.some("'}'")? {
                "}" => break,
                "property" => drop(tokens.until(";")?),
                "table" => {
                    let words = tokens.until(";")?;
                    let numbers = tokens.numbers(&words)?;
                    if numbers.len() != table.len() {
                        let expected = format!("{} probabilities", table.len());
                        return Err(tokens.wrong(&expected, &numbers.len().to_string()));
                    }
                    // The child's values run slowest here.
                    for (at, number) in numbers.into_iter().enumerate() {
                        table[at % rows * child_values + at / rows] = number;
                    }
                }
                "default" => {
                    let words = tokens.until(";")?;
                    let row = row_of(tokens, &words, child_values)?;
                    for known in table.chunks_exact_mut(child_values) {
                        if known[0].is_nan() {
                            known.copy_from_slice(&row);
                        }
                    }
                }
                "(" => {
                    let given = tokens.until(")")?;
                    let place = place_of(tokens, parents, &given)?;
                    let words = tokens.until(";")?;
                    let row = row_of(tokens, &words, child_values)?;
                    table[place * child_values..][..child_values].copy_from_slice(&row);
                }
                other => return Err(tokens.wrong("table, default, a row '(…)' or '}'", other)),
            }
        }
        if table.iter().any(|number| number.is_nan()) {
            return Err(format!("line {line}: the table of {} has rows missing", head[0]));
        }
        let scope: Vec<u32> = parents.iter().chain([child]).map(|one| one.site).collect();
        let factor = Factor::from_potentials(&scope, &table)
            .map_err(|error| format!("line {line}: {error}"))?;
        self.uneven += uneven(&table, child_values);
        self.factors.push(factor);
        self.left = left;
        Ok(())
    }
}

/// The values of `discrete [ k ] { … };`.
fn states(tokens: &mut Tokens<'_>) -> Result<Vec<String>, String> {
    match tokens.some("discrete")? {
        "discrete" => {}
        other => return Err(tokens.wrong("discrete", other)),
    }
    let mut declared = None;
    if tokens.peek() == Some("[") {
        tokens.expect("[")?;
        let words = tokens.until("]")?;
        declared = words.first().and_then(|word| word.parse::<usize>().ok());
    }
    tokens.expect("{")?;
    let values: Vec<String> = tokens.until("}")?.into_iter().map(str::to_owned).collect();
    if tokens.peek() == Some(";") {
        tokens.expect(";")?;
    }
    match declared {
        Some(declared) if declared != values.len() => Err(format!(
            "line {}: announces {declared} values but names {}",
            tokens.line,
            values.len()
        )),
        _ => Ok(values),
    }
}

fn row_of(tokens: &Tokens<'_>, words: &[&str], length: usize) -> Result<Vec<f64>, String> {
    let numbers = tokens.numbers(words)?;
    if numbers.len() == length {
        return Ok(numbers);
    }
    Err(tokens.wrong(&format!("{length} probabilities"), &numbers.len().to_string()))
}

/// The number of the row of these values of the parents, the last of them fastest.
fn place_of(tokens: &Tokens<'_>, parents: &[&Variable], given: &[&str]) -> Result<usize, String> {
    if given.len() != parents.len() {
        let expected = format!("{} values of parents", parents.len());
        return Err(tokens.wrong(&expected, &given.len().to_string()));
    }
    let mut place = 0;
    for (parent, value) in parents.iter().zip(given) {
        let at = parent.values.get(*value).ok_or_else(|| tokens.wrong("a value", value))?;
        place = place * parent.values.len() + at;
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAIN: &str = "network \"rain\" { }\nvariable rain { type discrete [ 2 ] { yes, no }; }\n\
        variable grass {\n property \"position = (1, 2)\" ;\n type discrete [ 3 ] { wet, damp, dry };\n}\n\
        // the sky\nprobability ( rain ) { table 0.2, 0.8; }\n";

    fn factors(rows: &str) -> Result<Vec<Factor>, String> {
        let text = format!("{RAIN}probability ( grass | rain ) {{ {rows} }}");
        match read(text.as_bytes())?.body {
            Body::Factors { factors, .. } => Ok(factors),
            _ => panic!("tables"),
        }
    }

    #[test]
    fn rows_tables_and_defaults_say_the_same() {
        let rows = factors("(no) 0.1, 0.2, 0.7; (yes) 0.9, 0.1, 0.0;").unwrap();
        assert_eq!(rows[1].scope(), [0, 1]);
        assert_eq!(rows[1].log_values()[3], 0.1f64.ln());
        assert_eq!(rows[1].log_values()[2], f64::NEG_INFINITY);
        assert_eq!(rows, factors("table 0.9, 0.1, 0.1, 0.2, 0.0, 0.7;").unwrap());
        assert_eq!(rows, factors("(yes) 0.9 0.1 0.0; default 0.1, 0.2, 0.7;").unwrap());
        assert!(detect(RAIN.as_bytes()));
    }

    #[test]
    fn rows_that_do_not_add_up_are_told() {
        let assumed = |rows: &str| {
            let text = format!("{RAIN}probability ( grass | rain ) {{ {rows} }}");
            read(text.as_bytes()).unwrap().assumed
        };
        assert_eq!(assumed("(no) 0.3333 0.3333 0.3334; (yes) 0.9 0.1 0;").len(), 1);
        let told = assumed("(no) 0.3 0.3 0.3; (yes) 0.9 0.1 0;");
        assert_eq!(told[1], "1 row of probabilities does not add up to 1, and is taken as it is");
    }

    #[test]
    fn comments_may_stand_first_and_tables_before_variables() {
        let grass = "probability ( grass | rain ) { default 0.1, 0.2, 0.7; }";
        let usual = read(format!("{RAIN}{grass}").as_bytes()).unwrap();
        for text in [
            format!("// by hand\n{RAIN}{grass}"),
            format!("/* by\nhand */ {RAIN}{grass}"),
            format!("network{{ }}\n{}{grass}", &RAIN[RAIN.find("variable").unwrap()..]),
        ] {
            assert!(detect(text.as_bytes()), "{text}");
            assert_eq!(read(text.as_bytes()).unwrap().body, usual.body);
        }
        let (head, rain) = RAIN.split_at(RAIN.find("probability").unwrap());
        let turned = read(format!("{rain}{grass}\n{head}").as_bytes()).unwrap();
        assert_eq!(turned, usual);
        assert!(!detect(b"/ network") && !detect(b"networks {"));
    }

    #[test]
    fn a_default_stands_for_all_rows_that_memory_has_room_for() {
        let of_parents = |parents: usize| {
            let names: Vec<String> = (0..parents).map(|parent| format!("p{parent}")).collect();
            let variable = |name: &String| {
                format!(
                    "variable {name} {{ type discrete {{ a, b, c }}; }}\nprobability ( {name} ) {{ default 1, 1, 1; }}\n"
                )
            };
            let variables: String = names.iter().map(variable).collect();
            let child = "variable y { type discrete { t, f }; }\n";
            let head = names.join(", ");
            read(
                format!("{variables}{child}probability ( y | {head} ) {{ default 0.25, 0.75; }}")
                    .as_bytes(),
            )
        };
        let Body::Factors { factors, .. } = of_parents(8).unwrap().body else { panic!("tables") };
        let expected: Vec<f64> = [0.25f64.ln(), 0.75f64.ln()].repeat(6561);
        assert_eq!(factors[8].log_values(), expected);
        assert!(of_parents(16).unwrap_err().contains("too large"));
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let cases = [
            ("(no) 0.1, 0.2, 0.7;", "the table of grass has rows missing"),
            ("(maybe) 0.1, 0.2, 0.7;", "expected a value, found 'maybe'"),
            ("(no) 0.1, 0.2;", "expected 3 probabilities, found '2'"),
            ("table 0.1;", "expected 6 probabilities, found '1'"),
            ("(no, yes) 1, 2, 3;", "expected 1 values of parents, found '2'"),
            ("(no) 0.1, -0.2, 0.7; default 1 1 1;", "not a potential"),
            ("(no) 0.1, x, 0.7;", "expected a number, found 'x'"),
            ("rows", "found 'rows'"),
        ];
        for (rows, expected) in cases {
            let reason = factors(rows).unwrap_err();
            assert!(reason.contains(expected) && reason.contains("line "), "{rows}: {reason}");
        }
        assert!(read(RAIN.as_bytes()).unwrap_err().contains("2 variables but 1 tables"));
        assert!(read(b"network a {").unwrap_err().contains("ends before"));
    }
}
