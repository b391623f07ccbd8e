//! Readers of model files never panic, whatever the bytes, and what they read they write and read again.

use saltus::rng::Stream;
use saltus::zoo::read::{Format, evidence};
use saltus::zoo::write::write;
use saltus::{ChainRng, zoo::read::Body};

/// A small file of every format.
const FILES: &[(Format, &[u8])] = &[
    (Format::Uai, b"c two bits and a number\nMARKOV\n3\n2 2 3\n3\n1 0\n2 0 1\n2 1 2\n\n2\n 0.3 0.7\n\n4\n 1 0 .5 2e-3\n\n6\n1 2 3 4 5 6\n"),
    (Format::Bif, b"network a { }\nvariable x { type discrete [ 2 ] { yes, no }; }\nvariable y { type discrete [ 3 ] { a, b, c }; }\nprobability ( x ) { table 0.2, 0.8; }\nprobability ( y | x ) { (yes) 0.1, 0.2, 0.7; default 1.0, 0.0, 0.0; }\n"),
    (Format::Dca, b"J 0 1 A - 0.5\nJ 1 2 C U -0.25\nh 0 A 1\nh 1 G 0.5\nh 2 U -1e-2\n"),
    (Format::Json, b"{\"type\": \"BinaryQuadraticModel\", \"variable_type\": \"SPIN\", \"offset\": 1.5, \"variable_labels\": [\"a\", \"b\"], \"linear_biases\": [1, -2], \"quadratic_biases\": [4], \"quadratic_head\": [0], \"quadratic_tail\": [1]}"),
    (Format::Qubo, b"c made\np qubo 0 3 3 2\n0 0 -1\n1 1 2\n2 2 0.5\n0 1 3\n1 2 -4\n"),
    (Format::MatrixMarket, b"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 2 -1\n3 3 2\n"),
    (Format::Gset, b"4 4 \n1 2 1\n2 3 -1\n3 4\n1 4 2.5\n"),
    (Format::Coo, b"# vartype=SPIN\n0 0 1\n0 1 -2\n1 2 1e-1\n"),
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

fn files() -> Vec<(Format, Vec<u8>)> {
    let mut files: Vec<(Format, Vec<u8>)> =
        FILES.iter().map(|(format, bytes)| (*format, bytes.to_vec())).collect();
    files.push((Format::Bqm, bqm()));
    files
}

#[test]
fn every_format_is_recognised_and_read() {
    let files = files();
    assert_eq!(files.len(), Format::ALL.len());
    for (format, bytes) in files {
        assert_eq!(Format::detect(&bytes), Ok(format));
        let file = format.read(&bytes).unwrap_or_else(|reason| panic!("{format}: {reason}"));
        assert!(!file.words.is_empty());
        // As tables, and these once more: nothing changes.
        let tables = Format::Uai.read(write(&file, Format::Uai).unwrap().as_bytes()).unwrap();
        let again = Format::Uai.read(write(&tables, Format::Uai).unwrap().as_bytes()).unwrap();
        assert_eq!(again.body, tables.body, "{format}");
        if let Body::Spins(_) = &file.body {
            let coo = Format::Coo.read(write(&file, Format::Coo).unwrap().as_bytes()).unwrap();
            let (Body::Spins(mut one), Body::Spins(mut other)) = (file.body, coo.body) else {
                panic!("spins");
            };
            // COO has no place for a constant.
            (one.constant, other.constant) = (0.0, 0.0);
            assert_eq!(one, other, "{format}");
        }
    }
    assert!(Format::detect(b"").is_err() && Format::detect(b"hello, world").is_err());
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

/// What is read of a broken file, or why not.
fn try_all(bytes: &[u8]) {
    for format in Format::ALL {
        if let Err(reason) = format.read(bytes) {
            assert!(!reason.is_empty() && !reason.contains('\u{0}'), "{format}: {reason:?}");
        }
    }
    let _ = Format::detect(bytes);
    let _ = evidence(bytes);
}

#[test]
fn broken_files_are_refused_and_nothing_panics() {
    let mut rng = ChainRng::new(17, Stream::Model);
    for (_, bytes) in files() {
        for _ in 0..400 {
            try_all(&mutate(&bytes, &mut rng));
        }
    }
}

#[test]
#[ignore = "long: for .ci/night"]
fn broken_files_are_refused_a_hundred_times_as_often() {
    let mut rng = ChainRng::new(18, Stream::Model);
    for (_, bytes) in files() {
        for _ in 0..40_000 {
            try_all(&mutate(&bytes, &mut rng));
        }
    }
}
