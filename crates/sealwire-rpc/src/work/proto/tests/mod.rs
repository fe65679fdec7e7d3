//! Both sides over connections that are queues in memory, and a clock that is a number.

mod messages;
mod random;
mod rules;
mod world;
