//! Learning from outside: real images, and models of others.

mod own_model;
#[path = "../../../saltus/tests/it/tools.rs"]
mod tools;
mod training;
