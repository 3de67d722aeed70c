//! How long do we wait for a client that stalls? Not long in the middle of a request's head or
//! of our answer; longer between two requests, when it is only keeping its connection open.
//!
//! A request's body has a limit of its own, where it is read.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

use super::connections::Activity;

/// How long a client that is still sending is heard out after its last answer.
const HEAR_OUT: Duration = Duration::from_secs(2);
/// How long nothing must come from a client to be sure that it is not sending.
const QUIET: Duration = Duration::from_millis(200);
/// How much of what it sends is thrown away at once.
const THROWN_AWAY_BYTES: usize = 16 << 10;

/// How long a client may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// From the first byte of a request's head to its last.
    pub(super) head: Duration,
    /// From one part of an answer that it takes to the next.
    pub(super) answer: Duration,
}

/// A client's stream that ends when the client stalls.
pub(super) struct Patient<S> {
    stream: S,
    activity: Arc<Activity>,
    head: Deadline,
    answer: Deadline,
    leaving: Deadline,
    quiet: Deadline,
    /// Reading waits until the client has taken what there is for it.
    waits_for_client: bool,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Patience, activity: Arc<Activity>) -> Self {
        Self {
            stream,
            activity,
            head: Deadline::new(patience.head),
            answer: Deadline::new(patience.answer),
            leaving: Deadline::new(HEAR_OUT),
            quiet: Deadline::new(QUIET),
            waits_for_client: false,
        }
    }

    /// Watches over the client taking a part of a response.
    fn watch_taking<T>(
        &mut self,
        context: &mut Context<'_>,
        said: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let watched = self.answer.watch(context, said);
        if watched.is_ready() && std::mem::take(&mut self.waits_for_client) {
            context.waker().wake_by_ref();
        }
        watched
    }
}

impl<S: AsyncRead + Unpin> Patient<S> {
    /// Ready once the client has hung up, or nothing more is on its way. A request may be
    /// answered before it was read whole; if the connection were closed while its client is
    /// still sending, the system would reset it, and the client lose the answer.
    fn poll_hear_out(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; THROWN_AWAY_BYTES];
        self.leaving.start();
        self.quiet.start();
        while self.leaving.poll::<()>(context).is_pending() {
            let mut thrown_away = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut thrown_away) {
                Poll::Ready(Ok(())) if !thrown_away.filled().is_empty() => {
                    self.quiet.stop();
                    self.quiet.start();
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.quiet.poll::<()>(context).map(drop),
            }
        }
        Poll::Ready(())
    }
}

/// A time limit that runs only while someone waits.
struct Deadline {
    patience: Duration,
    sleep: Pin<Box<Sleep>>,
    running: bool,
}

impl Deadline {
    fn new(patience: Duration) -> Self {
        Self { patience, sleep: Box::pin(tokio::time::sleep(patience)), running: false }
    }

    fn start(&mut self) {
        if !self.running {
            self.running = true;
            self.sleep.as_mut().reset(Instant::now() + self.patience);
        }
    }

    fn stop(&mut self) {
        self.running = false;
    }

    /// Ready, with an error, once the limit is over.
    fn poll<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if !self.running {
            return Poll::Pending;
        }
        ready!(self.sleep.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Passes on what the stream said, or gives up if it has said nothing for too long.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        said: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.stop();
            return said;
        }
        self.start();
        self.poll(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.answer.running && !self.activity.is_at_work() {
            // A client that sends one request after another and takes no response would have
            // them all gather here.
            self.waits_for_client = true;
            return Poll::Pending;
        }
        let said = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.activity.is_at_work() {
            self.head.stop();
            return said;
        }
        if said.is_ready() {
            self.head.start();
            return said;
        }
        self.head.poll(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write(context, bytes);
        // An answer begins: what was read before was a whole head.
        self.head.stop();
        self.watch_taking(context, said)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.head.stop();
        self.watch_taking(context, said)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_flush(context);
        let watched = self.watch_taking(context, said);
        if let Poll::Ready(Ok(())) = watched {
            self.activity.rest();
        }
        watched
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.leaving.running {
            let said = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.answer.watch(context, said))?;
        }
        self.poll_hear_out(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    const PATIENCE: Patience =
        Patience { head: Duration::from_secs(5), answer: Duration::from_secs(5) };

    fn connection(buffer: usize) -> (Patient<DuplexStream>, DuplexStream, Arc<Activity>) {
        let (ours, theirs) = tokio::io::duplex(buffer);
        let activity = Activity::new(std::time::Instant::now());
        (Patient::new(ours, PATIENCE, Arc::clone(&activity)), theirs, activity)
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_ends_the_answer() {
        let (mut stream, _theirs, _) = connection(8);
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_that_goes_on_gets_everything() {
        let (mut stream, mut theirs, _) = connection(8);
        let reading = tokio::spawn(async move {
            let mut read = 0;
            while read < 64 {
                tokio::time::sleep(Duration::from_secs(4)).await;
                read += theirs.read(&mut [0; 8]).await.unwrap();
            }
        });
        stream.write_all(&[0; 64]).await.unwrap();
        reading.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn no_request_is_read_before_the_last_response_is_taken() {
        let (stream, mut theirs, _) = connection(8);
        theirs.write_all(b"next").await.unwrap();
        let second = Duration::from_secs(1);
        let (mut reading, mut writing) = tokio::io::split(stream);
        let writing = tokio::spawn(async move { writing.write_all(&[0; 64]).await });
        tokio::task::yield_now().await;
        assert!(tokio::time::timeout(second, reading.read_u8()).await.is_err());
        theirs.read_exact(&mut [0; 64]).await.unwrap();
        writing.await.unwrap().unwrap();
        assert_eq!(reading.read_u8().await.unwrap(), b'n');
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_still_sending_is_heard_out_for_a_while() {
        let (mut stream, mut theirs, _) = connection(8);
        tokio::spawn(async move {
            while theirs.write_all(&[0; 64]).await.is_ok() {
                tokio::time::sleep(QUIET / 2).await;
            }
        });
        let began = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(began.elapsed(), HEAR_OUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_quiet_or_gone_is_left_soon() {
        let (mut stream, theirs, _) = connection(8);
        let began = Instant::now();
        stream.shutdown().await.unwrap();
        assert!(began.elapsed() < QUIET * 2);
        drop(theirs);
        let began = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_trickles_in_is_cut_off_however_often_a_byte_comes() {
        let (mut stream, mut theirs, _) = connection(8);
        tokio::spawn(async move {
            while theirs.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let began = Instant::now();
        let error = loop {
            if let Err(error) = stream.read_u8().await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), PATIENCE.head.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn neither_an_idle_connection_nor_a_body_is_a_head() {
        let (mut stream, mut theirs, activity) = connection(8);
        let wait = Duration::from_secs(20);
        assert!(tokio::time::timeout(wait, stream.read_u8()).await.is_err(), "idle");
        theirs.write_all(b"x").await.unwrap();
        stream.read_u8().await.unwrap();
        let _guard = activity.begin();
        assert!(tokio::time::timeout(wait, stream.read_u8()).await.is_err(), "at work");
    }
}
