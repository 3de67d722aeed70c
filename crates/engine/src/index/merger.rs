//! Who merges the large segments? One background thread for all shops, so that neither
//! writers nor readers wait and the work takes at most one core.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        OnceLock, Weak,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use super::Shared;

/// Shops with a merge to do. Those that have left memory in the meantime are passed over.
static QUEUE: OnceLock<Sender<Weak<Shared>>> = OnceLock::new();

/// Has the shop's next background merge done, soon.
pub(super) fn enqueue(shop: Weak<Shared>) {
    let queue = QUEUE.get_or_init(|| {
        let (sender, receiver) = channel();
        let thread = thread::Builder::new().name("index-merge".to_owned());
        if let Err(error) = thread.spawn(move || run(&receiver)) {
            tracing::error!(%error, "cannot start the thread that merges index segments");
        }
        sender
    });
    // Without the thread, segments stay as they are: searches are slower and still right.
    let _ = queue.send(shop);
}

fn run(queue: &Receiver<Weak<Shared>>) {
    while let Ok(shop) = queue.recv() {
        let Some(shared) = shop.upgrade() else { continue };
        // One merge a turn: shops with much to merge do not keep the others waiting.
        match catch_unwind(AssertUnwindSafe(|| shared.merge_in_background())) {
            Ok(true) => enqueue(shop),
            Ok(false) => {}
            Err(_) => tracing::error!("merging index segments failed; the shop keeps its segments"),
        }
    }
}
