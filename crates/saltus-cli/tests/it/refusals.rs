//! What cannot be done is refused in one sentence, with the right exit code and without a panic.

use crate::common::{Folder, saltus, saltus_with, tensors};

/// Asserts the exit code and that the first line of stderr says so; stdout stays empty.
fn refused(line: &str, code: i32, sentence: &str) {
    let ran = saltus(line);
    let first = ran.err.lines().next().unwrap_or_default();
    assert_eq!(ran.code, code, "{line}: {}", ran.err);
    assert!(first.contains(sentence), "{line}: {}", ran.err);
    assert_eq!(ran.out, "", "{line}");
}

#[test]
fn impossible_numbers() {
    let cases = [
        ("sample ising --size 0", "at least 1, got 0"),
        ("sample ising --size 5x", "not a whole number"),
        ("sample ising --size -3", "cannot be negative"),
        ("sample ising --size -3x4", "cannot be negative"),
        ("sample ising --size 99999999x99999999", "a lattice of 99999999x99999999 is too large"),
        ("sample potts --values 1", "between 2 and 256 values, got 1"),
        ("sample potts --values 257", "between 2 and 256 values, got 257"),
        ("sample fhmm --values 1", "between 2 and 256 values, got 1"),
        ("sample fhmm --length 0", "at least 1, got 0"),
        ("sample rbm --hidden 0", "at least 1, got 0"),
        ("sample bernoulli --sites -7", "cannot be negative, got -7"),
        ("sample ising --chains 0", "at least 1, got 0"),
        ("sample ising --chains -5", "cannot be negative, got -5"),
        ("sample ising --chains 2.5", "'2.5' is not a whole number"),
        ("sample ising --draws 0", "at least 1, got 0"),
        ("sample ising --warmup -1", "cannot be negative, got -1"),
        ("sample ising --thin 0", "at least 1, got 0"),
        ("sample ising --threads 0", "at least 1, got 0"),
        ("sample ising --threads 999999", "at most 1024 threads"),
        ("sample ising --seed -1", "cannot be negative"),
        ("sample ising --coupling nan", "not a finite number"),
        ("sample ising --coupling inf", "not a finite number"),
        ("sample ising --coupling 1e99", "too large"),
        ("sample ising --field much", "'much' is not a number"),
        ("sample ising --scale 0", "a step size from 1e-9 to 1e9, got 0"),
        ("sample ising --scale -1", "a step size from 1e-9 to 1e9, got -1"),
        ("sample ising --scale nan", "not a finite number"),
        ("sample ising --size 3 --sampler rwm --scale 10", "number of sites from 1 to 9, got 10"),
        ("sample ising --sampler gwg --scale 1", "gwg has no scale"),
        ("sample ising --target-acceptance 1", "strictly between 0 and 1, got 1"),
        ("sample ising --time-limit 0s", "not a time that can pass"),
        ("sample ising --time-limit soon", "unknown unit 'soon'"),
        ("sample ising --time-limit -3s", "not a time that can pass"),
        ("compare ising --scale 0.1", "the scale of rwm must be a number of sites"),
    ];
    for (line, sentence) in cases {
        refused(line, 2, sentence);
    }
}

#[test]
fn more_than_any_machine_can_hold_or_count() {
    let cases = [
        ("sample ising --chains 99999999999999", "of memory"),
        ("sample bernoulli --sites 4000000000 --chains 1000000", "of memory"),
        ("sample rbm --visible 99999999 --hidden 99999999", "of memory"),
        ("sample fhmm --length 9999999999 --factors 9999999999", "of memory"),
        ("sample ising --draws 18446744073709551615", "more than can be counted"),
        ("sample ising --draws 99999999999 --thin 99999999999", "more than can be counted"),
        ("sample ising --warmup 18446744073709551615", "more than can be counted"),
        ("sample ising --chains 99999999999999999999", "more than can be counted"),
    ];
    for (line, sentence) in cases {
        refused(line, 2, sentence);
    }
}

#[test]
fn the_nearest_name_is_suggested() {
    let cases = [
        ("sampel ising", "sample"),
        ("sample isng", "ising"),
        ("compare pots", "potts"),
        ("sample ising --copling 1", "--coupling"),
        ("sample ising --sampler dlcm", "dlmc"),
        ("compare ising --samplers rwm,dmaal", "dmala"),
        ("sample ising --weight sqr", "sqrt"),
        ("sample ising --preset hihg", "high"),
        ("sample fhmm --differences exakt", "exact"),
    ];
    for (line, name) in cases {
        let ran = saltus(line);
        assert_eq!(ran.code, 2, "{line}");
        let suggests = ran.err.contains("similar") || ran.err.contains("did you mean");
        assert!(suggests && ran.err.contains(&format!("'{name}'")), "{line}: {}", ran.err);
    }
}

#[test]
fn options_that_contradict_each_other() {
    refused("sample rbm --weights w --visible 3", 2, "--weights <FILE>' cannot be used with");
    refused("sample ising --scale 1 --target-acceptance 0.5", 2, "cannot be used with");
    refused("sample pairwise", 2, "required arguments were not provided");
    assert_eq!(saltus("sample").code, 2);
    assert_eq!(saltus("").code, 2);
}

#[test]
fn edge_files_that_make_no_model() {
    let folder = Folder::new();
    let cases = [
        ("0 1 1\n0 1\n", "line 2: expected an edge 'i j J'"),
        ("0 1 strong\n", "line 1: expected a number, found 'strong'"),
        ("# comment\n\n0 1 nan\n", "line 3: 'nan' is not a finite number"),
        ("-1 1 1\n", "line 1: expected the number of a site"),
        ("2 2 1\n", "line 1: joins site 2 to itself"),
        ("0 99999999999 1\n", "line 1: expected the number of a site"),
        ("# nothing\n", "holds no edge"),
    ];
    for (content, sentence) in cases {
        let path = folder.file("edges.txt", content);
        refused(&format!("sample pairwise --edges {path}"), 1, sentence);
        refused(&format!("sample pairwise --edges {path}"), 1, &path);
    }
    let not_text = folder.file("bytes.txt", [0xff, 0xfe, 0x00, 0x80]);
    refused(&format!("sample pairwise --edges {not_text}"), 1, "cannot be read");
    refused("sample pairwise --edges no-such-file", 1, "no-such-file: cannot be read");
    let edges = folder.file("good.txt", "0 1 1\n");
    refused(
        &format!("sample pairwise --edges {edges} --sites 1"),
        2,
        "at least 2 sites are needed",
    );
    let fields = folder.file("fields.txt", "5 1\n");
    refused(
        &format!("sample pairwise --edges {edges} --fields {fields}"),
        1,
        "line 1: names site 5, but the last site is 1",
    );
}

#[test]
fn machines_that_cannot_be_read() {
    let folder = Folder::new();
    let machine = |weight: &[f32]| {
        tensors(&[
            ("weight", &[1, 2], weight),
            ("hidden_bias", &[1], &[0.0]),
            ("visible_bias", &[2], &[0.0, 0.0]),
        ])
    };
    let whole = machine(&[1.0, 1.0]);
    let wrong_shape = tensors(&[
        ("weight", &[2, 2], &[1.0; 4]),
        ("hidden_bias", &[1], &[0.0]),
        ("visible_bias", &[2], &[0.0, 0.0]),
    ]);
    let cases = [
        ("truncated", whole[..whole.len() - 3].to_vec()),
        ("empty", Vec::new()),
        ("not_a_number", machine(&[1.0, f32::NAN])),
        ("wrong_shape", wrong_shape),
        ("without_weight", tensors(&[("hidden_bias", &[1], &[0.0])])),
        ("text", b"0 1 1\n".to_vec()),
    ];
    for (name, content) in cases {
        let path = folder.file(name, content);
        refused(&format!("sample rbm --weights {path}"), 1, &path);
    }
    refused("sample rbm --weights no-such-file", 1, "no-such-file: cannot be read");
}

#[test]
fn odd_words_are_refused_too() {
    for arguments in [
        ["sample", "ising", "--size", ""],
        ["sample", "ising", "--chains", "½"],
        ["sample", "ising", "--time-limit", "5µs"],
        ["sample", "ising", "--sampler", ""],
        ["compare", "ising", "--samplers", "dlmc,,rwm"],
    ] {
        assert_eq!(saltus_with(&arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn what_the_laboratory_has_now_answers_where_it_went() {
    for command in ["paper", "flow", "train vae"] {
        let rests =
            ["", "--list", "--help", "-h", "junk --out x --epochs -3", "-- -x", "--target=1,2 -qV"];
        for rest in rests {
            let ran = saltus(&format!("{command} {rest}"));
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command} {rest}: {}", ran.err);
            let expected = format!(
                "saltus: `saltus {command}` has moved: \
                 cargo run --release -p saltus-lab -- {command} …\n"
            );
            assert_eq!(ran.err, expected);
        }
    }
}
