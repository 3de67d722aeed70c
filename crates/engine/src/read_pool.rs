//! Bounded pools of blocking threads for searches and reads. A request that finds the queue full is
//! rejected at once.

use std::sync::Arc;

use thiserror::Error;
use tokio::sync::Semaphore;

/// The queue of a pool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many requests are waiting")]
pub struct Overloaded;

/// Limits how many jobs run and how many wait.
#[derive(Clone)]
pub(crate) struct ReadPool {
    /// One permit for each job that runs.
    running: Arc<Semaphore>,
    /// One permit for each job that runs or waits.
    admitted: Arc<Semaphore>,
    threads: usize,
    capacity: usize,
    cores: usize,
}

impl ReadPool {
    /// At least one job runs at a time, and `queue` more may wait.
    pub(crate) fn new(threads: usize, queue: usize) -> Self {
        let threads = threads.max(1);
        Self {
            running: Arc::new(Semaphore::new(threads)),
            admitted: Arc::new(Semaphore::new(threads + queue)),
            threads,
            capacity: threads + queue,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// How many jobs run or wait.
    pub(crate) fn load(&self) -> usize {
        self.capacity - self.admitted.available_permits()
    }

    /// How many cores run no job. More jobs than cores may run, because jobs wait for a database.
    pub(crate) fn idle_cores(&self) -> usize {
        let running = self.threads - self.running.available_permits();
        self.cores.saturating_sub(running)
    }

    /// Runs `job` on a blocking thread, after the jobs that wait already.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overloaded> {
        let admitted = Arc::clone(&self.admitted).try_acquire_owned().map_err(|_| Overloaded)?;
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(|_| Overloaded)?;
        let done = tokio::task::spawn_blocking(move || {
            // The job holds its permits: a caller that goes away does not free a busy thread.
            let _permits = (admitted, running);
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
    async fn idle_cores_are_those_without_a_running_job() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let pool = ReadPool::new(cores + 16, 0);
        assert_eq!(pool.idle_cores(), cores);
        let others = pool.clone();
        assert_eq!(pool.run(move || others.idle_cores()).await, Ok(cores - 1));
        let _running = run_jobs(&pool, cores + 3);
        assert_eq!(pool.idle_cores(), 0);
    }

    fn run_jobs(pool: &ReadPool, count: usize) -> Vec<tokio::sync::OwnedSemaphorePermit> {
        let permit = || Arc::clone(&pool.running).try_acquire_owned().unwrap();
        (0..count).map(|_| permit()).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_job_is_rejected_at_once_when_the_queue_is_full() {
        let pool = ReadPool::new(1, 1);
        let (release, held) = mpsc::channel::<()>();
        let (started, at_work) = tokio::sync::oneshot::channel();
        let busy = pool.clone();
        let first = tokio::spawn(async move {
            busy.run(move || {
                started.send(()).unwrap();
                held.recv().unwrap();
            })
            .await
        });
        at_work.await.unwrap();
        let queued = pool.clone();
        let second = tokio::spawn(async move { queued.run(|| 2).await });
        while pool.admitted.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|| 3).await, Err(Overloaded));
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(()));
        assert_eq!(second.await.unwrap(), Ok(2));
        assert_eq!(pool.run(|| 3).await, Ok(3));
    }
}
