//! What a peer can make us hold, repeat or log: each kind is driven over its bound by one peer, while
//! another one of the same socket or server works on undisturbed. The enum of kinds is matched without a
//! wildcard: a new kind without its test does not compile.

mod admission;
mod bystander;
mod calls;
mod publishing;
mod queues;
mod table;
mod tunnel;

use sealwire::account::Kind;

/// Makes a peer exceed the bound, and asserts what becomes of the excess and of everybody else.
fn drive_over_the_bound(kind: Kind) {
    match kind {
        Kind::Received => queues::received(),
        Kind::LeftBehind => queues::left_behind(),
        Kind::Arriving => queues::arriving(),
        Kind::Subscriptions => publishing::subscriptions(),
        Kind::Requests => calls::requests(),
        Kind::Unhandled => calls::unhandled(),
        Kind::Queued => queues::queued(),
        Kind::SubscriptionChanges => publishing::changes(),
        Kind::Answers => calls::answers(),
        Kind::Connections => admission::connections(),
        Kind::Handshakes => admission::handshakes(),
        Kind::Tunnels => tunnel::connections(),
        Kind::Timers => admission::timers(),
        Kind::LogLines => admission::log_lines(),
    }
}

macro_rules! one_test_each {
    ($($name:ident: $kind:ident,)*) => {
        $(
            #[test]
            fn $name() {
                drive_over_the_bound(Kind::$kind);
            }
        )*

        #[test]
        fn each_kind_has_its_test() {
            assert_eq!(Kind::ALL, [$(Kind::$kind),*]);
        }
    };
}

one_test_each! {
    received: Received,
    left_behind: LeftBehind,
    arriving: Arriving,
    subscriptions: Subscriptions,
    requests: Requests,
    unhandled: Unhandled,
    queued: Queued,
    subscription_changes: SubscriptionChanges,
    answers: Answers,
    connections: Connections,
    handshakes: Handshakes,
    tunnels: Tunnels,
    timers: Timers,
    log_lines: LogLines,
}
