//! Runs the transformer on a bounded number of threads, searches first.
//!
//! The texts of a batch are distributed over the threads, longest first: parallelism within one
//! text would cost more than it gains.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;

use super::{
    EmbedError, Priority,
    priority_pool::PriorityPool,
    transformer::{Transformer, Workspace},
};

/// The transformer, with as many workspaces as it may use threads.
pub(super) struct Deep {
    transformer: Transformer,
    pool: PriorityPool<Workspace>,
    threads: usize,
}

impl Deep {
    /// The transformer in an ONNX file, to run on at most `threads` threads.
    pub(super) fn new(file: Cow<'static, [u8]>, threads: usize) -> Result<Self, String> {
        let threads = threads.max(1);
        let workspaces = (0..threads).map(|_| Workspace::default()).collect();
        let transformer = Transformer::new(file)?;
        Ok(Self { transformer, pool: PriorityPool::new(workspaces), threads })
    }

    /// The transformer itself.
    pub(super) fn transformer(&self) -> &Transformer {
        &self.transformer
    }

    /// One vector for each list of tokens, in their order; not normalised.
    pub(super) fn run(
        &self,
        texts: &[Vec<u32>],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut order: Vec<_> = (0..texts.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(texts[*at].len()));
        let done = Mutex::new(vec![Vec::new(); texts.len()]);
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), EmbedError> {
            while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let vector = self.transformer.encode(&texts[*at], &mut self.pool.take(priority));
                let vector =
                    vector.ok_or_else(|| EmbedError::Inference("unknown tokens".to_owned()))?;
                done.lock()[*at] = vector;
            }
            Ok(())
        };
        match self.threads.min(texts.len()) {
            0 | 1 => work()?,
            hands => std::thread::scope(|scope| {
                let others: Vec<_> = (1..hands).map(|_| scope.spawn(work)).collect();
                let mine = work();
                others
                    .into_iter()
                    .map(|hand| {
                        hand.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    })
                    .fold(mine, Result::and)
            })?,
        }
        Ok(done.into_inner())
    }
}
