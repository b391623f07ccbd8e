//! `saltus-lab paper`: the paper's sampling study, cell by cell, with a verdict on what it claims.

mod cell;
mod claims;
mod figures;
mod folder;
mod look;
mod machines;
mod measure;
mod pace;
mod results;
mod tables;
mod target;

use crate::arguments::PaperArguments;
use crate::study::{CHAINS, Target};
use cell::{Cell, Protocol, cells};
use claims::{Claim, judge};
use folder::Folder;
use machines::{Machine, Machines};
use measure::{Measured, Measuring};
use results::Results;
use saltus_cli::failure::{Failure, Finish};
use saltus_cli::model::{Context, build};
use saltus_cli::progress::View;
use saltus_cli::{announce, interrupt, say};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Runs what is missing of the study and writes what it says.
pub fn run(arguments: &PaperArguments) -> Result<Finish, Failure> {
    if arguments.list {
        return list();
    }
    if let Some(path) = &arguments.results {
        let results = Results::new(tables::read_csv(path)?);
        return tell(arguments, &results, None, Finish::Complete);
    }
    let protocol = Protocol {
        chains: arguments.chains.unwrap_or(CHAINS),
        steps: arguments.steps.unwrap_or(arguments.budget.steps()),
        seed: arguments.seed.unwrap_or(0),
    };
    if protocol.steps < FEWEST_STEPS {
        return Err(Failure::Usage(format!(
            "a cell needs at least {FEWEST_STEPS} steps to be tuned and measured, got {}",
            protocol.steps
        )));
    }
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("saltus-paper"));
    let folder = Folder::open(&out)?;
    saltus_cli::out::goes_elsewhere(true);
    let machines = Machines {
        authors: arguments.machines.as_ref(),
        data: arguments.data.as_ref(),
        folder: &folder,
        threads: arguments.threads,
        quiet: arguments.quiet,
    };
    let study = Study { arguments, protocol, folder: &folder, machines };
    let all = study.cells();
    study.check(&all)?;
    let heading = study.heading(&all);
    announce(&heading, arguments.json, arguments.quiet)?;
    let ran = study.run(&all);
    // What was in the folder before belongs to the study, too, and whatever ended it.
    let results = Results::new(folder.rows(protocol.seed)?);
    let finish = *ran.as_ref().unwrap_or(&Finish::Failed);
    let told = tell(arguments, &results, Some(&folder), finish);
    ran.and(told)
}

/// Judges the results, writes them into the folder if there is one, and prints.
fn tell(
    arguments: &PaperArguments,
    results: &Results,
    folder: Option<&Folder>,
    finish: Finish,
) -> Result<Finish, Failure> {
    let claims = judge(results);
    let files = folder.map_or(Ok(Vec::new()), |folder| write_files(folder, results, &claims))?;
    let mut out = saltus_cli::out::stdout();
    if arguments.json {
        let done = results.rows().len();
        let printed = Printed { complete: finish == Finish::Complete, done, claims, files };
        serde_json::to_writer_pretty(&mut out, &printed)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", tables::terminal(results, &claims))?;
        for file in files {
            writeln!(out, "written  {file}")?;
        }
        if finish == Finish::Early {
            writeln!(out, "Stopped early; the same command goes on.")?;
        }
    }
    Ok(finish)
}

/// Below this there is nothing to tune or to measure.
const FEWEST_STEPS: usize = 200;

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    /// Whether every cell that was asked for is there.
    complete: bool,
    /// Cells that are there.
    done: usize,
    claims: Vec<Claim>,
    files: Vec<String>,
}

/// The targets by name.
fn list() -> Result<Finish, Failure> {
    let mut out = saltus_cli::out::stdout();
    for target in Target::every() {
        let cells = cells(target, 0).len();
        writeln!(out, "{:16} {:3} cells  {}", target.name(), cells, target.describe())?;
    }
    Ok(Finish::Complete)
}

/// Puts the tables and figures into the folder; returns their names.
fn write_files(
    folder: &Folder,
    results: &Results,
    claims: &[Claim],
) -> Result<Vec<String>, Failure> {
    let mut files = vec![
        ("results.csv".to_owned(), tables::csv(results.rows())?),
        ("claims.md".to_owned(), tables::claims(claims).into_bytes()),
        ("running-time.md".to_owned(), tables::running_time(results).into_bytes()),
        ("gibbs.md".to_owned(), tables::gibbs(results).into_bytes()),
    ];
    for target in results.targets() {
        let svg = figures::figure(results, target).svg();
        files.push((format!("{target}.svg"), svg.into_bytes()));
    }
    let written = files.iter().map(|(name, bytes)| {
        let path = folder.join(name);
        folder.write(&path, bytes)?;
        Ok(path.display().to_string())
    });
    written.collect()
}

struct Study<'a> {
    arguments: &'a PaperArguments,
    protocol: Protocol,
    folder: &'a Folder,
    machines: Machines<'a>,
}

impl Study<'_> {
    /// The cells in the order they are run, target by target.
    fn cells(&self) -> Vec<Cell> {
        let named = &self.arguments.targets;
        let mut all = Vec::new();
        let usual = Target::ALL.into_iter().filter(|_| named.is_empty());
        for target in usual.chain(Target::every().filter(|target| named.contains(target))) {
            if target.is_rbm() && !self.machines.known() && named.is_empty() {
                continue;
            }
            let seeds = self.arguments.model_seeds.unwrap_or(1);
            for model_seed in 0..if target.is_rbm() { 1 } else { seeds } {
                all.extend(cells(target, model_seed));
            }
        }
        all
    }

    /// What is going to be done.
    fn heading(&self, all: &[Cell]) -> String {
        let Protocol { chains, steps, seed } = self.protocol;
        let mut targets: Vec<Target> = all.iter().map(|cell| cell.target).collect();
        targets.dedup();
        let left_out = self.arguments.targets.is_empty() && !self.machines.known();
        let note = if left_out {
            "left out the rbm targets: --machines or --data says where machines come from\n"
        } else {
            ""
        };
        format!(
            "study    {} cells of {} targets, seed {seed}\n\
             protocol {chains} chains of {steps} steps, half discarded; Gibbs at most 1000 sweeps\n\
             {note}",
            all.len(),
            targets.len(),
        )
    }

    /// Fails before the first cell, not hours later, if machines are missing.
    fn check(&self, all: &[Cell]) -> Result<(), Failure> {
        let mut targets: Vec<Target> = all.iter().map(|cell| cell.target).collect();
        targets.dedup();
        targets.into_iter().try_for_each(|target| self.machines.check(target))
    }

    fn run(&self, all: &[Cell]) -> Result<Finish, Failure> {
        interrupt::listen();
        let mut finish = Finish::Complete;
        let mut machine: Option<(Target, Option<Machine>)> = None;
        for (number, cell) in all.iter().enumerate() {
            if machine.as_ref().is_none_or(|(of, _)| *of != cell.target) {
                machine = Some((cell.target, self.machines.of(cell.target)?));
            }
            let machine = machine.as_ref().and_then(|(_, machine)| machine.as_ref());
            if cell.target.is_rbm() && machine.is_none() {
                return Ok(Finish::Early);
            }
            let words = machine.map(|machine| machine.words.as_str());
            let found = self.folder.find(cell, self.protocol, words)?.is_some();
            if !found {
                match self.measure(cell, machine, (number + 1, all.len()))? {
                    Measured::Done(row) => self.folder.keep(cell, &row)?,
                    Measured::Stopped => return Ok(Finish::Early),
                    // It would fail again: the other cells shall not wait for it.
                    Measured::Failed(reason) => {
                        say(&format!("saltus: {}: {reason}", cell.name()));
                        finish = Finish::Failed;
                    }
                }
            }
            if interrupt::requested() && number + 1 < all.len() {
                return Ok(Finish::Early);
            }
        }
        Ok(finish)
    }

    fn measure(
        &self,
        cell: &Cell,
        machine: Option<&Machine>,
        (number, all): (usize, usize),
    ) -> Result<Measured, Failure> {
        let label = format!("{number}/{all} {}", cell.name());
        let mut view = View::new(&label, self.arguments.quiet);
        let model = target::model_of(cell.target, machine.map(|machine| machine.path.clone()));
        let (seed, chains) = (cell.model_seed, self.protocol.chains);
        let context = Context { seed, chains, ..Context::default() };
        let measuring = Measuring {
            cell: *cell,
            protocol: self.protocol,
            machine: machine.map(|machine| machine.words.clone()),
            threads: self.arguments.threads,
            view: &mut view,
        };
        let measured = measuring.go(&build(&model, context)?.model);
        view.finish();
        measured
    }
}
