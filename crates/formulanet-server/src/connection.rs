//! One connection: requests in, answers out, and no patience with clients who keep it open without either.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep, timeout};

use crate::metrics::Metrics;

/// Bytes of a request's first line and headers.
const MAX_HEAD: usize = 64 << 10;
/// How long, and how much, is read of what a client still sends after the last answer. Without this, closing the
/// connection would make the client's system throw the answer away.
const LINGER: Duration = Duration::from_secs(2);
const LAST_LINGER: Duration = Duration::from_millis(200);
const MAX_LINGER: usize = 64 << 20;

/// Serves a connection to its end.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    patience: Duration,
    mut stop: watch::Receiver<bool>,
    metrics: &Metrics,
) {
    // Answers are small, and waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let stream = Impatient { stream, patience, waiting: None };
    let answer = TowerToHyperService::new(router);
    let service = service_fn(move |request| Box::pin(answer.call(request)));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut is_told = *stop.borrow();
    if is_told {
        Pin::new(&mut connection).graceful_shutdown();
    }
    let result = loop {
        tokio::select! {
            result = std::future::poll_fn(|context| connection.poll_without_shutdown(context)) => break result,
            _ = stop.changed(), if !is_told => {
                is_told = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    let is_slow = result.as_ref().is_err_and(hyper::Error::is_timeout);
    let parts = connection.into_parts();
    let mut stream = parts.io.into_inner();
    // Who had not yet begun a request is told nothing: it is no answer to anything.
    if is_slow && !parts.read_buf.is_empty() {
        metrics.slow();
        let message = "timed out while reading the headers";
        let _ = stream.write_all(refusal("408 Request Timeout", message).as_bytes()).await;
    }
    if result.as_ref().is_err_and(hyper::Error::is_parse_version_h2) {
        let message = "expected HTTP/1.1, found HTTP/2; use HTTP/1.1";
        let _ = stream.write_all(refusal("400 Bad Request", message).as_bytes()).await;
    }
    if result.is_ok() || is_slow || result.is_err_and(|error| error.is_parse()) {
        let patience = if is_told { LAST_LINGER } else { LINGER };
        let _ = timeout(patience, linger(&mut stream)).await;
    }
}

/// Says that nothing more comes, and waits for the client to say the same.
async fn linger(stream: &mut Impatient) -> io::Result<()> {
    stream.shutdown().await?;
    let (mut buffer, mut most) = (vec![0; 16 << 10], MAX_LINGER);
    while most > 0 {
        match stream.read(&mut buffer).await? {
            0 => break,
            count => most = most.saturating_sub(count),
        }
    }
    Ok(())
}

/// An answer to what never became a request.
fn refusal(status: &str, message: &str) -> String {
    let body = format!("{{\"error\":{{\"message\":\"{message}\"}}}}");
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}

/// A stream that gives up on a client who does not take what is written.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Impatient {
    /// Returns the result of a write, or an error if it has made no progress for too long.
    fn in_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        waiting.as_mut().reset(Instant::now() + patience);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
