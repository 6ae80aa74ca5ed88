//! `formulanet serve`: ranking over HTTP, and a web page.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use formulanet::logic::Limits;
use formulanet::net::Precision;
use formulanet::read::read_text;
use formulanet_server::{Server, Settings};

use crate::input::counted;
use crate::output::shown;
use crate::project;

/// Serve premise selection over HTTP, with a web page
///
/// The page is at /, and /openapi.json describes every path. Ctrl-C stops the server after the requests in progress.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet serve\n  \
    formulanet serve --library arithmetic.db --library reals.db --listen 127.0.0.1:9000\n  \
    formulanet serve --library reals.db --writable --token-file token.txt\n  \
    formulanet serve --lean-index lean.jsonl\n  \
    curl -s localhost:8017/v1/rank -H 'content-type: application/json' \\\n       \
    -d '{\"conjecture\": \"!m n. m + n = n + m\", \"premises\": \"ADD_0: !m. m + 0 = m\"}'")]
pub(crate) struct Arguments {
    /// Listen on this address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value_t = Settings::default().listen)]
    listen: SocketAddr,
    /// Serve this library, named after its file; may be repeated [default: those that `formulanet.toml` names]
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// Model file, or name of a built-in model, for the statements of requests [default: chosen by the statements' language]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Also serve Lean's premise-selection protocol: /max-new-premises, /indexed-modules, /indexed-premises and /retrieve
    #[arg(long)]
    lean: bool,
    /// Load Lean declarations from this file of JSON Lines with `module`, `name` and `decl`, plain or compressed; implies --lean
    #[arg(long, value_name = "FILE")]
    lean_index: Option<PathBuf>,
    /// Precision of matrix products; auto uses bf16 if the CPU supports it
    #[arg(long, value_name = "auto|f32|bf16", default_value = "auto", value_parser = super::train::parse_word::<Precision>)]
    precision: Precision,
    /// Allow requests with the token to add statements and proofs to the libraries
    #[arg(long, requires = "token_file")]
    writable: bool,
    /// File with the token, of at least 16 characters, which requests send as `authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "writable")]
    token_file: Option<String>,
    /// Allow cross-origin requests (CORS) from this origin, such as https://example.org; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// Check the health of the server at this address instead of starting one
    #[arg(long, value_name = "ADDRESS", exclusive = true)]
    check: Option<SocketAddr>,
    #[command(flatten)]
    limits: ServerLimits,
}

/// Limits of the server.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct ServerLimits {
    /// Accept bodies of at most N bytes
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_body)]
    max_body: usize,
    /// Answer a request within SECONDS of its first line
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::default().timeout.as_secs_f64(), value_parser = seconds)]
    timeout: f64,
    /// Compute N requests at once
    #[arg(long, value_name = "N", default_value_t = Settings::default().workers)]
    workers: usize,
    /// Let N requests wait; refuse more with 429
    #[arg(long, value_name = "N", default_value_t = Settings::default().queue)]
    queue: usize,
    /// Keep N connections open at once; more wait
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_connections)]
    max_connections: usize,
    /// Accept at most N statements in a request
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_premises)]
    max_premises: usize,
    /// Read at most N bytes of a formula or line
    #[arg(long, value_name = "N", default_value_t = Settings::default().limits.bytes)]
    max_bytes: usize,
    /// Read at most N nested brackets and binders
    #[arg(long, value_name = "N", default_value_t = Settings::default().limits.depth)]
    max_depth: usize,
    /// Accept at most N nodes in a formula
    #[arg(long, value_name = "N", default_value_t = Settings::default().limits.nodes)]
    max_nodes: usize,
    /// Accept at most N treelets in a graph
    #[arg(long, value_name = "N", default_value_t = Settings::default().limits.treelets)]
    max_treelets: u64,
}

/// Parses an origin: scheme, host and an optional port, without a path.
fn origin(text: &str) -> Result<String, String> {
    let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_host = |host: &str| {
        !host.is_empty() && host.bytes().all(|b| b.is_ascii_graphic() && !b"/?#@*\\".contains(&b))
    };
    match host {
        Some(host) if is_host(host) => Ok(text.to_ascii_lowercase()),
        _ => Err("expected a site such as https://example.org, without a path".to_owned()),
    }
}

/// Reads the token for writes.
fn token(file: &str) -> Result<String> {
    let token = read_text(file, 4096)?.trim().to_owned();
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    if token.len() < 16 || !is_plain {
        bail!(
            "{file}: expected a token of at least 16 characters without spaces, found {}; make one with `openssl rand -hex 32`",
            if is_plain { format!("{}", token.len()) } else { "others".to_owned() }
        );
    }
    Ok(token)
}

/// A time that is long enough to answer in, and that clocks can add.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.01 to 86400".to_owned()),
    }
}

/// Checks the health of a server, for containers without another program.
fn check(address: SocketAddr) -> Result<()> {
    let patience = Duration::from_secs(2);
    let ask = || -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        write!(stream, "GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(1 << 12).read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().with_context(|| format!("no answer from {address}"))?;
    match answer.starts_with("HTTP/1.1 200 ") {
        true => Ok(()),
        false => bail!("{address} is not healthy: {}", shown(answer.lines().next().unwrap_or_default())),
    }
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if let Some(address) = arguments.check {
        return check(address);
    }
    let limits = arguments.limits;
    let server = Server::new(Settings {
        listen: arguments.listen,
        libraries: if arguments.library.is_empty() { project::libraries()? } else { arguments.library },
        model: arguments.model,
        lean: arguments.lean,
        lean_index: arguments.lean_index,
        precision: arguments.precision,
        max_body: limits.max_body,
        max_premises: limits.max_premises,
        timeout: Duration::from_secs_f64(limits.timeout),
        workers: limits.workers,
        queue: limits.queue,
        max_connections: limits.max_connections,
        limits: Limits {
            bytes: limits.max_bytes,
            depth: limits.max_depth,
            nodes: limits.max_nodes,
            treelets: limits.max_treelets,
        },
        token: arguments.token_file.as_deref().map(token).transpose()?,
        origins: arguments.allow_origin,
    })?;
    for (name, statements) in server.libraries() {
        tell!("library {name}: {}", counted(statements, "statement"));
    }
    if let Some(lean) = server.lean() {
        let (declarations, modules) =
            (counted(lean.declarations, "declaration"), counted(lean.modules, "module"));
        tell!("lean: {declarations} of {modules}");
        if let Some(first) = lean.first_skipped {
            tell!(
                "lean: {} left out, which cannot be read; the first: {first}",
                counted(lean.skipped, "declaration")
            );
        }
    }
    if !server.address().ip().is_loopback() {
        tell!(
            "warning: listening on a public address; queries are not authenticated, only changes need the token"
        );
    }
    tell!("listening on http://{}", server.address());
    server.run_until_signal()?;
    Ok(())
}
