//! The command as its users run it.

mod ais;
mod choice;
mod common;
mod faults;
mod files;
#[path = "../../../saltus/tests/it/folder.rs"]
mod folder;
mod instructions;
mod json;
mod kill;
mod licences;
mod limits;
mod models;
mod observables;
mod pages;
mod python;
mod refusals;
mod report;
mod reports;
#[cfg(feature = "deep")]
mod resnet;
mod shards;
mod stops;
mod stored;
mod tempering;
#[path = "../../../saltus/tests/it/tools.rs"]
mod tools;
mod train;
