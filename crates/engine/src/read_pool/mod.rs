//! Bounded pools of threads for searches and reads, which serve all shops in turn ([`crate::fair_queue`]). A
//! request that finds the queue full is rejected at once.
//!
//! The threads belong to the pool: one that has finished a job takes the next from the queue, without
//! waiting for the runtime that the callers are on. Of idle threads, the one that worked last is woken,
//! whose core is most likely to have the index in its caches.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    thread::{self, Thread},
    time::Instant,
};

use catalog::product::ShopId;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::fair_queue::FairQueue;
pub(crate) use crate::fair_queue::Overloaded;

/// Runs jobs on threads of its own and limits how many run and how many wait.
#[derive(Clone)]
pub(crate) struct ReadPool(Arc<PoolHandle>);

/// Stops the threads when the last handle is dropped.
struct PoolHandle(Arc<Pool>);

struct Pool {
    name: &'static str,
    threads: usize,
    cores: usize,
    state: Mutex<State>,
}

struct State {
    jobs: FairQueue<ShopId, Job>,
    /// Number of threads, of which there is none before the first job.
    started: usize,
    /// Threads without a job; the one that worked last is the last.
    idle: Vec<Thread>,
    stopped: bool,
}

/// Does the work, and returns what delivers the result. It catches its own panic.
type Job = Box<dyn FnOnce() -> Delivery + Send>;
type Delivery = Box<dyn FnOnce() + Send>;

impl ReadPool {
    /// At least one job runs at a time, and `queue` more may wait, half of them for one shop.
    pub(crate) fn new(name: &'static str, threads: usize, queue: usize) -> Self {
        let threads = threads.max(1);
        let state = State {
            jobs: FairQueue::new(threads, queue),
            started: 0,
            idle: Vec::new(),
            stopped: false,
        };
        let pool = Pool {
            name,
            threads,
            cores: thread::available_parallelism().map_or(1, usize::from),
            state: Mutex::new(state),
        };
        Self(Arc::new(PoolHandle(Arc::new(pool))))
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.0.0
    }

    /// How many jobs run or wait.
    pub(crate) fn load(&self) -> usize {
        self.pool().state.lock().jobs.load()
    }

    /// How many cores run no job. More jobs than cores may run, because jobs wait for a database.
    pub(crate) fn idle_cores(&self) -> usize {
        let pool = self.pool();
        pool.cores.saturating_sub(pool.state.lock().jobs.running())
    }

    /// Runs `job` on a thread of the pool, after the jobs of the shop that wait already. If the caller
    /// goes away, a job that runs is finished, and one that waits is not begun.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        shop: ShopId,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overloaded> {
        let (caller, result) = oneshot::channel::<Result<T, Box<dyn Any + Send>>>();
        let job = Box::new(move || {
            let result = match caller.is_closed() {
                true => None,
                false => Some(catch_unwind(AssertUnwindSafe(job))),
            };
            Box::new(move || drop(result.map(|result| caller.send(result)))) as Delivery
        });
        self.pool().admit(shop, job)?;
        match result.await {
            Ok(result) => result.map_err(|panic| resume_unwind(panic)),
            // The job lost its place in the queue, or the pool was stopped before it began.
            Err(_) => Err(Overloaded),
        }
    }
}

impl Pool {
    /// Adds a job to the queue, unless it is full.
    fn admit(self: &Arc<Self>, shop: ShopId, job: Job) -> Result<(), Overloaded> {
        let mut state = self.state.lock();
        let replaced = state.jobs.push(shop, job)?;
        match state.idle.pop() {
            Some(thread) => {
                drop(state);
                thread.unpark();
            }
            None if state.started < self.threads => self.start_thread(&mut state)?,
            None => drop(state),
        }
        // Its caller is woken outside the lock.
        drop(replaced);
        Ok(())
    }

    /// Starts a thread; if the system has none left, those that run have to suffice.
    fn start_thread(self: &Arc<Self>, state: &mut State) -> Result<(), Overloaded> {
        let pool = Arc::clone(self);
        let builder = thread::Builder::new().name(self.name.into());
        if builder.spawn(move || pool.work()).is_ok() {
            state.started += 1;
        } else if state.started == 0 {
            state.jobs.clear();
            return Err(Overloaded);
        }
        Ok(())
    }

    /// Runs jobs until the pool is stopped.
    fn work(&self) {
        let mut state = self.state.lock();
        while !state.stopped {
            match state.jobs.begin() {
                Some((job, begun)) => {
                    let (deliver, took) = MutexGuard::unlocked(&mut state, || {
                        let started = Instant::now();
                        (job(), started.elapsed())
                    });
                    // First, so that the caller may send the next job at once.
                    state.jobs.end(begun, took.as_nanos() as u64);
                    MutexGuard::unlocked(&mut state, deliver);
                }
                None => {
                    state.idle.push(thread::current());
                    MutexGuard::unlocked(&mut state, thread::park);
                    // It may have woken up by itself.
                    let own = thread::current().id();
                    state.idle.retain(|thread| thread.id() != own);
                }
            }
        }
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.stopped = true;
        state.idle.drain(..).for_each(|thread| thread.unpark());
        let waiting = state.jobs.clear();
        drop(state);
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn shop() -> ShopId {
        ShopId::new(1).unwrap()
    }

    /// A job that runs until the sender is used or dropped.
    async fn occupy(pool: &ReadPool) -> mpsc::Sender<()> {
        let (release, held) = mpsc::channel::<()>();
        let (started, at_work) = oneshot::channel();
        let pool = pool.clone();
        tokio::spawn(async move {
            let job = move || {
                started.send(()).unwrap();
                let _ = held.recv();
            };
            pool.run(shop(), job).await
        });
        at_work.await.unwrap();
        release
    }

    async fn until_load_is(pool: &ReadPool, load: usize) {
        while pool.load() != load {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn idle_cores_are_those_without_a_running_job() {
        let cores = thread::available_parallelism().unwrap().get();
        let pool = ReadPool::new("test", cores + 16, 0);
        assert_eq!(pool.idle_cores(), cores);
        let others = pool.clone();
        assert_eq!(pool.run(shop(), move || others.idle_cores()).await, Ok(cores - 1));
        let mut running = Vec::new();
        for _ in 0..cores + 3 {
            running.push(occupy(&pool).await);
        }
        assert_eq!(pool.idle_cores(), 0);
    }

    #[tokio::test]
    async fn a_job_is_rejected_at_once_when_the_queue_is_full() {
        let pool = ReadPool::new("test", 1, 1);
        let release = occupy(&pool).await;
        let queued = pool.clone();
        let second = tokio::spawn(async move { queued.run(shop(), || 2).await });
        until_load_is(&pool, 2).await;
        assert_eq!(pool.run(shop(), || 3).await, Err(Overloaded));
        drop(release);
        assert_eq!(second.await.unwrap(), Ok(2));
        assert_eq!(pool.run(shop(), || 3).await, Ok(3));
    }

    #[tokio::test]
    async fn a_job_makes_room_before_its_caller_has_the_result() {
        let pool = ReadPool::new("test", 1, 0);
        for number in 0..1_000 {
            assert_eq!(pool.run(shop(), move || number).await, Ok(number));
        }
    }

    #[tokio::test]
    async fn the_thread_that_worked_last_is_woken() {
        let pool = ReadPool::new("test", 3, 0);
        let [first, second, third] =
            [occupy(&pool).await, occupy(&pool).await, occupy(&pool).await];
        for (release, load) in [(first, 2), (third, 1), (second, 0)] {
            drop(release);
            until_load_is(&pool, load).await;
        }
        let idle = || pool.pool().state.lock().idle.len();
        while idle() < 3 {
            tokio::task::yield_now().await;
        }
        let last = pool.pool().state.lock().idle[2].id();
        assert_eq!(pool.run(shop(), || thread::current().id()).await, Ok(last));
    }

    #[tokio::test]
    async fn a_job_whose_caller_is_gone_is_not_begun() {
        let pool = ReadPool::new("test", 1, 1);
        let release = occupy(&pool).await;
        let (begun, was_begun) = mpsc::channel::<()>();
        let gone = pool.clone();
        let gone = tokio::spawn(async move { gone.run(shop(), move || begun.send(())).await });
        until_load_is(&pool, 2).await;
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        drop(release);
        until_load_is(&pool, 0).await;
        assert_eq!(was_begun.recv(), Err(mpsc::RecvError));
    }

    #[tokio::test]
    async fn a_panic_reaches_the_caller_and_the_thread_stays() {
        let pool = ReadPool::new("test", 1, 0);
        for _ in 0..3 {
            let pool = pool.clone();
            let panicking =
                tokio::spawn(async move { pool.run(shop(), || panic!("on purpose")).await });
            assert!(panicking.await.unwrap_err().is_panic());
        }
        assert_eq!(pool.run(shop(), || 1).await, Ok(1));
        assert_eq!(pool.pool().state.lock().started, 1);
    }

    #[tokio::test]
    async fn the_threads_end_with_the_pool() {
        let pool = ReadPool::new("test", 2, 0);
        assert_eq!(pool.run(shop(), || 1).await, Ok(1));
        let shared = Arc::downgrade(pool.pool());
        drop(pool);
        while shared.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    }
}
