//! What `box` and `secretbox` promise, a module for each kind of answer.

mod interface;
mod wycheproof;
