//! Deep models as their users see them.

#[cfg(feature = "burn")]
mod agreement;
mod model;
