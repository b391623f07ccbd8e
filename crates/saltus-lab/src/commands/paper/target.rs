//! From a target of the study to the model on the command line that it is.

use crate::study::Target;
use saltus::zoo::{
    BernoulliSpec, BinaryPreset, CategoricalSpec, FhmmPreset, FhmmSpec, IsingSpec, ModelSpec,
    PottsSpec, RbmSpec, ValuesPreset,
};
use saltus_cli::arguments::ModelArguments;
use std::path::PathBuf;

/// The model of a target; machines are read from that file.
pub fn model_of(target: Target, machine: Option<PathBuf>) -> ModelArguments {
    match target {
        Target::BernoulliLow => bernoulli(BinaryPreset::Low),
        Target::BernoulliHigh => bernoulli(BinaryPreset::High),
        Target::Categorical4 => categorical(ValuesPreset::C4),
        Target::Categorical8 => categorical(ValuesPreset::C8),
        Target::IsingLow => ising(BinaryPreset::Low, false),
        Target::IsingHigh => ising(BinaryPreset::High, false),
        Target::IsingLowText => ising(BinaryPreset::Low, true),
        Target::IsingHighText => ising(BinaryPreset::High, true),
        Target::Potts4 => potts(ValuesPreset::C4),
        Target::Potts8 => potts(ValuesPreset::C8),
        Target::FhmmBinaryLow => fhmm(FhmmPreset::Low),
        Target::FhmmBinaryHigh => fhmm(FhmmPreset::High),
        Target::Fhmm4 => fhmm(FhmmPreset::C4),
        Target::Fhmm8 => fhmm(FhmmPreset::C8),
        Target::Rbm25
        | Target::Rbm200
        | Target::Rbm4
        | Target::Rbm8
        | Target::Rbm4Text
        | Target::Rbm8Text => {
            let spec = RbmSpec { weights: machine, ..RbmSpec::default() };
            ModelArguments::Zoo(ModelSpec::Rbm(spec))
        }
    }
}

fn bernoulli(preset: BinaryPreset) -> ModelArguments {
    let spec = BernoulliSpec { preset: Some(preset), ..BernoulliSpec::default() };
    ModelArguments::Zoo(ModelSpec::Bernoulli(spec))
}

fn categorical(preset: ValuesPreset) -> ModelArguments {
    let spec = CategoricalSpec { preset: Some(preset), ..CategoricalSpec::default() };
    ModelArguments::Zoo(ModelSpec::Categorical(spec))
}

fn ising(preset: BinaryPreset, text: bool) -> ModelArguments {
    let spec = IsingSpec { preset: Some(preset), text, ..IsingSpec::default() };
    ModelArguments::Zoo(ModelSpec::Ising(spec))
}

fn potts(preset: ValuesPreset) -> ModelArguments {
    let spec = PottsSpec { preset: Some(preset), ..PottsSpec::default() };
    ModelArguments::Zoo(ModelSpec::Potts(spec))
}

fn fhmm(preset: FhmmPreset) -> ModelArguments {
    let spec = FhmmSpec { preset: Some(preset), ..FhmmSpec::default() };
    ModelArguments::Zoo(ModelSpec::Fhmm(spec))
}
