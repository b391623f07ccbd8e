//! The examples, each of which checks its own answer.

#[path = "../../examples/custom_observer.rs"]
mod custom_observer;
#[cfg(feature = "zarr")]
#[path = "../../examples/draws_and_resume.rs"]
mod draws_and_resume;
#[path = "../../examples/log_z.rs"]
mod log_z;
#[path = "../../examples/own_kernel.rs"]
mod own_kernel;
#[path = "../../examples/own_model.rs"]
mod own_model;

#[test]
fn a_model_of_your_own() {
    own_model::main().unwrap();
}

#[test]
fn a_kernel_of_your_own() {
    own_kernel::main().unwrap();
}

#[test]
fn observables_and_observers() {
    custom_observer::main().unwrap();
}

#[test]
#[cfg(feature = "zarr")]
fn draws_in_memory_and_on_disk() {
    draws_and_resume::main().unwrap();
}

#[test]
fn a_normaliser() {
    log_z::main().unwrap();
}
