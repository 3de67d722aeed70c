//! What about a client that asks and then does not read the answer? Its connection ends.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// A stream whose writes fail once they have made no progress for a while.
pub(super) struct WriteTimeout<S> {
    stream: S,
    patience: Duration,
    deadline: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<S> WriteTimeout<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, deadline: Box::pin(tokio::time::sleep(patience)), waiting: false }
    }

    /// Passes on what the stream said, or gives up if it has said nothing for too long.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        answer: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if answer.is_ready() {
            self.waiting = false;
            return answer;
        }
        if !self.waiting {
            self.waiting = true;
            self.deadline.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let answer = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, answer)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let answer = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, answer)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let answer = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, answer)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let answer = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, answer)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_ends_the_write() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut stream = WriteTimeout::new(ours, Duration::from_secs(5));
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_that_goes_on_gets_everything() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stream = WriteTimeout::new(ours, Duration::from_secs(5));
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
}
