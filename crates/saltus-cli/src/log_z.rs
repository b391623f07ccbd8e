//! `saltus log-z`: log Z of any model, by a ladder of temperatures or by annealing.

use crate::ais::back_from_afar;
use crate::arguments::{LogZArguments, LogZMethod, ladder_settings, path_sampler};
use crate::export::{check_free, to_file};
use crate::failure::{Failure, Finish};
use crate::model::{self, Context, build};
use crate::number::with_error;
use crate::progress::View;
use crate::table::wrap;
use crate::{advice, announce, interrupt, ladder};
use saltus::ais::{Ais, AisSettings};
use saltus::exact::{self, Exact};
use saltus::floor::{self, of_floor};
use saltus::temper::TemperReport;
use saltus::zoo::Built;
use saltus::{Ended, Finding, Model, Run, Settings, of_annealing, of_ladder};
use serde::Serialize;
use std::io::Write;

/// Estimates and prints.
pub fn run(arguments: &LogZArguments) -> Result<Finish, Failure> {
    crate::out::goes_elsewhere(arguments.uai.is_some());
    arguments.uai.as_ref().map_or(Ok(()), |path| check_free(path, arguments.force))?;
    let chains = arguments.run.chains.unwrap_or(16);
    let given = arguments.run.given.read(&arguments.model)?;
    let context =
        Context { seed: arguments.run.model_seed.unwrap_or(0), chains, given: Some(&given) };
    Estimating { arguments }.go(build(&arguments.model, context)?)
}

struct Estimating<'a> {
    arguments: &'a LogZArguments,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    log_z: f64,
    log_z_se: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    method: &'static str,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tempering: Option<TemperReport>,
}

impl Estimating<'_> {
    fn go(self, Built { title, model }: Built) -> Result<Finish, Failure> {
        let arguments = self.arguments;
        let heading = model::heading(&title, model.shown_space());
        announce(&heading, arguments.run.json, arguments.run.quiet)?;
        interrupt::listen();
        let is_open = arguments.sampler.is_none() && arguments.beta.is_none();
        let listed = match arguments.method {
            None if is_open => by_listing(&model, arguments)?,
            _ => None,
        };
        let (printed, ended) = match arguments.method {
            _ if listed.is_some() => (listed, Ended::Complete),
            None | Some(LogZMethod::Temper) => by_ladder(&model, arguments)?,
            Some(LogZMethod::Ais) => by_annealing(&model, arguments)?,
        };
        let Some(printed) = printed else {
            let reason = ended.to_string();
            return Err(Failure::Failed(format!("log Z was not found: {reason}")));
        };
        // What was found is told even if it cannot be written.
        print(&printed, arguments.run.json)?;
        if let Some(path) = &arguments.uai {
            let text = format!("PR\n{}\n", printed.log_z / std::f64::consts::LN_10);
            to_file(path, arguments.force, |file| file.write_all(text.as_bytes()))?;
        }
        Ok(Finish::from(&ended))
    }
}

fn print(printed: &Printed, json: bool) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    if json {
        serde_json::to_writer_pretty(&mut out, printed)?;
        writeln!(out)?;
        return Ok(());
    }
    match &printed.tempering {
        // With what is to be said of the ladder.
        Some(tempering) => {
            let missed = |finding: &&Finding| matches!(finding, Finding::MissedMass { .. });
            let words = match printed.findings.iter().find(missed) {
                Some(finding) => ladder::words_of(tempering, &advice::sentence(finding)),
                None => ladder::words(tempering),
            };
            return Ok(write!(out, "{words}")?);
        }
        None if printed.method == "exact" => {
            writeln!(out, "log Z = {:.6}, exactly", printed.log_z)?;
        }
        None => writeln!(
            out,
            "log Z = {} by {}",
            with_error(Some(printed.log_z), printed.log_z_se),
            printed.method
        )?,
    }
    for warning in &printed.warnings {
        write!(out, "{}", wrap(warning, "• ", "  "))?;
    }
    Ok(())
}

/// Draws of each ladder: more than a run's, because errors of log Z are of nats, not of standard deviations.
const DRAWS: usize = 10_000;

/// The exact log Z of an RBM whose hidden states, or those of its sites, can be listed.
fn by_listing<M: Model>(model: &M, arguments: &LogZArguments) -> Result<Option<Printed>, Failure> {
    let Some(rbm) = model.rbm() else {
        return Ok(None);
    };
    let few_sites = rbm.space().is_binary() && rbm.space().sites() <= rbm.hidden();
    let log_z = match rbm.check_enumerable() {
        Ok(()) if !few_sites => {
            rbm.enumerate(arguments.run.threads, |_, _| interrupt::control())?.map(|it| it.log_z())
        }
        _ if exact::way(model).is_some() => {
            let exact = Exact::new(model);
            Some(exact.map_err(|error| Failure::Failed(error.to_string()))?.log_z())
        }
        _ => return Ok(None),
    };
    let Some(log_z) = log_z else {
        return Err(Failure::Failed(format!("log Z was not found: {}", Ended::Interrupted)));
    };
    Ok(Some(Printed {
        log_z,
        log_z_se: Some(0.0),
        lower: Some(log_z),
        upper: Some(log_z),
        method: "exact",
        findings: Vec::new(),
        warnings: Vec::new(),
        tempering: None,
    }))
}

type Estimated = Result<(Option<Printed>, Ended), Failure>;

fn by_ladder<M: Model>(model: &M, arguments: &LogZArguments) -> Estimated {
    let method = path_sampler(model, arguments.sampler);
    let settings = ladder_settings(&arguments.run, method, arguments.beta);
    let settings = Settings { draws: arguments.run.draws.unwrap_or(DRAWS), ..settings };
    let mut view = View::new("", arguments.run.quiet);
    let ran = Run::new(model, settings.clone()).monitor(|progress| view.show(progress)).go();
    view.finish();
    let outcome = ran?;
    let mut findings = of_ladder(&outcome);
    if let (true, Some(found)) = (outcome.ended.is_success(), &outcome.tempering) {
        let floor = floor::floor(model, &settings, interrupt::control);
        findings.extend(of_floor(found.log_z, found.log_z_se, floor));
    }
    let printed = outcome.tempering.map(|tempering| Printed {
        log_z: tempering.log_z,
        log_z_se: tempering.log_z_se,
        lower: tempering.log_z_lower,
        upper: tempering.log_z_upper,
        method: "temper",
        warnings: findings.iter().map(advice::sentence).collect(),
        findings,
        tempering: Some(tempering),
    });
    Ok((printed, outcome.ended))
}

fn by_annealing<M: Model>(model: &M, arguments: &LogZArguments) -> Estimated {
    if arguments.beta.is_some() {
        return Err(Failure::Usage("--beta is about ladders: leave out --method ais".to_owned()));
    }
    let default = AisSettings::default();
    let run = &arguments.run;
    let settings = AisSettings {
        chains: run.chains.unwrap_or(100),
        temperatures: run.draws.unwrap_or(2000).max(2),
        sampler: run.moves.sampler(path_sampler(model, arguments.sampler)),
        seed: run.seed.unwrap_or(default.seed),
        threads: run.threads,
        time_limit: run.time_limit,
    };
    let back = back_from_afar(settings.chains);
    let outcome = Ais::new(model, settings).look_back(back).go()?;
    let findings = of_annealing(&outcome);
    let reverse = outcome.reverse;
    let printed = outcome.forward.map(|found| Printed {
        log_z: found.log_z,
        log_z_se: found.standard_error,
        // Low on average: three errors below is a bound but for chance. What goes back starts at no draws of the
        // model, so above it is an indication.
        lower: found.standard_error.map(|error| found.log_z - 3.0 * error),
        upper: reverse.and_then(|found| Some(found.log_z + 3.0 * found.standard_error?)),
        method: "ais",
        warnings: findings.iter().map(advice::sentence).collect(),
        findings,
        tempering: None,
    });
    Ok((printed, outcome.ended))
}
