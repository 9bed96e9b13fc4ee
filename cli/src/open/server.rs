//! The server: two addresses below a secret, for one page.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use super::mark::mark;
use crate::error::CommandError;
use crate::form::Color;
use crate::messages::{DistinctMessages, Messages as _};
use crate::report::{self, PageOptions};
use crate::status::Status;
use crate::{output, terminal};

/// Bytes of the secret in the address. No other page and no other user of the computer can guess it.
const SECRET: usize = 16;

/// Time in which a client has to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Time between two attempts to accept a connection, after an error such as too many open files.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Serves the page until the process ends. Port 0 is any free port.
pub(super) fn run(options: PageOptions, port: u16, color: Color) -> Result<Status, CommandError> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {address} (`--port`): {error}"))
        })?;
        let server = PageServer::new(options, listener.local_addr()?.port(), color)?;
        let mut out = terminal::stdout(color);
        output::unless_closed(server.announce(&mut out))?;
        serve(server, listener).await
    })
}

/// Server of one page.
struct PageServer {
    options: PageOptions,
    port: u16,
    secret: String,
    color: Color,
    /// The last page. The lock is held while a page is computed, so that two visitors compute it once.
    last: Mutex<ServedPage>,
}

struct ServedPage {
    mark: String,
    html: Bytes,
    /// The files whose text the page is about. Some are not in the input, such as the base of an overlay.
    read: BTreeSet<PathBuf>,
}

impl PageServer {
    /// Computes the first page. An error of the command line or a missing input ends the command here.
    fn new(options: PageOptions, port: u16, color: Color) -> Result<Self, CommandError> {
        let mut secret = [0; SECRET];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let secret = format!("{:032x}", u128::from_ne_bytes(secret));
        let last = Mutex::new(computed(&options, BTreeSet::new(), color)?);
        Ok(Self { options, port, secret, color, last })
    }

    /// Prints the address.
    fn announce(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "serving the page at http://127.0.0.1:{}/{}/ (stop with Ctrl+C)",
            self.port, self.secret
        )?;
        out.flush()
    }

    /// The page of the current input. An error becomes a page, so that the browser shows it and waits for a change.
    fn page(&self) -> Bytes {
        let mut last = self.last();
        let mark = mark(&self.options, &last.read);
        if mark.as_ref().is_ok_and(|mark| *mark == last.mark) {
            return last.html.clone();
        }
        let known = mark.as_ref().map(String::clone).unwrap_or_default();
        let page = computed(&self.options, last.read.clone(), self.color).or_else(|error| {
            self.color.error(&error.to_string());
            let html = report::without_answers(&self.options, &error.to_string(), &known)?;
            Ok::<_, io::Error>(ServedPage { mark: known, html: html.into(), read: last.read.clone() })
        });
        if let Ok(page) = page {
            *last = page;
        }
        last.html.clone()
    }

    /// The mark of the current input.
    fn mark(&self) -> Result<String, CommandError> {
        mark(&self.options, &self.last().read)
    }

    fn last(&self) -> MutexGuard<'_, ServedPage> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Computes a page. `read` has the files of the page before. If this page reads others, it is computed again, because a mark has to be older
/// than the text of all files.
fn computed(
    options: &PageOptions,
    mut read: BTreeSet<PathBuf>,
    color: Color,
) -> Result<ServedPage, CommandError> {
    let messages = DistinctMessages::new(&color, false);
    loop {
        let mark = mark(options, &read)?;
        let page = report::write(options, Some(&mark), &messages)?;
        if page.read.is_subset(&read) {
            return Ok(ServedPage { mark, html: page.html.into(), read });
        }
        read = page.read;
    }
}

/// Answers until the process ends.
async fn serve(server: PageServer, listener: TcpListener) -> Result<Status, CommandError> {
    let server = Arc::new(server);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AFTER_ERROR).await;
            continue;
        };
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let service = service_fn(move |request| answered(Arc::clone(&server), request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service);
            // The visitor may leave.
            let _ = connection.await;
        });
    }
}

async fn answered(
    server: Arc<PageServer>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let head = request.map(|_| ());
    let answer = match route(&head, server.port, &server.secret) {
        Route::Page => {
            let html = tokio::task::spawn_blocking(move || server.page()).await;
            html.map_or_else(
                |_| refusal(StatusCode::INTERNAL_SERVER_ERROR),
                |html| ok("text/html; charset=utf-8", html),
            )
        }
        Route::Mark => {
            let mark = tokio::task::spawn_blocking(move || server.mark()).await;
            match mark {
                Ok(Ok(mark)) => ok("text/plain; charset=utf-8", mark.into()),
                _ => refusal(StatusCode::INTERNAL_SERVER_ERROR),
            }
        }
        Route::Refused(status) => refusal(status),
    };
    Ok(answer)
}

/// Meaning of a request.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    Page,
    /// The mark of the input.
    Mark,
    Refused(StatusCode),
}

/// Port of an address that names none.
const HTTP_PORT: u16 = 80;

/// Another name in `Host` is the name of another site that leads here (DNS rebinding).
fn route(request: &Request<()>, port: u16, secret: &str) -> Route {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let is_own = |host: &Authority| {
        let is_loopback =
            ["127.0.0.1", "localhost"].iter().any(|name| host.host().eq_ignore_ascii_case(name));
        is_loopback && host.port_u16().unwrap_or(HTTP_PORT) == port
    };
    if !host.as_ref().is_some_and(is_own) {
        return Route::Refused(StatusCode::FORBIDDEN);
    }
    let path = request.uri().path().strip_prefix('/').and_then(|path| path.split_once('/'));
    match path.filter(|(first, _)| *first == secret) {
        Some(_) if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            Route::Refused(StatusCode::METHOD_NOT_ALLOWED)
        }
        Some((_, "")) => Route::Page,
        Some((_, "mark")) => Route::Mark,
        _ => Route::Refused(StatusCode::NOT_FOUND),
    }
}

fn ok(media_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    response(StatusCode::OK, media_type, body)
}

fn refusal(status: StatusCode) -> Response<Full<Bytes>> {
    let text = status.canonical_reason().unwrap_or_default();
    response(status, "text/plain; charset=utf-8", Bytes::from_static(text.as_bytes()))
}

fn response(status: StatusCode, media_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, "no-store"),
        // The page has a stricter policy, which a file must have too; only a header can forbid frames.
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (hyper::header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (hyper::header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routed(method: &str, host: &str, path: &str) -> Route {
        let request = Request::builder().method(method).uri(path).header(HOST, host).body(()).unwrap();
        route(&request, 8080, "secret")
    }

    #[test]
    fn serves_two_addresses_below_the_secret() {
        assert_eq!(routed("GET", "127.0.0.1:8080", "/secret/"), Route::Page);
        assert_eq!(routed("HEAD", "localhost:8080", "/secret/?a=b"), Route::Page);
        assert_eq!(routed("GET", "127.0.0.1:8080", "/secret/mark"), Route::Mark);
        assert_eq!(routed("GET", "LocalHost:8080", "/secret/"), Route::Page);
        // Browsers leave the port of HTTP out.
        let request = Request::builder().uri("/secret/").header(HOST, "localhost").body(()).unwrap();
        assert_eq!(route(&request, 80, "secret"), Route::Page);
    }

    #[test]
    fn refuses_other_names_methods_and_addresses() {
        for host in ["rebound.example:8080", "127.0.0.1", "127.0.0.1:81", "localhost", "[::1]:8080"] {
            assert_eq!(routed("GET", host, "/secret/"), Route::Refused(StatusCode::FORBIDDEN), "{host}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            let refused = Route::Refused(StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(routed(method, "127.0.0.1:8080", "/secret/"), refused, "{method}");
        }
        for path in ["/", "/secret", "/other/", "/secret/mark/", "/secret/../etc/passwd", "//secret/"] {
            assert_eq!(
                routed("GET", "127.0.0.1:8080", path),
                Route::Refused(StatusCode::NOT_FOUND),
                "{path}"
            );
        }
    }
}
