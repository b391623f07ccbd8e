//! Imports of the library go one way: from each module only to those before it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The modules of the library in the order of the data flow. What stands in one line may import what
/// stands in earlier lines, and its own.
const ORDER: &[&[&str]] = &[
    &["names", "error", "math", "files"],
    &["space", "rng", "control", "workers", "adjacency", "closeness", "tensor_file"],
    &["parts"],
    &["balancing", "base"],
    &["model"],
    &["exact"],
    &["kernel"],
    &["sampler"],
    &["tune", "stats"],
    &["engine"],
    &["temper"],
    &["draws"],
    &["run"],
    &["choose"],
    &["minimize"],
    &["store"],
    &["ais"],
    &["summary", "finding", "scouts", "floor"],
    &["zoo"],
];

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|line| line.contains(&module))
}

/// Every source file below a folder, without those that hold nothing but tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let of_tests = ["tests", "exactness", "script", "skeletons"].contains(&name.as_str());
        if path.is_dir() && !of_tests {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !of_tests {
            found.push(path);
        }
    }
}

/// The modules of the crate that a text names, up to its tests and outside its comments.
fn imported(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let word = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        part[..end.unwrap_or(part.len())].to_owned()
    };
    let names = |rest: &str| match rest.strip_prefix('{') {
        Some(group) => first_words(group).iter().map(|part| word(part)).collect(),
        None => vec![word(rest)],
    };
    code.split("crate::").skip(1).flat_map(names).collect()
}

/// The parts of a group, up to its end and without those of groups within.
fn first_words(group: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            c if depth == 0 && !c.is_whitespace() => parts.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    parts
}

#[test]
fn imports_go_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 50, "{files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = rank(module).unwrap_or_else(|| panic!("{module} has no place in the order"));
        for other in imported(&std::fs::read_to_string(&file).unwrap()) {
            let Some(other_rank) = rank(&other) else {
                continue; // an item of the root, or a macro
            };
            if other_rank > own {
                wrong.push(format!("{} imports {other}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the flow:\n{}", wrong.join("\n"));
}

#[test]
fn names_are_found_in_every_form() {
    let text = "use crate::a::{b, c};\nuse crate::{d, e::{f, k}, l};\n// crate::g\nlet x = crate::h::i();\n\
                #[cfg(test)]\nmod tests { use crate::j; }";
    let found: Vec<String> = imported(text).into_iter().collect();
    assert_eq!(found, ["a", "d", "e", "h", "l"]);
}
