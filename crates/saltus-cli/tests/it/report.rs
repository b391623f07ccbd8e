//! `saltus report` writes a page that works in a browser: charts, tabs, light and dark, a phone.

use crate::common::{saltus, saltus_with};
use crate::tools::chromium;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Reported {
    folder: tempfile::TempDir,
    page: PathBuf,
}

/// Samples, reports, and gives the page.
fn reported(sample: &str) -> Reported {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let ran = saltus(&format!("sample {sample} --quiet --out {}", run.display()));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = saltus_with(&["report", run.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = folder.path().join("run.html");
    assert!(ran.out.contains(page.to_str().unwrap()), "{}", ran.out);
    Reported { folder, page }
}

#[test]
fn the_page_holds_everything_and_asks_for_nothing() {
    let reported =
        reported("ising --size 6x8 --sampler dlmc --chains 5 --warmup 200 --draws 300 --keep bits");
    let html = std::fs::read_to_string(&reported.page).unwrap();
    let titles = [
        "Trace",
        "Running mean",
        "Autocorrelation",
        "Ranks",
        "Effective draws",
        "Marginal",
        "Acceptance",
        "Scale",
        "Mean picture",
        "Single draws",
    ];
    for title in titles {
        assert!(html.contains(&format!("<h3>{title}")), "{title}");
    }
    // log π, three distances, magnetisation, changes: six charts each.
    assert_eq!(html.matches("<div role=\"tabpanel\"").count(), 6);
    assert_eq!(html.matches("class=\"chart\"").count(), 6 * 6 + 2 + 1);
    assert_eq!(html.matches("<img").count(), 1 + 20);
    // Only the name of SVG itself looks like an address.
    let addresses = html.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http://", "https://", "src=\"/", "@import", "url("] {
        assert!(!addresses.contains(outside), "{outside}");
    }
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
}

#[test]
fn a_long_run_makes_no_long_page() {
    let sample = "bernoulli --sites 4 --chains 3 --warmup 20 --draws 100000 --sampler gibbs";
    let reported = reported(sample);
    let length = std::fs::metadata(&reported.page).unwrap().len();
    assert!(length < 1_000_000, "{length} bytes");
}

#[test]
fn odd_runs_have_pages_too() {
    for sample in [
        "ising --size 3 --chains 1 --warmup 0 --draws 1",
        "ising --size 3 --chains 2 --warmup 5 --draws 3",
        // Nothing moves.
        "ising --size 3 --coupling 500 --field 50 --sampler gwg --chains 2 --warmup 50 --draws 10",
        "potts --size 4 --chains 2 --warmup 20 --draws 20 --keep states",
        "fhmm --length 5 --factors 2 --chains 2 --warmup 20 --draws 20",
    ] {
        let html = std::fs::read_to_string(reported(sample).page).unwrap();
        assert!(!html.contains("NaN") && html.ends_with("</html>\n"), "{sample}");
    }
}

#[test]
fn nothing_is_overwritten_unasked() {
    let reported = reported("ising --size 3 --chains 1 --warmup 10 --draws 10");
    let run = reported.folder.path().join("run");
    let run = run.to_str().unwrap();
    let again = saltus_with(&["report", run]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("exists already: --force"), "{}", again.err);
    assert_eq!(saltus_with(&["report", run, "--force"]).code, 0);
    let other = reported.folder.path().join("other.html");
    assert_eq!(saltus_with(&["report", run, "--out", other.to_str().unwrap()]).code, 0);
    assert!(other.exists());
    let nowhere = saltus_with(&["report", run, "--out", "no/such/folder/page.html"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.err.contains("cannot write no/such/folder/page.html"), "{}", nowhere.err);
    let nothing = saltus_with(&["report", reported.folder.path().to_str().unwrap()]);
    assert_eq!(nothing.code, 1);
    assert!(nothing.err.contains("is not a run of saltus"), "{}", nothing.err);
}

/// A page that shows the report as a phone would, uses it, and writes down what happened.
const USER: &str = r#"<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" style="border:0" width="390" height="844" src="run.html"></iframe>
<pre id="seen"></pre><script>
const frame = document.getElementById("page");
frame.onload = () => {
  const page = frame.contentDocument, view = frame.contentWindow;
  const theme = page.getElementById("theme");
  const tabs = [...page.querySelectorAll('[role="tab"]')];
  const open = () => [...page.querySelectorAll('[role="tabpanel"]')].filter(p => !p.hidden).map(p => p.id);
  const colour = () => view.getComputedStyle(page.body).backgroundColor;
  const visible = c => c.getBoundingClientRect().width > 0 && c.querySelectorAll("path, rect").length > 0;
  const seen = { charts: [...page.querySelectorAll(`[id="${open()[0]}"] svg.chart`)].filter(visible).length };
  seen.first = open();
  tabs[2].click();
  seen.clicked = open();
  tabs[2].focus();
  tabs[2].dispatchEvent(new view.KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  seen.arrow = open();
  seen.focus = page.activeElement.id;
  seen.outline = view.getComputedStyle(page.activeElement).outlineStyle;
  seen.before = [view.getComputedStyle(page.documentElement).colorScheme, colour()];
  theme.click();
  seen.after = [view.getComputedStyle(page.documentElement).colorScheme, colour()];
  theme.click();
  seen.again = colour();
  seen.beyond = page.documentElement.scrollWidth - page.documentElement.clientWidth;
  document.getElementById("seen").textContent = JSON.stringify(seen);
};
</script>"#;

#[test]
fn the_page_works_in_a_browser() {
    let Some(chromium) = chromium() else { return };
    let reported = reported("ising --size 8 --chains 4 --warmup 200 --draws 500 --keep bits");
    let harness = reported.folder.path().join("user.html");
    std::fs::write(&harness, USER).unwrap();
    let (dom, log) = browse(&chromium, &harness, reported.folder.path());
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    let seen = dom.split("<pre id=\"seen\">").nth(1).unwrap().split("</pre>").next().unwrap();
    let seen: Value = serde_json::from_str(seen).unwrap_or_else(|_| panic!("{seen}\n{log}"));
    assert_eq!(seen["charts"], 6, "{seen}");
    assert_eq!(seen["first"], serde_json::json!(["panel-log_prob"]));
    assert_eq!(seen["clicked"], serde_json::json!(["panel-hamming_2"]));
    assert_eq!(seen["arrow"], serde_json::json!(["panel-hamming_3"]));
    assert_eq!(seen["focus"], "tab-hamming_3");
    assert_ne!(seen["outline"], "none");
    assert_ne!(seen["before"], seen["after"]);
    assert_eq!(seen["again"], seen["before"][1]);
    // Nothing sticks out of a phone.
    assert_eq!(seen["beyond"], 0, "{seen}");
}

/// The document as it is in the end, and what the browser had to say.
fn browse(chromium: &Path, page: &Path, profile: &Path) -> (String, String) {
    let output = Command::new(chromium)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}
