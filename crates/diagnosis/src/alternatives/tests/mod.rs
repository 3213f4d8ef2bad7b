//! Derivation of properties, and each alternative on variants of plans: plans with the cause, and plans
//! on which the alternative costs more than it saves.

mod alternatives;
mod derivation;
mod plan;
