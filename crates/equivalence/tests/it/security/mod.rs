//! What a model writes must not pass for the same result when it is not.

mod mutations;
