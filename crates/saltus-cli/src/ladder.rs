//! What a tempered run showed, as a table and a sentence, and its rungs as a file.

use crate::export::{check_free_or_stdout, put};
use crate::failure::Failure;
use crate::number::{short, short_or_dash, with_error};
use crate::table::{finish, plain_table, wrap};
use comfy_table::CellAlignment;
use saltus::temper::{LadderVerdict, TemperReport};
use saltus::{Outcome, Settings};
use std::fmt::Write as _;
use std::path::Path;

/// A line per rung, then the sentence.
pub fn words(tempering: &TemperReport) -> String {
    words_of(tempering, &verdict(&tempering.verdict()))
}

/// The same with another verdict than that of the ladder alone.
pub fn words_of(tempering: &TemperReport, verdict: &str) -> String {
    let mut table = plain_table();
    table.set_header(["rung", "b", "rejected", "λ", "scale", "accept", "memory"]);
    for (rung, beta) in tempering.betas.iter().enumerate() {
        let of_chain = |numbers: &[f64]| {
            let number = rung.checked_sub(1).and_then(|below| numbers.get(below)).copied();
            short_or_dash(number)
        };
        let memory = rung.checked_sub(1).and_then(|below| tempering.autocorrelations[below]);
        table.add_row([
            rung.to_string(),
            format!("{beta:.4}"),
            tempering.rejections.get(rung).map_or("–".to_owned(), |r| format!("{r:.3}")),
            short(tempering.local_barrier[rung]),
            of_chain(&tempering.scales),
            of_chain(&tempering.acceptances),
            memory.map_or("–".to_owned(), |memory| format!("{memory:.2}")),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n{}\n", finish(&mut table), wrap(&sentence_of(tempering, verdict), "", ""))
}

/// What the ladder came to, in a sentence.
pub fn sentence(tempering: &TemperReport) -> String {
    sentence_of(tempering, &verdict(&tempering.verdict()))
}

fn sentence_of(tempering: &TemperReport, verdict: &str) -> String {
    let log_z = with_error(Some(tempering.log_z), tempering.log_z_se);
    let between = match (tempering.log_z_lower, tempering.log_z_upper) {
        (Some(lower), Some(upper)) => format!(" (between {lower:.4} and {upper:.4})"),
        _ => String::new(),
    };
    let identified = if tempering.is_identified() { "" } else { " at least" };
    format!(
        "Ladder: {}. Barrier {:.3}{identified}; {} round trips, {:.0} if exploration were ideal. log Z = \
         {log_z}{between}.",
        verdict, tempering.barrier, tempering.round_trips, tempering.round_trips_expected
    )
}

/// The verdict with what to try.
fn verdict(verdict: &LadderVerdict) -> String {
    let advice = match verdict {
        LadderVerdict::AddRungs { .. } => "; try a longer --warmup, in which more are found",
        LadderVerdict::TooSlow { .. } => "; try another --sampler",
        LadderVerdict::Fine | LadderVerdict::NotMeasured { .. } => "",
    };
    format!("{verdict}{advice}")
}

/// Fails before the work if rungs cannot be written.
pub fn check(path: &Path, settings: &Settings, force: bool) -> Result<(), Failure> {
    if settings.temper.is_none() {
        return Err(Failure::Usage(
            "--keep-rungs is about ladders: ask for one by --temper".into(),
        ));
    }
    check_free_or_stdout(path, force)
}

/// Writes log π on every rung: a line per ladder, scan and rung.
pub fn write(path: &Path, outcome: &Outcome, force: bool) -> Result<(), Failure> {
    let (Some(ensembles), Some(tempering)) = (&outcome.rung_draws, &outcome.tempering) else {
        return Ok(());
    };
    let rungs = tempering.betas.len();
    let mut text = "ladder,scan,rung,beta,log_prob\n".to_owned();
    for (ladder, draws) in ensembles.iter().enumerate() {
        for (number, draw) in draws.iter().enumerate() {
            let (scan, rung) = (number / rungs, number % rungs);
            let (beta, log_prob) = (tempering.betas[rung], draw.log_prob);
            let _ = writeln!(text, "{ladder},{scan},{rung},{beta},{log_prob}");
        }
    }
    put(path, force, &text)
}
