//! Samplers that have nothing in common but their target must agree on the mean of log π.

use saltus::model::erased::Erased;
use saltus::model::fhmm::Fhmm;
use saltus::model::lattice::Lattice;
use saltus::model::paper::{self, Temperature};
use saltus::model::rbm::Rbm;
use saltus::{Differences, Method, Model, Sampler, Settings, Summary, run};

/// Mean of log π and its Monte Carlo error under each sampler, compared with Gibbs sweeps.
fn check(
    name: &str,
    model: impl Model + 'static,
    kinds: &[Differences],
    methods: &[(Method, usize)],
) {
    let model = &Erased::new(model);
    let estimate = |method: Method, thin: usize, differences: Differences| {
        let settings = Settings {
            sampler: Sampler { differences, ..method.into() },
            chains: 16,
            warmup: 1500 * thin,
            draws: 1500,
            thin,
            seed: 17,
            ..Settings::default()
        };
        let summary = Summary::new(name, &run::sample(model, settings).unwrap());
        let log_prob = summary.log_prob;
        (log_prob.mean.unwrap(), log_prob.mcse.unwrap(), log_prob.sd.unwrap())
    };
    let (reference, reference_error, deviation) = estimate(Method::Gibbs, 1, Differences::Taylor);
    for (method, thin) in methods {
        for differences in kinds {
            let (mean, error, _) = estimate(*method, *thin, *differences);
            let allowed = 4.0 * error.hypot(reference_error);
            let case = format!(
                "{method} ({differences:?}) on {name}: {mean} ± {error}, \
                 Gibbs {reference} ± {reference_error}"
            );
            assert!((mean - reference).abs() < allowed, "{case}");
            assert!(error < 0.5 * deviation, "too uncertain to say anything: {case}");
        }
    }
}

/// Where the two kinds of differences coincide.
const ONE_KIND: &[Differences] = &[Differences::Taylor];
const BOTH_KINDS: &[Differences] = &[Differences::Taylor, Differences::Exact];

const ALL_SITES: [(Method, usize); 3] = [(Method::Dlmc, 2), (Method::Dlmcf, 2), (Method::Dmala, 4)];

#[test]
fn on_the_ising_model_of_the_paper() {
    let model = paper::ising(Temperature::High, Lattice::free(50, 50).unwrap(), 0).unwrap();
    check("ising", model, ONE_KIND, &[ALL_SITES.as_slice(), &[(Method::Pas, 4)]].concat());
}

#[test]
fn on_a_potts_model() {
    let model = paper::potts(Lattice::free(12, 12).unwrap(), 4, 0).unwrap();
    let one_site = [(Method::Pas, 4), (Method::Gwg, 40), (Method::Lb1, 40)];
    let blind = [(Method::Rwm, 300), (Method::Bg, 150), (Method::Hb, 150)];
    check("potts", model, ONE_KIND, &[ALL_SITES.as_slice(), &one_site, &blind].concat());
}

#[test]
fn on_factorial_hidden_markov_models() {
    let binary = Fhmm::simulate(30, 5, 2, 0).unwrap();
    let blind = [(Method::Rwm, 200), (Method::Bg, 100), (Method::Hb, 100)];
    let informed = [(Method::Pas, 4), (Method::Gwg, 40)];
    check("binary fhmm", binary, BOTH_KINDS, &[ALL_SITES.as_slice(), &informed, &blind].concat());
    let values = Fhmm::simulate(30, 5, 4, 0).unwrap();
    check("fhmm of four values", values, BOTH_KINDS, &[ALL_SITES.as_slice(), &informed].concat());
}

#[test]
fn on_restricted_boltzmann_machines() {
    check("random rbm", Rbm::random(40, 10, 2, 0).unwrap(), BOTH_KINDS, &ALL_SITES);
    let values = Rbm::random(30, 8, 4, 0).unwrap();
    check("random rbm of four values", values, BOTH_KINDS, &ALL_SITES);
}

#[test]
fn on_the_reference_machines() {
    let Some(folder) = crate::tools::reference_machines() else {
        return;
    };
    // The RBMs of four and more levels have modes that no short run connects: the error of
    // the mean says so, and agreement within it is all there is to test.
    for name in ["mnist-binary-25", "mnist-binary-200", "fashion-mnist-4-levels-50"] {
        let model = Rbm::load(folder.join(format!("{name}.safetensors"))).unwrap();
        check(name, model, ONE_KIND, &[(Method::Dlmc, 1), (Method::Pas, 1)]);
    }
}
