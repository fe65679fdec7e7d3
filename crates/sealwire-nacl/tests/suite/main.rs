//! What `box`, `secretbox` and their parts promise, a module for each kind of answer.

mod answers;
mod interface;
mod parts;
mod wycheproof;
