//! Both sides over connections that are queues in memory, and a clock that is a number.

mod attempts;
mod bounds;
mod handing_out;
mod leaving;
mod messages;
mod random;
mod violations;
mod world;
