//! What programs do: one adds tasks, one reads their outcomes, others do the work.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::MAX_TASK;
use super::books::{Books, Kind, task_body};
use crate::simulated_tests::service::answer;
use crate::simulated_tests::world::Tasks;
use crate::work::{Distributor, Error, Worker};

/// Tasks that end their workers, at most.
const DEADLY: u64 = 2;

/// Adds tasks, and waits for room.
pub(super) async fn add_all(
    distributor: Distributor,
    tasks: Tasks,
    books: Books,
    count: u64,
    has_trouble: bool,
) {
    let mut deadly = if has_trouble { DEADLY } else { 0 };
    for number in 0..count {
        let kind = match tasks.below(200) {
            0..4 => Kind::Fails,
            4 if deadly > 0 => {
                deadly -= 1;
                Kind::Deadly
            }
            _ => Kind::Usual,
        };
        add(
            distributor.clone(),
            tasks.clone(),
            books.clone(),
            number,
            kind,
        )
        .await;
        let pause = [0, 0, 0, 5, 300][tasks.below(5) as usize];
        tasks.sleep(tasks.below(1 + pause)).await;
    }
}

pub(super) async fn add(
    distributor: Distributor,
    tasks: Tasks,
    books: Books,
    number: u64,
    kind: Kind,
) {
    let most = [1, 100, u64::from(MAX_TASK) - 16][tasks.below(3) as usize];
    let body = task_body(number, kind, tasks.below(most));
    let added = match distributor.try_add(body) {
        Err(Error::Full { body, .. }) => distributor.add(body).await,
        added => added,
    };
    books.added(number, added.expect("it is small"));
}

/// Reads this number of outcomes, and leaves them lying now and then.
pub(super) async fn read_outcomes(
    distributor: Distributor,
    tasks: Tasks,
    books: Books,
    count: u64,
) {
    while books.ended() < count {
        let outcome = distributor.outcome().await;
        books.told(&outcome.expect("it has not ended"));
        let pause = [0, 0, 0, 0, 0, 0, 0, 500][tasks.below(8) as usize];
        tasks.sleep(tasks.below(1 + pause)).await;
    }
}

/// Does tasks until its worker leaves. Where a task ends it, it says so and waits for that.
pub(super) async fn work(worker: Worker, tasks: Tasks, books: Books, dies: Arc<AtomicBool>) {
    loop {
        let task = match worker.take().await {
            Ok(task) => task,
            Err(Error::ShutDown) => return,
            Err(error) => panic!("{error}"),
        };
        let kind = books.begun(&task);
        let time = [0, 0, 3, 30, 200][tasks.below(5) as usize];
        tasks.sleep(tasks.below(1 + time)).await;
        match (kind, tasks.below(60)) {
            (Kind::Deadly, _) => {
                dies.store(true, Ordering::Relaxed);
                pending::<()>().await;
            }
            (Kind::Fails, _) | (_, 0) => task.fail("as it does"),
            // It has failed.
            (_, 1) => drop(task),
            (_, 2..4) => {
                books.given_back(&task);
                task.give_back();
            }
            _ => {
                books.done(&task);
                let result = answer(task.body());
                task.done_with(result).expect("it is small");
            }
        }
    }
}
