//! The study as tables: in Markdown for files, in plain text for terminals, and all cells as CSV.

use super::claims::Claim;
use super::measure::Row;
use super::results::{PER_EVALUATION, PER_SECOND, Results, SECONDS, weights_of};
use crate::study::{BALANCED, CHAINS, SAMPLERS, Target};
use comfy_table::CellAlignment;
use saltus::Method;
use saltus_cli::failure::Failure;
use saltus_cli::number::short;
use saltus_cli::table::{finish, plain_table, wrap};
use std::path::Path;

/// Every cell, a line each.
pub fn csv(rows: &[Row]) -> Result<Vec<u8>, Failure> {
    let failed = |reason: String| Failure::Failed(format!("cannot write the table: {reason}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| failed(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| failed(error.to_string()))
}

/// The rows of such a table.
pub fn read_csv(path: &Path) -> Result<Vec<Row>, Failure> {
    let failed = |error: csv::Error| {
        Failure::Failed(format!("{} is not a table of results: {error}", path.display()))
    };
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    reader.deserialize().collect::<Result<_, _>>().map_err(failed)
}

/// Seconds for 100,000 steps, and the paper's; of another number of chains there is no comparing.
fn seconds(results: &Results, target: Target, sampler: Method) -> Option<(f64, f64)> {
    let weight = weights_of(sampler)[0];
    let as_many = results.tuned(target, sampler, weight).all(|row| row.chains == CHAINS);
    let ours = results.mean(target, sampler, weight, SECONDS)?.value;
    as_many.then_some((ours, target.paper_seconds(sampler)?))
}

/// Our seconds for 100,000 steps beside the paper's, which are of a computer that nobody knows: no ratio of them means anything.
pub fn running_time(results: &Results) -> String {
    let mut text = String::from(
        "Seconds for 100,000 steps of 100 chains, with the weight function sqrt where there is one: \
         ours / the paper's. The paper does not name its\nhardware, so neither is divided by the \
         other.\n\n",
    );
    let names = SAMPLERS.map(Method::name);
    text += &format!("| target | {} |\n", names.join(" | "));
    text += &format!("|---{}|\n", "|---:".repeat(SAMPLERS.len()));
    for target in results.targets() {
        let cells = SAMPLERS.map(|sampler| match seconds(results, target, sampler) {
            Some((ours, paper)) => format!("{} / {}", short(ours), short(paper)),
            None => "–".to_owned(),
        });
        text += &format!("| {target} | {} |\n", cells.join(" | "));
    }
    text
}

/// The claims with their numbers and verdicts.
pub fn claims(claims: &[Claim]) -> String {
    let mut text = String::from(
        "A number marked ✗ is not what the claim says. One marked ≈ counts for nothing: it is within two \
         standard errors (over chains) of the limit, or rests on chains that have hardly moved (fewer than \
         20 effective draws each, R-hat above 1.1), whose effective draws are only a bound. Per evaluation and per second, a sampler is \
         represented by the better of its two weight functions unless one is named; in brackets, whom \
         the number compares with.\n\n| | claim | verdict | numbers |\n|---|---|---|---|\n",
    );
    for claim in claims {
        let parts = claim.parts.iter().filter(|part| !part.answers.is_empty());
        let numbers = parts.map(|part| format!("*{}*: {}", part.question, part.numbers()));
        let numbers = numbers.collect::<Vec<_>>().join("<br>");
        text += &format!(
            "| {} | {} | **{}**{} | {numbers} |\n",
            claim.id,
            claim.statement,
            claim.verdict,
            claim.coverage().map_or(String::new(), |coverage| format!(", {coverage}")),
        );
    }
    text
}

/// Where Gibbs sweeps are ahead of every sampler that uses differences, per second.
pub fn gibbs(results: &Results) -> String {
    let mut text = String::from(
        "Effective draws of a chain per second: Gibbs sweeps beside the best sampler that uses \
         differences, of those whose chains have moved.\n\n\
         | target | Gibbs | best other | | Gibbs / other |\n|---|---:|---|---:|---:|\n",
    );
    for target in results.targets() {
        let per_second = |sampler| Some((sampler, results.best(target, sampler, PER_SECOND)?));
        let others: Option<Vec<_>> = BALANCED.into_iter().map(per_second).collect();
        // Nobody is the best while one is missing.
        let (Some((_, gibbs)), Some(others)) = (per_second(Method::Gibbs), others) else {
            continue;
        };
        let moved = others.into_iter().filter(|(_, estimate)| !estimate.may_be_less);
        let best = moved.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let (name, value, ratio) = match best {
            None => ("none", "–".to_owned(), "–".to_owned()),
            Some((sampler, best)) => {
                (sampler.name(), short(best.value), short(gibbs.value / best.value))
            }
        };
        text += &format!("| {target} | {} | {name} | {value} | {ratio} |\n", short(gibbs.value));
    }
    text
}

/// What a terminal shows: two grids of effective draws, one of times, and the verdicts.
pub fn terminal(results: &Results, claims: &[Claim]) -> String {
    let per =
        |measure| move |target, sampler| Some(short(results.best(target, sampler, measure)?.value));
    let ours = |target, sampler| Some(short(seconds(results, target, sampler)?.0));
    let mut text = grid("Effective draws per evaluation, of 50,000", results, &per(PER_EVALUATION));
    text += &grid("Effective draws of a chain per second", results, &per(PER_SECOND));
    text += &grid("Seconds for 100,000 steps of 100 chains", results, &ours);
    text += "Claims\n";
    for claim in claims {
        let first = format!("{:4} {:13} ", claim.id, claim.verdict.to_string());
        let coverage = claim.coverage().map_or(String::new(), |text| format!(" ({text})"));
        let statement = format!("{}{coverage}", claim.statement);
        text += &wrap(&statement, &first, "                   ");
    }
    text
}

/// A line per target and a column per sampler.
fn grid(
    title: &str,
    results: &Results,
    value: &dyn Fn(Target, Method) -> Option<String>,
) -> String {
    let samplers: Vec<Method> = SAMPLERS.into_iter().chain([Method::Gibbs]).collect();
    let mut table = plain_table();
    table.set_header([""].into_iter().chain(samplers.iter().map(|sampler| sampler.name())));
    for target in results.targets() {
        let values = samplers
            .iter()
            .map(|sampler| value(target, *sampler).unwrap_or_else(|| "–".to_owned()));
        table.add_row([target.name().to_owned()].into_iter().chain(values));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((1, 0));
    }
    format!("{title}\n{}\n", finish(&mut table))
}
