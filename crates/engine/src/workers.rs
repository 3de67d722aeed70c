//! Who does the reading and scoring? Blocking threads, as many as there are cores, with a
//! bounded line in front: beyond it a request is turned away at once instead of waiting for ever.

use std::sync::Arc;

use thiserror::Error;
use tokio::sync::Semaphore;

/// Too many requests wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many requests are waiting")]
pub struct Overloaded;

/// A bounded number of jobs at work, a bounded number in line.
#[derive(Clone)]
pub(crate) struct Workers {
    at_work: Arc<Semaphore>,
    in_house: Arc<Semaphore>,
    threads: usize,
    places: usize,
    cores: usize,
}

impl Workers {
    pub(crate) fn new(threads: usize, line: usize) -> Self {
        let threads = threads.max(1);
        Self {
            at_work: Arc::new(Semaphore::new(threads)),
            in_house: Arc::new(Semaphore::new(threads + line)),
            threads,
            places: threads + line,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// How many jobs are at work or in line.
    pub(crate) fn busy(&self) -> usize {
        self.places - self.in_house.available_permits()
    }

    /// How many cores no job is at work on. There may be more jobs than cores, where they wait for
    /// a database.
    pub(crate) fn idle_cores(&self) -> usize {
        let at_work = self.threads - self.at_work.available_permits();
        self.cores.saturating_sub(at_work)
    }

    /// Runs `job` on a blocking thread when its turn comes.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overloaded> {
        let place = Arc::clone(&self.in_house).try_acquire_owned().map_err(|_| Overloaded)?;
        let turn = Arc::clone(&self.at_work).acquire_owned().await.map_err(|_| Overloaded)?;
        let done = tokio::task::spawn_blocking(move || {
            // Held by the job itself: a caller that goes away does not free a busy thread.
            let _held = (place, turn);
            job()
        })
        .await;
        match done {
            Ok(value) => Ok(value),
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Overloaded),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_job_gets_no_more_helpers_than_there_are_idle_cores() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let workers = Workers::new(cores + 16, 0);
        assert_eq!(workers.idle_cores(), cores);
        let others = workers.clone();
        assert_eq!(workers.run(move || others.idle_cores()).await, Ok(cores - 1));
        let _waiting = others_at_work(&workers, cores + 3);
        assert_eq!(workers.idle_cores(), 0);
    }

    fn others_at_work(workers: &Workers, count: usize) -> Vec<tokio::sync::OwnedSemaphorePermit> {
        let turn = || Arc::clone(&workers.at_work).try_acquire_owned().unwrap();
        (0..count).map(|_| turn()).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn beyond_the_line_a_job_is_turned_away_at_once() {
        let workers = Workers::new(1, 1);
        let (release, held) = mpsc::channel::<()>();
        let (started, at_work) = tokio::sync::oneshot::channel();
        let busy = workers.clone();
        let first = tokio::spawn(async move {
            busy.run(move || {
                started.send(()).unwrap();
                held.recv().unwrap();
            })
            .await
        });
        at_work.await.unwrap();
        let line = workers.clone();
        let second = tokio::spawn(async move { line.run(|| 2).await });
        while workers.in_house.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(workers.run(|| 3).await, Err(Overloaded));
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(()));
        assert_eq!(second.await.unwrap(), Ok(2));
        assert_eq!(workers.run(|| 3).await, Ok(3));
    }
}
