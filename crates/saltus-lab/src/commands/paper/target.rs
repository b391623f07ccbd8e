//! From a target of the study to the model on the command line that it is.

use crate::study::Target;
use saltus_cli::arguments::{
    BernoulliArguments, BinaryPreset, CategoricalArguments, DifferencesArgument, FhmmArguments,
    FhmmPreset, IsingArguments, ModelArguments, PottsArguments, RbmArguments, ValuesPreset,
};
use std::path::PathBuf;

/// The model of a target; machines are read from that file.
pub fn model_of(target: Target, machine: Option<PathBuf>) -> ModelArguments {
    match target {
        Target::BernoulliLow => bernoulli(BinaryPreset::Low),
        Target::BernoulliHigh => bernoulli(BinaryPreset::High),
        Target::Categorical4 => categorical(ValuesPreset::C4),
        Target::Categorical8 => categorical(ValuesPreset::C8),
        Target::IsingLow => ising(BinaryPreset::Low),
        Target::IsingHigh => ising(BinaryPreset::High),
        Target::Potts4 => potts(ValuesPreset::C4),
        Target::Potts8 => potts(ValuesPreset::C8),
        Target::FhmmBinaryLow => fhmm(FhmmPreset::Low),
        Target::FhmmBinaryHigh => fhmm(FhmmPreset::High),
        Target::Fhmm4 => fhmm(FhmmPreset::C4),
        Target::Fhmm8 => fhmm(FhmmPreset::C8),
        Target::Rbm25 | Target::Rbm200 | Target::Rbm4 | Target::Rbm8 => {
            ModelArguments::Rbm(RbmArguments {
                weights: machine,
                visible: None,
                hidden: None,
                values: None,
                differences: DifferencesArgument::default(),
            })
        }
    }
}

fn bernoulli(preset: BinaryPreset) -> ModelArguments {
    ModelArguments::Bernoulli(BernoulliArguments { preset: Some(preset), sites: None })
}

fn categorical(preset: ValuesPreset) -> ModelArguments {
    ModelArguments::Categorical(CategoricalArguments {
        preset: Some(preset),
        sites: None,
        values: None,
    })
}

fn ising(preset: BinaryPreset) -> ModelArguments {
    ModelArguments::Ising(IsingArguments {
        preset: Some(preset),
        size: None,
        coupling: None,
        field: None,
        periodic: false,
    })
}

fn potts(preset: ValuesPreset) -> ModelArguments {
    ModelArguments::Potts(PottsArguments {
        preset: Some(preset),
        size: None,
        values: None,
        coupling: None,
        periodic: false,
    })
}

fn fhmm(preset: FhmmPreset) -> ModelArguments {
    ModelArguments::Fhmm(FhmmArguments {
        preset: Some(preset),
        length: None,
        factors: None,
        values: None,
        differences: DifferencesArgument::default(),
    })
}
