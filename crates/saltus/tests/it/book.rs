//! The book holds together without mdBook: every page of its summary is there, every page is in the summary,
//! every relative link of a page leads somewhere, and its tables say what the library says.

use saltus::kernel::{Kind, ScaleUnit};
use saltus::{Balancing, Finding, Method, Space};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Where the links and pictures of a page lead, outside of blocks of code.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code || line.starts_with("    ") {
            continue;
        }
        for rest in line.split("](").skip(1) {
            links.extend(rest.split_once(')').map(|(link, _)| link.to_owned()));
        }
    }
    links
}

/// A heading as browsers are sent to it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Every page that stands in the repository beside the code.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "REPRODUCTION.md"]
            .map(PathBuf::from)
            .into();
    pages.extend(
        ["saltus", "saltus-cli", "saltus-nn", "saltus-py"]
            .map(|name| format!("crates/{name}/README.md").into()),
    );
    pages.extend(pages_of_the_book());
    pages
}

fn pages_of_the_book() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

#[test]
fn the_summary_names_every_page_once() {
    let named: Vec<PathBuf> =
        links(&read("docs/SUMMARY.md")).iter().map(|link| Path::new("docs").join(link)).collect();
    let there = pages_of_the_book();
    let there: BTreeSet<_> = there.iter().filter(|page| !page.ends_with("SUMMARY.md")).collect();
    assert_eq!(named.iter().collect::<BTreeSet<_>>(), there);
    assert_eq!(named.len(), there.len(), "a page stands in the summary twice");
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut looked_at = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let there = root().join(&target);
            assert!(there.exists(), "{}: {link} leads nowhere", page.display());
            if !heading.is_empty() {
                let headings = read(&target);
                let mut headings = headings.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
                assert!(found, "{}: no heading for {link}", page.display());
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 40, "{looked_at} links");
}

#[test]
fn a_link_that_leads_nowhere_would_be_seen() {
    let page = "[one](a.md#b) and ![two](c.svg)\n```\n[three](d.md)\n```\n";
    assert_eq!(links(page), ["a.md#b", "c.svg"]);
    assert_eq!(anchor(" The command line, in short"), "the-command-line-in-short");
}

/// The cells of the rows of a table whose first cell is a word in backticks.
fn rows(page: &str) -> Vec<Vec<String>> {
    page.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
        })
        .collect()
}

#[test]
fn the_table_of_samplers_is_what_they_say_of_themselves() {
    let page = read("docs/samplers.md");
    let rows: Vec<Vec<String>> = rows(&page).into_iter().filter(|row| row.len() == 6).collect();
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, Method::ALL.iter().map(|method| method.name()).collect::<Vec<_>>());
    // Large enough for N, C and N (C − 1) to differ.
    let (sites, values) = (7.0, 3.0);
    let space = Space::new(7, 3).unwrap();
    for (row, method) in rows.iter().zip(Method::ALL) {
        let traits = method.traits(&space);
        let kind = match traits.kind {
            Kind::WithoutDifferences => "without differences",
            Kind::FewSites => "few sites",
            Kind::AllSites => "all sites",
            Kind::Structure => "structure",
        };
        assert!(row[2].starts_with(kind), "{row:?}");
        assert_eq!(row[2].contains("weighted"), traits.is_weighted, "{row:?}");
        let scale = traits.scale.map_or(String::new(), |scale| {
            let unit = match scale.unit {
                ScaleUnit::StepSize => "step size",
                ScaleUnit::Radius => "number of sites",
            };
            format!("{unit}, {}", scale.target_acceptance)
        });
        assert_eq!(row[3], scale, "{row:?}");
        let charge = match row[4].as_str() {
            "N C" => sites * values,
            "C²" => values * values,
            "1 + 10 (C − 1)" => 1.0 + 10.0 * (values - 1.0),
            "N (C − 1) + 1" => sites * (values - 1.0) + 1.0,
            "2 (N (C − 1) + 1)" => 2.0 * (sites * (values - 1.0) + 1.0),
            number => number.parse().unwrap(),
        };
        assert_eq!(charge, traits.evaluations_charged, "{row:?}");
        assert_eq!(row[5] == "yes", traits.is_balanced, "{row:?}");
        // The first author of the first reference.
        let author = traits.reference.split([' ', ',']).next().unwrap();
        assert!(row[1].contains(author), "{row:?}: {}", traits.reference);
    }
    for balancing in Balancing::ALL {
        assert!(page.contains(&format!("`{balancing}`")), "{balancing}");
    }
}

#[test]
fn every_finding_has_a_row() {
    // One of each, as far as codes go.
    let (name, ended) = (String::new, String::new());
    let by = saltus::Disagreement::Rhat { observable: name(), rhat: None };
    let elsewhere = saltus::Elsewhere { observable: name(), here: 0.0, there: 0.0 };
    let cause = saltus::AcceptanceCause::ShortWarmup;
    let findings = [
        Finding::Incomplete { ended, failed: false, draws: 0, asked: 0 },
        Finding::Stuck { chains: Vec::new(), of: 0 },
        Finding::Acceptance { acceptance: 0.0, target: 0.0, cause, warmup: 0 },
        Finding::Silent { chains: 0 },
        Finding::Level { chains: 0, of: 0 },
        Finding::Frozen { sites: 0, of: 0 },
        Finding::ShortWarmup { observable: name(), rising: true, warmup: 0 },
        Finding::Disagree { by },
        Finding::TooSlow { observable: name(), rhat: None, ess: 0.0 },
        Finding::Asymmetric { observable: name(), mean: 0.0, error: None, exact: 0.0 },
        Finding::Inexact { observable: name(), mean: 0.0, error: None, exact: 0.0 },
        Finding::Elsewhere { scouts: 0, of: 0, by: elsewhere },
        Finding::Contradicted { by: name(), observable: name(), here: 0.0, there: 0.0 },
        Finding::Unscouted { why: saltus::Unsent::Costly },
        Finding::TooFewDraws { fewest: None, rhat: None, resembles: None },
        Finding::OneChain,
        Finding::Barrier { rejection: 0.0, beta: 0.0 },
        Finding::Exploration { beta: 0.0 },
        Finding::UnequalWeights { chains: 0, effective: 0.0 },
        Finding::MissedMass { log_z: 0.0, at_least: 0.0 },
        Finding::DirectionsApart { forward: 0.0, reverse: 0.0 },
    ];
    let page = read("docs/diagnostics.md");
    let (_, after) = page.split_once("## Findings").expect("a heading");
    let section = after.split("\n## ").next().unwrap();
    let told: Vec<String> = rows(section).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(told, findings.iter().map(|finding| finding.code()).collect::<Vec<_>>());
}
