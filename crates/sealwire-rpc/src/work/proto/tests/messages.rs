//! Messages as bytes.

use bytes::Bytes;

use super::super::wire::{
    self, Ended, Entries, FromDistributor, FromWorker, Handed, Reported, Welcome,
};
use super::super::{Hello, Violation};

fn all<T: std::fmt::Debug>(entries: Entries<T>) -> Vec<T> {
    entries.map(Result::unwrap).collect()
}

#[test]
fn greetings_are_as_the_document_says() {
    let hello = Hello {
        credit: 64,
        credit_bytes: 0x0102_0304,
        max_task: 5,
    };
    let bytes = [1, 1, 0, 0, 0, 64, 1, 2, 3, 4, 0, 0, 0, 5];
    assert_eq!(hello.message(), bytes);
    let parsed = FromWorker::parse(Bytes::copy_from_slice(&bytes));
    assert!(matches!(parsed, Ok(FromWorker::Hello(parsed)) if parsed == hello));
    let welcome = Welcome {
        distributor: 0x0102_0304_0506_0708,
        max_result: 9,
    };
    let bytes = [2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9];
    assert_eq!(welcome.message(), bytes);
    let parsed = FromDistributor::parse(Bytes::copy_from_slice(&bytes));
    assert!(matches!(parsed, Ok(FromDistributor::Welcome(parsed)) if parsed == welcome));
    // A later version that keeps to this one may say more behind it.
    let longer = Bytes::from([&bytes[..], &[1, 2, 3]].concat());
    assert!(FromDistributor::parse(longer).is_ok());
}

#[test]
fn tasks_and_outcomes_stand_one_behind_the_other() {
    let mut message = wire::begin_tasks(0);
    wire::add_task(&mut message, 1, 2, b"abc");
    wire::add_task(&mut message, u64::MAX, u32::MAX, b"");
    assert_eq!(
        message[..20],
        [
            3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, b'a', b'b', b'c'
        ]
    );
    let Ok(FromDistributor::Tasks(tasks)) = FromDistributor::parse(message.into()) else {
        panic!("not tasks");
    };
    let expected = [(1, 2, &b"abc"[..]), (u64::MAX, u32::MAX, b"")];
    let expected = expected.map(|(counter, attempt, body)| Handed {
        counter,
        attempt,
        body: Bytes::from_static(body),
    });
    assert_eq!(all(tasks), expected);

    let mut message = wire::begin_outcomes(7, 0);
    let outcomes = [Ended::Done, Ended::Failed, Ended::Returned];
    for (counter, ended) in (1..).zip(outcomes) {
        wire::add_outcome(&mut message, counter, 1, ended, b"r");
    }
    assert_eq!(message[..10], [4, 0, 0, 0, 0, 0, 0, 0, 7, 0]);
    assert_eq!(message[21], 0, "done");
    let Ok(FromWorker::Outcomes {
        distributor,
        reported,
    }) = FromWorker::parse(message.into())
    else {
        panic!("not outcomes");
    };
    assert_eq!(distributor, 7);
    let expected = (1..).zip(outcomes).map(|(counter, ended)| Reported {
        counter,
        attempt: 1,
        ended,
        body: Bytes::from_static(b"r"),
    });
    assert_eq!(all(reported), expected.collect::<Vec<_>>());
}

/// Parses a message and all that is in it.
fn from_worker(message: &[u8]) -> Result<(), Violation> {
    match FromWorker::parse(Bytes::copy_from_slice(message))? {
        FromWorker::Outcomes { mut reported, .. } => reported.try_for_each(|one| one.map(drop)),
        _ => Ok(()),
    }
}

fn from_distributor(message: &[u8]) -> Result<(), Violation> {
    match FromDistributor::parse(Bytes::copy_from_slice(message))? {
        FromDistributor::Tasks(mut tasks) => tasks.try_for_each(|one| one.map(drop)),
        _ => Ok(()),
    }
}

#[test]
fn what_is_cut_off_or_too_long_is_refused() {
    let mut tasks = wire::begin_tasks(0);
    wire::add_task(&mut tasks, 1, 1, b"body");
    let mut outcomes = wire::begin_outcomes(1, 0);
    wire::add_outcome(&mut outcomes, 1, 1, Ended::Done, b"body");
    let hello = Hello {
        credit: 1,
        credit_bytes: 1,
        max_task: 1,
    };
    for whole in [hello.message(), outcomes, wire::leave()] {
        assert_eq!(from_worker(&whole), Ok(()));
        for cut in 0..whole.len() {
            assert_eq!(
                from_worker(&whole[..cut]),
                Err(Violation::Truncated),
                "{cut}"
            );
        }
    }
    for whole in [tasks, wire::farewell()] {
        assert_eq!(from_distributor(&whole), Ok(()));
        for cut in 0..whole.len() {
            assert_eq!(
                from_distributor(&whole[..cut]),
                Err(Violation::Truncated),
                "{cut}"
            );
        }
    }
    assert_eq!(from_worker(&[5, 0]), Err(Violation::TooLong));
    assert_eq!(from_distributor(&[6, 0]), Err(Violation::TooLong));
    assert_eq!(from_worker(&[3]), Err(Violation::UnknownKind(3)));
    assert_eq!(from_distributor(&[4]), Err(Violation::UnknownKind(4)));
    assert_eq!(from_worker(&[1, 2]), Err(Violation::Version(2)));
    assert_eq!(from_distributor(&[2, 0]), Err(Violation::Version(0)));
    let mut outcomes = wire::begin_outcomes(1, 0);
    wire::add_outcome(&mut outcomes, 1, 1, Ended::Done, b"");
    outcomes[21] = 3;
    assert_eq!(from_worker(&outcomes), Err(Violation::UnknownOutcome(3)));
    // A length beyond the message takes no memory.
    let mut tasks = wire::begin_tasks(0);
    wire::add_task(&mut tasks, 1, 1, b"");
    tasks[13..].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(from_distributor(&tasks), Err(Violation::Truncated));
}
