//! The example of a model of one's own learns what it says it learns.

#[path = "../../examples/learn_own_model.rs"]
mod example;

#[test]
fn a_model_of_ones_own_is_learnt() {
    example::main().unwrap();
}
