//! Readers of model files never panic, whatever the bytes; what is written in another format and read again is the same model.

use proptest::prelude::*;
use saltus::model::polynomial::Variables;
use saltus::rng::Stream;
use saltus::zoo::read::{Body, Format, ModelFile, PolynomialTerms, Spins, evidence};
use saltus::zoo::write::{Npy, WRITTEN, npz, write};
use saltus::{ChainRng, Factor};
use std::time::{Duration, Instant};

/// A small file of every format that is text.
const FILES: &[(Format, &[u8])] = &[
    (Format::Uai, b"c two bits and a number\nMARKOV\n3\n2 2 3\n3\n1 0\n2 0 1\n2 1 2\n\n2\n 0.3 0.7\n\n4\n 1 0 .5 2e-3\n\n6\n1 2 3 4 5 6\n"),
    (Format::Bif, b"network a { }\nvariable x { type discrete [ 2 ] { yes, no }; }\nvariable y { type discrete [ 3 ] { a, b, c }; }\nprobability ( x ) { table 0.2, 0.8; }\nprobability ( y | x ) { (yes) 0.1, 0.2, 0.7; default 1.0, 0.0, 0.0; }\n"),
    (Format::Dca, b"J 0 1 A - 0.5\nJ 1 2 C U -0.25\nh 0 A 1\nh 1 G 0.5\nh 2 U -1e-2\n"),
    (Format::Json, b"{\"type\": \"BinaryQuadraticModel\", \"variable_type\": \"SPIN\", \"offset\": 1.5, \"variable_labels\": [\"a\", \"b\"], \"linear_biases\": [1, -2], \"quadratic_biases\": [4], \"quadratic_head\": [0], \"quadratic_tail\": [1]}"),
    (Format::Qubo, b"c made\np qubo 0 3 3 2\n0 0 -1\n1 1 2\n2 2 0.5\n0 1 3\n1 2 -4\n"),
    (Format::MatrixMarket, b"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 2 -1\n3 3 2\n"),
    (Format::Gset, b"4 4 \n1 2 1\n2 3 -1\n3 4\n1 4 2.5\n"),
    (Format::Coo, b"# vartype=SPIN\n0 0 1\n0 1 -2\n1 2 1e-1\n"),
    (Format::Poly, b"# vartype=BINARY\n0.25\n0 1\n1 -0.5\n0 1 2\n0 1 2 -3\n3 1 0 2 0.125\n"),
];

/// A `.bqm` file of two variables.
fn bqm() -> Vec<u8> {
    let header = br#"{"dtype": "float64", "itype": "uint32", "ntype": "uint64", "shape": [2, 1], "type": "AdjVectorBQM", "vartype": "BINARY"}"#;
    let mut bytes =
        [&b"DIMODBQM\x01\x00"[..], &(header.len() as u32).to_le_bytes(), header].concat();
    bytes.extend(8f64.to_le_bytes());
    for (start, bias) in [(0u64, 1f64), (1, 2.0)] {
        bytes.extend(start.to_le_bytes());
        bytes.extend(bias.to_le_bytes());
    }
    for (other, bias) in [(1u32, 4f64), (0, 4.0)] {
        bytes.extend(other.to_le_bytes());
        bytes.extend(bias.to_le_bytes());
    }
    bytes
}

fn array(shape: &[usize], number: impl Fn(usize) -> f64) -> Npy {
    let count = shape.iter().product();
    Npy { shape: shape.to_vec(), numbers: (0..count).map(number).collect() }
}

/// Fields and tables of three values, and an RBM, as arrays of numpy.
fn archives() -> [Vec<u8>; 2] {
    // Between sites 0 and 1 alone, above the diagonal.
    let couplings =
        array(&[2, 2, 3, 3], |at| if (9..18).contains(&at) { at as f64 * 0.1 } else { 0.0 });
    let fields = array(&[2, 3], |at| at as f64 - 2.0);
    let tables = npz([("J", &couplings), ("h", &fields)]).unwrap();
    let weight = array(&[2, 3], |at| at as f64 * 0.25);
    let (hidden, visible) = (array(&[2], |_| 0.5), array(&[3], |at| at as f64));
    let rbm = npz([("W", &weight), ("c", &hidden), ("b", &visible)]).unwrap();
    [tables, rbm]
}

fn files() -> Vec<(Format, Vec<u8>)> {
    let mut files: Vec<(Format, Vec<u8>)> =
        FILES.iter().map(|(format, bytes)| (*format, bytes.to_vec())).collect();
    files.push((Format::Bqm, bqm()));
    let [tables, rbm] = archives();
    let tensors = write(&Format::Numpy.read(&rbm).unwrap(), Format::Tensors).unwrap();
    files.extend([(Format::Numpy, tables), (Format::Numpy, rbm), (Format::Tensors, tensors)]);
    files
}

/// Numbers of values of all sites.
fn cardinalities(body: &Body) -> Vec<usize> {
    match body {
        Body::Factors { cardinalities, .. } => cardinalities.clone(),
        Body::Spins(spins) => vec![2; spins.fields.len()],
        Body::Polynomial(terms) => vec![2; terms.sites],
        _ => panic!("no tables"),
    }
}

/// log π as the file says it, from nothing but its numbers.
fn log_prob(body: &Body, state: &[u8]) -> f64 {
    let spin = |site: u32| 2.0 * f64::from(state[site as usize]) - 1.0;
    match body {
        Body::Factors { cardinalities, factors } => {
            let entry = |factor: &Factor| {
                let place = factor.scope().iter().fold(0, |place, site| {
                    place * cardinalities[*site as usize] + usize::from(state[*site as usize])
                });
                factor.log_values()[place]
            };
            factors.iter().map(entry).sum()
        }
        Body::Spins(Spins { fields, couplings, constant }) => {
            let fields = fields.iter().enumerate().map(|(site, field)| field * spin(site as u32));
            let pairs = couplings.iter().map(|(one, other, j)| j * spin(*one) * spin(*other));
            constant + fields.sum::<f64>() + pairs.sum::<f64>()
        }
        Body::Polynomial(PolynomialTerms { variables, terms, .. }) => {
            let bit = |site: u32| f64::from(state[site as usize]);
            let value =
                |site: &u32| if *variables == Variables::Spins { spin(*site) } else { bit(*site) };
            terms.iter().map(|(scope, c)| c * scope.iter().map(value).product::<f64>()).sum()
        }
        _ => panic!("no tables"),
    }
}

fn all_states(cardinalities: &[usize]) -> Vec<Vec<u8>> {
    let mut states = vec![vec![]];
    for values in cardinalities {
        let longer = |state: &Vec<u8>| {
            (0..*values).map(|value| [&state[..], &[value as u8]].concat()).collect::<Vec<_>>()
        };
        states = states.iter().flat_map(longer).collect();
    }
    states
}

/// Fails unless both give all states the same log π, up to a constant.
fn assert_same(name: &str, one: &Body, other: &Body) {
    if let Body::Rbm(_) = one {
        assert_eq!(one, other, "{name}");
        return;
    }
    let cards = cardinalities(one);
    assert_eq!(cards, cardinalities(other), "{name}");
    let states = all_states(&cards);
    let logs = |body| states.iter().map(|state| log_prob(body, state)).collect::<Vec<_>>();
    let (one, other) = (logs(one), logs(other));
    let first = (0..states.len()).find(|at| one[*at].is_finite()).unwrap();
    for (at, state) in states.iter().enumerate() {
        let apart = (one[at] - one[first]) - (other[at] - other[first]);
        let same = (one[at] == other[at]) || apart.abs() < 1e-9;
        assert!(same, "{name} {state:?}: {} {}", one[at] - one[first], other[at] - other[first]);
    }
}

#[test]
fn every_format_is_recognised_and_read() {
    let files = files();
    for format in Format::ALL {
        assert!(files.iter().any(|(of, _)| of == format), "{format}");
    }
    for (format, bytes) in files {
        assert_eq!(Format::detect(&bytes), Ok(format));
        let file = format.read(&bytes).unwrap_or_else(|reason| panic!("{format}: {reason}"));
        assert!(!file.words.is_empty());
    }
    assert!(Format::detect(b"").is_err() && Format::detect(b"hello, world").is_err());
}

/// A to B to A, for every B that has room for the model.
#[test]
fn there_and_back() {
    use Format::{Bif, Bqm, Coo, Dca, Gset, Json, MatrixMarket, Numpy, Poly, Qubo, Tensors, Uai};
    let mut done = Vec::new();
    for (from, bytes) in files() {
        let file = from.read(&bytes).unwrap();
        for to in WRITTEN.into_iter().chain([Tensors]) {
            let Ok(written) = write(&file, to) else { continue };
            assert_eq!(Format::detect(&written), Ok(to), "{from} {to}");
            let there = to.read(&written).unwrap_or_else(|reason| panic!("{from} {to}: {reason}"));
            assert_same(&format!("{from} to {to}"), &file.body, &there.body);
            done.push((from, to));
            // Bayesian networks are read only.
            if let Ok(back) = write(&there, from) {
                let back = from.read(&back).unwrap();
                assert_same(&format!("{from} to {to} and back"), &file.body, &back.body);
                // Once more, and nothing changes: digits are all there.
                let again = from.read(&write(&back, from).unwrap()).unwrap();
                assert_same(&format!("{from} again"), &back.body, &again.body);
            } else {
                assert_eq!(from, Bif);
            }
        }
    }
    // Spins with fields fit everywhere but into graphs to be cut; pairs of letters into three formats.
    let spins = [Uai, Dca, Coo, Poly, Json, Bqm, Qubo, MatrixMarket, Numpy];
    let quadratic = [Coo, Json, Bqm, Qubo, MatrixMarket];
    let expected = quadratic
        .iter()
        .flat_map(|from| spins.iter().map(|to| (*from, *to)))
        .chain(spins.iter().chain([&Gset]).map(|to| (Gset, *to)))
        .chain([(Dca, Uai), (Dca, Dca), (Dca, Numpy), (Numpy, Uai), (Numpy, Dca), (Numpy, Numpy)])
        .chain([(Poly, Poly), (Poly, Uai), (Uai, Uai), (Bif, Uai)])
        .chain([(Numpy, Tensors), (Tensors, Numpy), (Tensors, Tensors)]);
    for pair in expected {
        assert!(done.contains(&pair), "{pair:?}");
    }
}

/// Changes a few bytes: other ones, none, twice, numbers that are large, the end cut off.
fn mutate(bytes: &[u8], rng: &mut ChainRng) -> Vec<u8> {
    const WORDS: [&[u8]; 8] =
        [b"99999999999", b"-1", b"nan", b"1e400", b"{", b"\xff\xfe", b"4294967295", b"0"];
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len().max(1)).min(bytes.len());
        match rng.below(5) {
            0 if at < bytes.len() => bytes[at] = rng.below(256) as u8,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.truncate(at),
            3 => {
                let end = (at + rng.below(12)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => drop(bytes.splice(at..at, WORDS[rng.below(WORDS.len())].iter().copied())),
        }
    }
    bytes
}

/// Reads bytes that may be broken, in one format, and writes what was read.
fn attempt(format: Format, bytes: &[u8]) {
    let begun = Instant::now();
    match format.read(bytes) {
        Err(reason) => {
            assert!(!reason.is_empty() && !reason.contains('\u{0}'), "{format}: {reason:?}")
        }
        Ok(file) => drop(WRITTEN.map(|to| write(&file, to))),
    }
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "{format} took {took:?} for {} bytes", bytes.len());
}

/// What is read of a broken file, or why not.
fn try_all(bytes: &[u8]) {
    Format::ALL.iter().for_each(|format| attempt(*format, bytes));
    let _ = Format::detect(bytes);
    let _ = evidence(bytes);
}

#[test]
fn broken_files_are_refused_and_nothing_panics() {
    let mut rng = ChainRng::new(17, Stream::Model);
    for (_, bytes) in files() {
        for _ in 0..300 {
            try_all(&mutate(&bytes, &mut rng));
        }
    }
}

/// The most memory that this process ever had, in bytes.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

/// A million mutations for every reader: no panic, no read of seconds, no memory that a file of a few hundred bytes is not
/// worth.
#[test]
#[ignore = "long: for .ci/night"]
fn a_million_broken_files_of_every_format_are_refused() {
    let files = files();
    let before = peak();
    for format in Format::ALL {
        let own: Vec<&Vec<u8>> =
            files.iter().filter(|(of, _)| of == format).map(|(_, bytes)| bytes).collect();
        let mut rng = ChainRng::new(18, Stream::Model);
        for number in 0..1_000_000 {
            attempt(*format, &mutate(own[number % own.len()], &mut rng));
        }
        println!("{format}: a million mutations, at most {:?} bytes", peak());
    }
    let mut rng = ChainRng::new(19, Stream::Model);
    for _ in 0..1_000_000 {
        let _ = evidence(&mutate(b"3 0 1 4 2 8 0", &mut rng));
    }
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 64 << 20, "{} MiB more than before", (after - before) >> 20);
    }
}

/// Large files of every format need at most ten times their size while they are read.
#[test]
fn large_files_need_memory_in_proportion() {
    let sites = 1500u32;
    let ring = |site: u32| (site, (site + 1) % sites, 0.1 + f64::from(site) / 7.0);
    let mut spins = Spins { fields: vec![0.25; sites as usize], ..Spins::default() };
    spins.couplings = (0..sites).map(ring).collect();
    // Many couplings, so that a file is megabytes; numpy's are as large as all pairs.
    let more = (0..60 * sites).map(|at| (at % sites, (at * 7 + 3 + at / sites) % sites, 0.5));
    let mut seen: std::collections::BTreeSet<(u32, u32)> =
        spins.couplings.iter().map(|(a, b, _)| (*a.min(b), *a.max(b))).collect();
    for (a, b, weight) in more.filter(|(a, b, _)| a != b) {
        if seen.insert((a.min(b), a.max(b))) {
            spins.couplings.push((a, b, weight));
        }
    }
    let file = ModelFile {
        variables: None,
        body: Body::Spins(spins),
        words: String::new(),
        assumed: Vec::new(),
        names: Vec::new(),
    };
    let mut written: Vec<(Format, Vec<u8>)> =
        WRITTEN.iter().filter_map(|format| Some((*format, write(&file, *format).ok()?))).collect();
    written.sort_by_key(|(_, bytes)| bytes.len());
    for (format, bytes) in written {
        let before = peak();
        let read = format.read(&bytes).unwrap();
        if let (Some(before), Some(after)) = (before, peak()) {
            let most = 10 * bytes.len() + (8 << 20);
            assert!(after - before < most, "{format}: {} for {}", after - before, bytes.len());
        }
        drop(read);
    }
}

/// Coefficients that every format holds exactly.
fn weight() -> impl Strategy<Value = f64> {
    (-4000i32..4000).prop_map(|number| f64::from(number) / 64.0)
}

fn spins_file() -> impl Strategy<Value = ModelFile> {
    (2usize..6).prop_flat_map(|sites| {
        let pairs = sites * (sites - 1) / 2;
        let weights = proptest::collection::vec(weight(), sites + pairs);
        (Just(sites), weights).prop_map(|(sites, weights)| {
            let pair = (0..sites as u32).flat_map(|b| (0..b).map(move |a| (a, b)));
            let (fields, couplings) = weights.split_at(sites);
            let couplings = pair.zip(couplings).map(|((a, b), weight)| (a, b, *weight));
            ModelFile {
                variables: None,
                body: Body::Spins(Spins {
                    fields: fields.to_vec(),
                    couplings: couplings.collect(),
                    constant: 0.0,
                }),
                words: String::new(),
                assumed: Vec::new(),
                names: Vec::new(),
            }
        })
    })
}

fn tables_file() -> impl Strategy<Value = ModelFile> {
    let cardinalities = proptest::collection::vec(1usize..4, 1..5);
    let scopes = proptest::collection::vec((any::<u64>(), 1usize..4), 0..6);
    (cardinalities, scopes).prop_map(|(cardinalities, scopes)| {
        let factor = |(seed, length): (u64, usize)| {
            let mut rng = ChainRng::new(seed, Stream::Model);
            let mut scope = vec![0; length.min(cardinalities.len())];
            rng.distinct(cardinalities.len(), &mut scope);
            let entries: usize = scope.iter().map(|site| cardinalities[*site as usize]).product();
            let potential = |_| if rng.below(8) == 0 { 0.0 } else { rng.uniform() * 10.0 };
            let potentials: Vec<f64> = (0..entries).map(potential).collect();
            Factor::from_potentials(&scope, &potentials).unwrap()
        };
        let factors = scopes.into_iter().map(factor).collect();
        ModelFile {
            variables: None,
            body: Body::Factors { cardinalities, factors },
            words: String::new(),
            assumed: Vec::new(),
            names: Vec::new(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_spins_come_back_from_every_format(file in spins_file()) {
        for format in WRITTEN {
            if let Ok(bytes) = write(&file, format) {
                let read = format.read(&bytes).unwrap();
                assert_same(format.name(), &file.body, &read.body);
            } else {
                prop_assert_eq!(format, Format::Gset);
            }
        }
    }

    #[test]
    fn any_tables_come_back_from_uai(file in tables_file()) {
        let read = Format::Uai.read(&write(&file, Format::Uai).unwrap()).unwrap();
        let Body::Factors { factors, .. } = &file.body else { panic!("tables") };
        let Body::Factors { factors: again, .. } = &read.body else { panic!("tables") };
        prop_assert_eq!(factors, again);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        try_all(&bytes);
    }

    #[test]
    fn any_numbers_are_read_or_refused(
        words in proptest::collection::vec(
            prop::sample::select(vec!["0", "1", "2", "7", "-1", "0.5", "1e3", "\n", "MARKOV", "c", "#", "J", "h", "A", "p qubo", "n"]),
            0..80,
        ),
    ) {
        try_all(words.join(" ").as_bytes());
    }
}
