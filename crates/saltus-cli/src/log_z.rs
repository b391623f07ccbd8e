//! `saltus log-z`: log Z of any model, exactly, by a ladder of temperatures or by annealing.

use crate::ais::back_from_afar;
use crate::arguments::{LogZArguments, LogZMethod, ladder_settings};
use crate::export::{check_free_or_stdout, prints_a_file, put};
use crate::failure::{Failure, Finish};
use crate::model::{self, Context, build_any};
use crate::number::with_error;
use crate::progress::View;
use crate::table::wrap;
use crate::{advice, announce, interrupt, ladder};
use saltus::ais::{Ais, AisSettings};
use saltus::exact::{self, Exact};
use saltus::floor::{self, of_floor};
use saltus::model::rbm::Rbm;
use saltus::temper::TemperReport;
use saltus::zoo::Built;
use saltus::{Ended, Finding, Model, Run, Settings, choose, of_annealing, of_ladder};
use serde::Serialize;
use std::io::Write;

/// Estimates and prints.
pub fn run(arguments: &LogZArguments) -> Result<Finish, Failure> {
    let is_printed = prints_a_file(&arguments.uai, arguments.run.json)?;
    crate::out::goes_elsewhere(arguments.uai.is_some() && !is_printed);
    arguments.uai.as_ref().map_or(Ok(()), |path| check_free_or_stdout(path, arguments.force))?;
    let chains = arguments.run.chains.unwrap_or(16);
    let given = arguments.run.given.read(&arguments.model)?;
    let context =
        Context { seed: arguments.run.model_seed.unwrap_or(0), chains, given: Some(&given) };
    Estimating { arguments, is_printed }.go(build_any(&arguments.model, context, false)?)
}

struct Estimating<'a> {
    arguments: &'a LogZArguments,
    /// Whether log₁₀ Z is printed as it would be in a file, and nothing else is.
    is_printed: bool,
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
        announce(&heading, arguments.run.json || self.is_printed, arguments.run.quiet)?;
        interrupt::listen();
        // Where nothing is left to sample, whatever was asked for.
        let is_settled = model.space().free_sites() == 0;
        let can_be_exact = || !arguments.is_about_chains() && can_be_exact(&model, arguments);
        let otherwise = || if can_be_exact() { LogZMethod::Exact } else { LogZMethod::Temper };
        let method = match is_settled {
            true => LogZMethod::Exact,
            false => arguments.method.unwrap_or_else(otherwise),
        };
        let (printed, ended) = match method {
            LogZMethod::Exact => exactly(&model, arguments)?,
            LogZMethod::Temper => by_ladder(&model, arguments)?,
            LogZMethod::Ais => by_annealing(&model, arguments)?,
        };
        let Some(printed) = printed else {
            let reason = ended.to_string();
            return Err(Failure::Failed(format!("log Z was not found: {reason}")));
        };
        if !printed.log_z.is_finite() {
            return Err(Failure::Failed(
                "log Z was not found: no state that chains came to is possible for the model, which says that \
                 log Z is −∞; try more --draws and --warmup, --method exact, or an initial state that is possible"
                    .to_owned(),
            ));
        }
        // What was found is told even if it cannot be written.
        if !self.is_printed {
            print(&printed, arguments.run.json)?;
        }
        if let Some(path) = &arguments.uai {
            let text = format!("PR\n{}\n", printed.log_z / std::f64::consts::LN_10);
            put(path, arguments.force, &text)?;
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
        None if printed.log_z_se == Some(0.0) => {
            writeln!(out, "log Z = {:.10} exactly", printed.log_z)?
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

/// The standard error that is good enough, in nats: four of them are a twentieth.
const ERROR: f64 = 0.0125;
/// Draws of each ladder, if these do not do: as many as take so many counted nanoseconds, but never less than a few and never more than anybody needs.
const WORK: f64 = 1.2e11;
const DRAWS: (usize, usize) = (10_000, 1_000_000);

/// The most draws of each ladder, from what a step is counted as: never timed, so that the same command gives the same number everywhere.
fn most_draws<M: Model>(model: &M, settings: &Settings) -> usize {
    // Barriers, and with them rungs, grow with the root of the number of sites.
    let rungs = 2.0 + (model.space().free_sites() as f64).sqrt();
    let of_scan = settings.chains as f64 * rungs * settings.sampler.terms(model, 1).work;
    ((WORK / of_scan) as usize).clamp(DRAWS.0, DRAWS.1)
}

type Estimated = Result<(Option<Printed>, Ended), Failure>;

/// The RBM whose hidden states are fewer than those of its sites and can be listed, at the model's own temperature.
fn listed<'m, M: Model>(model: &'m M, arguments: &LogZArguments) -> Option<&'m Rbm> {
    let is_few = |rbm: &&Rbm| !rbm.space().is_binary() || rbm.hidden() < rbm.space().sites();
    let rbm = model.rbm().filter(is_few).filter(|rbm| rbm.check_enumerable().is_ok());
    rbm.filter(|_| arguments.beta.is_none_or(|beta| beta == 1.0))
}

fn can_be_exact<M: Model>(model: &M, arguments: &LogZArguments) -> bool {
    listed(model, arguments).is_some() || exact::way(model).is_some()
}

fn exactly<M: Model>(model: &M, arguments: &LogZArguments) -> Estimated {
    let log_z = match listed(model, arguments) {
        Some(rbm) => {
            let found = rbm.enumerate(arguments.run.threads, |_, _| interrupt::control())?;
            match found {
                Some(found) => found.log_z(),
                None => return Ok((None, Ended::Interrupted)),
            }
        }
        None => {
            let found = Exact::at(model, arguments.beta.unwrap_or(1.0));
            found.map_err(|error| Failure::Failed(error.to_string()))?.log_z()
        }
    };
    let printed = Printed {
        log_z,
        log_z_se: Some(0.0),
        lower: Some(log_z),
        upper: Some(log_z),
        method: "exact",
        findings: Vec::new(),
        warnings: Vec::new(),
        tempering: None,
    };
    Ok((Some(printed), Ended::Complete))
}

fn by_ladder<M: Model>(model: &M, arguments: &LogZArguments) -> Estimated {
    let method = arguments.sampler.unwrap_or_else(|| choose::for_log_z(model));
    let settings = ladder_settings(&arguments.run, method, arguments.beta);
    let otherwise = arguments.run.draws.is_none().then_some(ERROR);
    let settings = Settings {
        draws: arguments.run.draws.unwrap_or_else(|| most_draws(model, &settings)),
        until_log_z: arguments.error.or(otherwise),
        ..settings
    };
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
        sampler: run.moves.sampler(arguments.sampler.unwrap_or_else(|| choose::for_path(model))),
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
