//! Runs the transformer with `rten`, a pure-Rust ONNX runtime, with prepacked weights.
//!
//! Texts run one at a time: the int8 graph scales the activations of a whole batch together, so in
//! a batch the vector of a text would depend on the other texts. Alone it is deterministic, never
//! padded, and as fast, because the texts of a batch are distributed over the threads, longest
//! first.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::{AsView, Layout, NdTensor};

use super::{EmbedError, Priority, priority_pool::PriorityPool};

/// The graph, which runs on a bounded number of threads.
pub(super) struct Deep {
    model: Model,
    tokens: NodeId,
    mask: NodeId,
    vector: NodeId,
    pool: PriorityPool<Arc<ThreadPool>>,
    threads: usize,
}

impl Deep {
    /// The graph in an ONNX file, to run on at most `threads` threads.
    pub(super) fn new(bytes: Cow<'static, [u8]>, threads: usize) -> Result<Self, String> {
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(true);
        let model = match bytes {
            Cow::Borrowed(bytes) => options.load_static_slice(bytes),
            Cow::Owned(bytes) => options.load(bytes),
        };
        let model = model.map_err(|error| error.to_string())?;
        let node = |name| model.node_id(name).map_err(|_| format!("has no {name}"));
        let (tokens, mask, vector) = (node("input_ids")?, node("attention_mask")?, node("vector")?);
        let threads = threads.max(1);
        // Single-threaded pools: parallelism within one text would cost more than it gains.
        let pools = (0..threads).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect();
        Ok(Self { model, tokens, mask, vector, pool: PriorityPool::new(pools), threads })
    }

    /// One vector for each list of tokens, in their order; not normalised.
    pub(super) fn run(
        &self,
        texts: &[Vec<i32>],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut order: Vec<_> = (0..texts.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(texts[*at].len()));
        let done = Mutex::new(vec![Vec::new(); texts.len()]);
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), EmbedError> {
            while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let vector = self.run_one(&texts[*at], priority)?;
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

    fn run_one(&self, tokens: &[i32], priority: Priority) -> Result<Vec<f32>, EmbedError> {
        let shape = [1, tokens.len()];
        let mask = NdTensor::full(shape, 1_i32);
        let tokens = NdTensor::from_data(shape, tokens.to_vec());
        let inputs = vec![(self.tokens, tokens.into()), (self.mask, mask.into())];
        let threads = self.pool.take(priority);
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&threads));
        let [vector] = self.model.run_n(inputs, [self.vector], Some(options)).map_err(failed)?;
        drop(threads);
        let vector: NdTensor<f32, 2> = vector.try_into().map_err(failed)?;
        match vector.shape()[0] {
            1 => Ok(vector.to_vec()),
            rows => Err(failed(format!("{rows} vectors for one text"))),
        }
    }
}

fn failed(why: impl std::fmt::Display) -> EmbedError {
    EmbedError::Inference(why.to_string())
}
