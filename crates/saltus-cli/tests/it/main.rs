//! The command as its users run it.

mod ais;
mod common;
#[path = "../../../saltus/tests/it/folder.rs"]
mod folder;
mod instructions;
mod json;
mod kill;
mod models;
mod observables;
mod pages;
mod python;
mod refusals;
mod report;
mod reports;
#[cfg(feature = "deep")]
mod resnet;
mod stops;
mod stored;
#[path = "../../../saltus/tests/it/tools.rs"]
mod tools;
mod train;
