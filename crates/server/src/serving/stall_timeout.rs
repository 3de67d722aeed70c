//! Timeouts for clients that stall: while they send a request head, and while they read a response.
//! Between requests, hyper's idle timeout applies; request bodies have a timeout where they are read.

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

use crate::http::admission::Connection;

/// The longest lingering close: how long the data of a client that is still sending is discarded
/// after its last response.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);
/// The lingering close ends early once a client has sent nothing for this long.
const LINGER_IDLE: Duration = Duration::from_millis(200);
/// The buffer for discarded data.
const LINGER_BUFFER_BYTES: usize = 16 << 10;

/// The timeouts of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct StallTimeouts {
    /// From the first byte of a request head to its last.
    pub(super) head: Duration,
    /// How long a response may wait for the client, beyond the time that reading takes at the least
    /// allowed rate.
    pub(super) write: Duration,
}

/// A client's stream that fails when the client stalls.
pub(super) struct StallTimeoutStream<S> {
    stream: S,
    connection: Arc<Connection>,
    head: Deadline,
    write: Deadline,
    linger: Deadline,
    linger_idle: Deadline,
    /// A read is suspended until pending response data has been written.
    is_read_suspended: bool,
}

impl<S> StallTimeoutStream<S> {
    pub(super) fn new(stream: S, timeouts: StallTimeouts, connection: Arc<Connection>) -> Self {
        Self {
            stream,
            connection,
            head: Deadline::new(timeouts.head),
            write: Deadline::new(timeouts.write),
            linger: Deadline::new(LINGER_TIMEOUT),
            linger_idle: Deadline::new(LINGER_IDLE),
            is_read_suspended: false,
        }
    }

    /// Applies the write timeout, and resumes a suspended read after progress.
    fn watch_write(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let Poll::Ready(result) = polled else {
            self.write.start_at(self.connection.blocked());
            return self.write.poll(context);
        };
        self.write.stop();
        self.connection.wrote(result.as_ref().copied().unwrap_or_default());
        if std::mem::take(&mut self.is_read_suspended) {
            context.waker().wake_by_ref();
        }
        Poll::Ready(result)
    }
}

impl<S: AsyncRead + Unpin> StallTimeoutStream<S> {
    /// A lingering close: ready once the client has closed the connection or stopped sending. A
    /// request may be answered before it was read completely; closing the connection while the
    /// client is still sending would reset it, and the client would lose the response.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; LINGER_BUFFER_BYTES];
        self.linger.start();
        self.linger_idle.start();
        while self.linger.poll::<()>(context).is_pending() {
            let mut discarded = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut discarded) {
                Poll::Ready(Ok(())) if !discarded.filled().is_empty() => {
                    self.linger_idle.stop();
                    self.linger_idle.start();
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.linger_idle.poll::<()>(context).map(drop),
            }
        }
        Poll::Ready(())
    }
}

/// A timeout that can be stopped and started.
struct Deadline {
    timeout: Duration,
    sleep: Pin<Box<Sleep>>,
    running: bool,
}

impl Deadline {
    fn new(timeout: Duration) -> Self {
        Self { timeout, sleep: Box::pin(tokio::time::sleep(timeout)), running: false }
    }

    fn start(&mut self) {
        if !self.running {
            self.start_at(Instant::now());
        }
    }

    /// Starts as if it had been started then.
    fn start_at(&mut self, began: Instant) {
        self.running = true;
        let deadline = began + self.timeout;
        if self.sleep.deadline() != deadline {
            self.sleep.as_mut().reset(deadline);
        }
    }

    fn stop(&mut self) {
        self.running = false;
    }

    /// Ready with an error once the timeout is over.
    fn poll<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if !self.running {
            return Poll::Pending;
        }
        ready!(self.sleep.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Returns the result of the stream if it is ready, and an error after the timeout.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stop();
            return polled;
        }
        self.start();
        self.poll(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.write.running && !self.connection.has_request() {
            // The client does not read its response: no further requests are read, or responses
            // would accumulate in memory.
            self.is_read_suspended = true;
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.connection.has_request() {
            self.head.stop();
            return polled;
        }
        if polled.is_ready() {
            self.head.start();
            return polled;
        }
        self.head.poll(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for StallTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        // A response begins, so the request head was complete.
        self.head.stop();
        self.watch_write(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.head.stop();
        self.watch_write(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        ready!(self.watch_write(context, polled.map_ok(|()| 0)))?;
        self.connection.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.linger.running {
            let polled = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.write.watch(context, polled))?;
        }
        self.poll_linger(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;
    use crate::http::admission::{ConnectionLimits, Connections, connections::ConnectionSlot};

    const TIMEOUTS: StallTimeouts =
        StallTimeouts { head: Duration::from_secs(5), write: Duration::from_secs(5) };

    fn connection(
        buffer: usize,
    ) -> (StallTimeoutStream<DuplexStream>, DuplexStream, ConnectionSlot) {
        let (ours, theirs) = tokio::io::duplex(buffer);
        let connections = Connections::new(ConnectionLimits::of_clients(1));
        let slot = connections.acquire(IpAddr::from(Ipv4Addr::LOCALHOST).into()).unwrap();
        (StallTimeoutStream::new(ours, TIMEOUTS, Arc::clone(&slot.0)), theirs, slot)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_reading_times_out() {
        let (mut stream, _theirs, _slot) = connection(8);
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    /// How far a client gets that takes this many bytes every second.
    async fn read_at(bytes_per_second: usize) -> Result<(), io::ErrorKind> {
        let (mut stream, mut theirs, _slot) = connection(8);
        let reading = tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                for _ in 0..bytes_per_second / 8 {
                    if theirs.read_exact(&mut [0; 8]).await.is_err() {
                        return;
                    }
                }
            }
        });
        let written = stream.write_all(&[0; 64 << 10]).await.map_err(|error| error.kind());
        reading.abort();
        written
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_client_that_keeps_reading_gets_everything() {
        assert_eq!(read_at(2 << 10).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_too_slowly_times_out() {
        assert_eq!(read_at(512).await, Err(io::ErrorKind::TimedOut));
        assert_eq!(read_at(8).await, Err(io::ErrorKind::TimedOut));
    }

    #[tokio::test(start_paused = true)]
    async fn no_request_is_read_before_the_last_response_is_written() {
        let (stream, mut theirs, _slot) = connection(8);
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
    async fn the_close_lingers_while_the_client_is_sending() {
        let (mut stream, mut theirs, _slot) = connection(8);
        tokio::spawn(async move {
            while theirs.write_all(&[0; 64]).await.is_ok() {
                tokio::time::sleep(LINGER_IDLE / 2).await;
            }
        });
        let began = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(began.elapsed(), LINGER_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn the_close_is_quick_if_the_client_is_quiet_or_gone() {
        let (mut stream, theirs, _slot) = connection(8);
        let began = Instant::now();
        stream.shutdown().await.unwrap();
        assert!(began.elapsed() < LINGER_IDLE * 2);
        drop(theirs);
        let began = Instant::now();
        stream.shutdown().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_arrives_byte_by_byte_times_out() {
        let (mut stream, mut theirs, _slot) = connection(8);
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
        assert_eq!(began.elapsed().as_secs(), TIMEOUTS.head.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connections_and_bodies_have_no_head_timeout() {
        let (mut stream, mut theirs, slot) = connection(8);
        let wait = Duration::from_secs(20);
        assert!(tokio::time::timeout(wait, stream.read_u8()).await.is_err(), "idle");
        theirs.write_all(b"x").await.unwrap();
        stream.read_u8().await.unwrap();
        let _guard = slot.0.begin_request();
        assert!(tokio::time::timeout(wait, stream.read_u8()).await.is_err(), "in a request");
    }
}
