//! Derivation of properties, and each alternative on plans in which its cause shows in variants, or
//! in which the alternative costs more than it saves.

mod alternatives;
mod derivation;
mod plan;
