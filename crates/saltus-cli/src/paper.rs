//! `saltus paper`: the paper's sampling study, cell by cell, with a verdict on what it claims.

mod cell;
mod folder;
mod look;
mod machines;
mod measure;
mod pace;
mod target;

use crate::arguments::PaperArguments;
use crate::failure::{Failure, Finish};
use crate::model::{Context, with_model};
use crate::progress::View;
use crate::{interrupt, say};
use cell::{Cell, Protocol, cells, is_machine};
use folder::Folder;
use machines::{Machine, Machines};
use measure::{Measuring, Row};
use saltus::study::Target;
use std::path::PathBuf;

/// Runs what is missing of the study and writes what it says.
pub fn run(arguments: &PaperArguments) -> Result<Finish, Failure> {
    let protocol = Protocol {
        chains: arguments.chains.unwrap_or(100),
        steps: arguments.steps.unwrap_or(arguments.budget.steps()),
        seed: arguments.seed.unwrap_or(0),
    };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("saltus-paper"));
    let folder = Folder::open(&out)?;
    let machines = Machines {
        authors: arguments.machines.as_ref(),
        data: arguments.data.as_ref(),
        folder: &folder,
        threads: arguments.threads,
        quiet: arguments.quiet,
    };
    let mut study = Study { arguments, protocol, folder: &folder, machines, rows: Vec::new() };
    let finish = study.run()?;
    say(&format!("{} cells", study.rows.len()));
    Ok(finish)
}

struct Study<'a> {
    arguments: &'a PaperArguments,
    protocol: Protocol,
    folder: &'a Folder,
    machines: Machines<'a>,
    rows: Vec<Row>,
}

impl Study<'_> {
    /// The cells in the order they are run, target by target.
    fn cells(&self) -> Result<Vec<Cell>, Failure> {
        let named = &self.arguments.targets;
        let mut all = Vec::new();
        for target in Target::ALL {
            if !(named.is_empty() || named.contains(&target)) {
                continue;
            }
            if is_machine(target) && !self.machines.known() && named.is_empty() {
                continue;
            }
            let seeds = self.arguments.model_seeds.unwrap_or(1) as u64;
            for model_seed in 0..if is_machine(target) { 1 } else { seeds } {
                all.extend(cells(target, model_seed));
            }
        }
        Ok(all)
    }

    fn run(&mut self) -> Result<Finish, Failure> {
        let all = self.cells()?;
        interrupt::listen();
        let mut machine: Option<(Target, Option<Machine>)> = None;
        for (number, cell) in all.iter().enumerate() {
            if machine.as_ref().is_none_or(|(of, _)| *of != cell.target) {
                machine = Some((cell.target, self.machines.of(cell.target)?));
            }
            let machine = machine.as_ref().and_then(|(_, machine)| machine.as_ref());
            if is_machine(cell.target) && machine.is_none() {
                return Ok(Finish::Early);
            }
            let words = machine.map(|machine| machine.words.as_str());
            let row = match self.folder.find(cell, self.protocol, words)? {
                Some(row) => Some(row),
                None => self.measure(cell, machine, (number + 1, all.len()))?,
            };
            self.rows.extend(row);
            if interrupt::requested() {
                return Ok(if number + 1 < all.len() { Finish::Early } else { Finish::Complete });
            }
        }
        Ok(Finish::Complete)
    }

    fn measure(
        &self,
        cell: &Cell,
        machine: Option<&Machine>,
        (number, all): (usize, usize),
    ) -> Result<Option<Row>, Failure> {
        let label = format!("{number}/{all} {}", cell.name());
        let mut view = View::new(&label, self.arguments.quiet);
        let model = target::model_of(cell.target, machine.map(|machine| machine.path.clone()));
        let context = Context { seed: cell.model_seed, chains: self.protocol.chains };
        let measuring = Measuring {
            cell: *cell,
            protocol: self.protocol,
            machine: machine.map(|machine| machine.words.clone()),
            threads: self.arguments.threads,
            view: &mut view,
        };
        let row = with_model(&model, context, measuring)??;
        view.finish();
        if let Some(row) = &row {
            self.folder.keep(cell, row)?;
        }
        Ok(row)
    }
}
