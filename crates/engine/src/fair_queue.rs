//! A queue that shares the work of its threads among shops by start-time fair queueing.
//!
//! Each shop has a queue of its own and a tag: the virtual time at which its next job starts. The job
//! with the smallest tag runs next; the tag then advances by what the job costs, such as the time that
//! it takes. A shop that had no job waiting starts at the virtual time of the job that was begun last,
//! so unused time is not saved up, and a shop that asks for less than its share is next, however much
//! others ask for.
//!
//! What a job costs may be known only once it has ended. Until then the mean of the shop's recent jobs
//! stands for it, so that a shop cannot begin many jobs at one tag.

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;

/// The weight of the latest job in the mean of a shop's jobs: one of this many.
const MEAN_OVER: u64 = 8;

/// The queue of a pool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many requests are waiting")]
pub struct Overloaded;

/// Jobs that wait and the shops they wait for. Virtual time is in the unit of the costs.
pub(crate) struct FairQueue<S, J> {
    /// Jobs that run or wait, of all shops.
    capacity: usize,
    /// Jobs that run or wait, of one shop.
    capacity_of_shop: usize,
    /// Shops with a job that runs or waits, or whose tag is ahead of the virtual time; none while no job
    /// runs or waits.
    shops: BTreeMap<S, ShopQueue<J>>,
    virtual_time: u64,
    waiting: usize,
    running: usize,
}

struct ShopQueue<J> {
    waiting: VecDeque<J>,
    running: usize,
    /// The virtual time at which the next job starts.
    tag: u64,
    /// The mean cost of recent jobs; 0 before the first.
    mean: u64,
}

/// A job that was begun; [`FairQueue::end`] takes it back.
pub(crate) struct Begun<S> {
    shop: S,
    /// The cost that was charged for the job when it began.
    charged: u64,
}

impl<S: Copy + Ord, J> FairQueue<S, J> {
    /// `threads` jobs may run, and `queue` more wait, half of them for one shop.
    pub(crate) fn new(threads: usize, queue: usize) -> Self {
        Self {
            capacity: threads + queue,
            capacity_of_shop: threads + queue.div_ceil(2),
            shops: BTreeMap::new(),
            virtual_time: 0,
            waiting: 0,
            running: 0,
        }
    }

    /// Jobs that run or wait.
    pub(crate) fn load(&self) -> usize {
        self.running + self.waiting
    }

    /// Jobs that run.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// Adds a job. If the queue is full, it takes the place of the newest job of the shop with the most
    /// waiting jobs, if that has more than this shop; the job that lost its place is returned.
    pub(crate) fn push(&mut self, shop: S, job: J) -> Result<Option<J>, Overloaded> {
        let of_shop = self.shops.get(&shop);
        if of_shop.is_some_and(|queue| queue.load() >= self.capacity_of_shop) {
            return Err(Overloaded);
        }
        let waiting = of_shop.map_or(0, |queue| queue.waiting.len());
        let replaced = match self.load() < self.capacity {
            true => None,
            false => Some(self.take_newest_of_longest(waiting + 1)?),
        };
        let virtual_time = self.virtual_time;
        let queue = self.shops.entry(shop).or_insert_with(|| ShopQueue::new(virtual_time));
        if queue.waiting.is_empty() {
            queue.tag = queue.tag.max(virtual_time);
        }
        queue.waiting.push_back(job);
        self.waiting += 1;
        Ok(replaced)
    }

    /// The newest job of the shop with the most waiting jobs, which must be more than `more_than`.
    fn take_newest_of_longest(&mut self, more_than: usize) -> Result<J, Overloaded> {
        let longest = self.shops.values_mut().max_by_key(|queue| queue.waiting.len());
        let longest = longest.filter(|queue| queue.waiting.len() > more_than);
        let newest = longest.and_then(|queue| queue.waiting.pop_back()).ok_or(Overloaded)?;
        self.waiting -= 1;
        Ok(newest)
    }

    /// Begins the next job. With equal tags, the shop that runs fewer jobs is next.
    pub(crate) fn begin(&mut self) -> Option<(J, Begun<S>)> {
        let queues = self.shops.iter_mut().filter(|(_, queue)| !queue.waiting.is_empty());
        let (shop, queue) = queues.min_by_key(|(_, queue)| (queue.tag, queue.running))?;
        let job = queue.waiting.pop_front()?;
        let begun = Begun { shop: *shop, charged: queue.mean };
        self.virtual_time = self.virtual_time.max(queue.tag);
        queue.tag += begun.charged;
        queue.running += 1;
        self.waiting -= 1;
        self.running += 1;
        Some((job, begun))
    }

    /// Charges what a job cost to its shop.
    pub(crate) fn end(&mut self, Begun { shop, charged }: Begun<S>, cost: u64) {
        self.running -= 1;
        if let Some(queue) = self.shops.get_mut(&shop) {
            queue.running -= 1;
            queue.tag = (queue.tag + cost).saturating_sub(charged);
            queue.mean = match queue.mean {
                0 => cost,
                mean => (mean * (MEAN_OVER - 1) + cost) / MEAN_OVER,
            };
        }
        if self.load() == 0 {
            // No shop waited for another, so none is ahead of the others.
            self.shops.clear();
        }
        let virtual_time = self.virtual_time;
        self.shops.retain(|_, queue| queue.load() > 0 || queue.tag > virtual_time);
    }

    /// Takes all waiting jobs, which are not to be begun.
    pub(crate) fn clear(&mut self) -> Vec<J> {
        self.waiting = 0;
        self.shops.values_mut().flat_map(|queue| queue.waiting.drain(..)).collect()
    }
}

impl<J> ShopQueue<J> {
    fn new(tag: u64) -> Self {
        Self { waiting: VecDeque::new(), running: 0, tag, mean: 0 }
    }

    fn load(&self) -> usize {
        self.running + self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::ShopId;

    use super::*;

    const TICK: u64 = 1_000_000;

    fn shop(id: u64) -> ShopId {
        ShopId::new(id).unwrap()
    }

    /// A queue whose jobs are the numbers of their shops.
    fn queue(threads: usize, queue: usize) -> FairQueue<ShopId, u64> {
        FairQueue::new(threads, queue)
    }

    /// Runs the next job for this many ticks; returns its shop.
    fn run(queue: &mut FairQueue<ShopId, u64>, ticks: impl Fn(u64) -> u64) -> u64 {
        let (job, begun) = queue.begin().unwrap();
        queue.end(begun, TICK * ticks(job));
        job
    }

    #[test]
    fn a_shop_with_one_job_is_next_however_many_another_has() {
        let mut queue = queue(1, 1000);
        (0..300).for_each(|_| assert_eq!(queue.push(shop(1), 1), Ok(None)));
        for _ in 0..50 {
            assert_eq!(run(&mut queue, |_| 1), 1);
            queue.push(shop(2), 2).unwrap();
            assert_eq!(run(&mut queue, |_| 1), 2);
            assert_eq!(run(&mut queue, |_| 1), 1);
        }
    }

    #[test]
    fn shops_share_time_and_not_jobs() {
        let mut queue = queue(1, 1000);
        for _ in 0..400 {
            queue.push(shop(1), 1).unwrap();
            queue.push(shop(2), 2).unwrap();
        }
        let ticks = |job| if job == 1 { 1 } else { 9 };
        let ran: Vec<_> = (0..200).map(|_| run(&mut queue, ticks)).collect();
        let slow = ran.iter().filter(|job| **job == 2).count();
        assert!((18..=22).contains(&slow), "a tenth of the jobs takes half of the time: {slow}");
    }

    #[test]
    fn time_that_was_not_used_is_not_saved_up() {
        let mut queue = queue(1, 1000);
        for _ in 0..101 {
            queue.push(shop(1), 1).unwrap();
        }
        queue.push(shop(2), 2).unwrap();
        // Shop 2 runs one of them, and has none for a while.
        for _ in 0..100 {
            run(&mut queue, |_| 1);
        }
        for _ in 0..10 {
            queue.push(shop(1), 1).unwrap();
            queue.push(shop(2), 2).unwrap();
        }
        let ran: Vec<_> = (0..10).map(|_| run(&mut queue, |_| 1)).collect();
        assert_eq!(ran.iter().filter(|job| **job == 2).count(), 5, "{ran:?}");
    }

    #[test]
    fn jobs_that_run_are_charged_before_they_end() {
        let mut queue = queue(4, 1000);
        for _ in 0..6 {
            queue.push(shop(1), 1).unwrap();
            queue.push(shop(2), 2).unwrap();
        }
        assert_ne!(run(&mut queue, |_| 1), run(&mut queue, |_| 1));
        let begun: Vec<_> = (0..4).map(|_| queue.begin().unwrap().0).collect();
        assert_eq!(begun.iter().filter(|job| **job == 2).count(), 2, "{begun:?}");
    }

    #[test]
    fn a_shop_may_hold_half_of_the_queue() {
        let mut queue = queue(1, 8);
        (0..5).for_each(|_| assert_eq!(queue.push(shop(1), 1), Ok(None)));
        assert_eq!(queue.push(shop(1), 1), Err(Overloaded));
        assert_eq!(queue.push(shop(2), 2), Ok(None));
    }

    #[test]
    fn the_shop_with_the_longest_queue_makes_room() {
        let mut queue = queue(1, 8);
        for id in [1, 1, 1, 1, 1, 2, 2, 2, 2] {
            assert_eq!(queue.push(shop(id), id), Ok(None));
        }
        assert_eq!(queue.push(shop(3), 3), Ok(Some(1)), "shop 1 has five");
        assert_eq!(queue.push(shop(1), 1), Err(Overloaded), "no shop has more than it would have");
        let full: Vec<_> = (0..4).map(|_| queue.push(shop(3), 3)).collect();
        assert_eq!(full.iter().flatten().count(), 2, "three for each: {full:?}");
        assert_eq!(queue.load(), 9);
    }

    #[test]
    fn nothing_is_kept_of_shops_that_are_idle() {
        let mut queue = queue(1, 1000);
        for id in 1..100 {
            queue.push(shop(id), id).unwrap();
            run(&mut queue, |_| 1);
        }
        assert!(queue.shops.is_empty());
        for id in 1..100 {
            queue.push(shop(id), id).unwrap();
            queue.push(shop(id), id).unwrap();
        }
        for _ in 0..198 {
            run(&mut queue, |_| 1);
        }
        assert!(queue.shops.is_empty());
    }
}
