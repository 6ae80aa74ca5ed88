//! `formulanet mcp`: a Model Context Protocol server on standard input and output.

mod answers;
mod requests;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use formulanet::{Cancel, Engine, Error};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    Implementation, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::input::ComputeArguments;
use crate::processes::group;
use crate::project;
use crate::serve::seconds;
use crate::usage::wrong;
use answers::Libraries;
use requests::{Add, Explain, Learn, Prove, Rank, Search, Select};

/// Serve libraries to coding agents (Model Context Protocol)
///
/// Clients such as Claude Code, Cursor and VS Code start it and call its tools, which rank premises, select axioms, prove, search
/// and explain. Libraries are named after their files; no other file is opened. Changes by other programs are seen by the next
/// call.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet mcp --library lemmas.db\n  \
    formulanet mcp --library lemmas.db --library sets.db --writable")]
pub(crate) struct Arguments {
    /// Serve this library [default: those that `formulanet.toml` names]
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// Allow tools to add statements and proofs to the libraries
    #[arg(long)]
    writable: bool,
    /// Stop a tool after SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    timeout: f64,
    #[command(flatten)]
    compute: ComputeArguments,
}

/// Tools that change a library.
const WRITING: [&str; 2] = ["add_statements", "learn_proof"];

/// The server; clones share everything.
#[derive(Clone)]
struct Server {
    libraries: Arc<Libraries>,
    is_writable: bool,
    timeout: Duration,
    /// One permit for each tool that computes at the same time.
    permits: Arc<Semaphore>,
    /// Whether the client has gone.
    is_closed: Arc<AtomicBool>,
    tools: ToolRouter<Self>,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let Arguments { library, writable, timeout, compute } = arguments;
    let library = if library.is_empty() { project::libraries()? } else { library };
    if library.is_empty() {
        return Err(wrong("say what to serve: --library FILE, or name libraries in `formulanet.toml`"));
    }
    let engine =
        Engine::builder().precision(compute.precision).threads(compute.threads()).group(group()).build()?;
    let mut tools = Server::tool_router();
    if !writable {
        WRITING.iter().for_each(|tool| tools.remove_route(tool));
    }
    let server = Server {
        libraries: Arc::new(Libraries::open(engine, &library)?),
        is_writable: writable,
        timeout: Duration::from_secs_f64(timeout),
        permits: Arc::new(Semaphore::new(compute.threads())),
        is_closed: Arc::default(),
        tools,
    };
    let is_closed = Arc::clone(&server.is_closed);
    // A change of a library is written whole or not at all, and provers end with this process.
    ctrlc::set_handler(|| std::process::exit(130))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match server.serve(rmcp::transport::stdio_pipes()).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(anyhow::Error::from),
            // The client went before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    });
    is_closed.store(true, Ordering::Relaxed);
    // A tool that still computes stops within milliseconds, and a prover with it.
    runtime.shutdown_timeout(Duration::from_secs(2));
    ended
}

impl Server {
    /// Answers on a thread of its own, until the client cancels the call or its time is over.
    async fn answer(
        &self,
        context: RequestContext<RoleServer>,
        work: impl FnOnce(&Libraries, &Cancel) -> Result<String> + Send + 'static,
    ) -> Result<String, String> {
        let until = Instant::now() + self.timeout;
        let late = || {
            format!(
                "the call took longer than {} s; ask for less, or raise --timeout",
                self.timeout.as_secs_f64()
            )
        };
        let permit =
            timeout_at(until.into(), Arc::clone(&self.permits).acquire_owned()).await.map_err(|_| late())?;
        let (called_off, is_closed) = (context.ct, Arc::clone(&self.is_closed));
        let cancel = Cancel::when(move || {
            called_off.is_cancelled() || is_closed.load(Ordering::Relaxed) || Instant::now() >= until
        });
        let libraries = Arc::clone(&self.libraries);
        let computed = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            cancel.check()?;
            work(&libraries, &cancel)
        });
        match computed.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if matches!(error.downcast_ref(), Some(Error::Interrupted)) => Err(late()),
            Ok(Err(error)) => Err(format!("{error:#}")),
            Err(_) => Err("the call failed, which is a fault of formulanet".to_owned()),
        }
    }
}

#[tool_router]
impl Server {
    /// Rank the statements of a library by how useful they are for proving a goal. Returns one JSON object per line, the most
    /// useful premise first: `name` is exact, long statements are cut (`explain` has them in full)
    #[tool(annotations(read_only_hint = true))]
    async fn rank_premises(
        &self,
        request: Parameters<Rank>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, cancel| libraries.rank(request.0, cancel)).await
    }

    /// Keep the axioms of a TPTP problem, or of a TPTP library, that are most useful for its conjecture. Returns a problem that a
    /// prover reads as it is
    #[tool(annotations(read_only_hint = true))]
    async fn select_axioms(
        &self,
        request: Parameters<Select>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, cancel| libraries.select(request.0, cancel)).await
    }

    /// Prove a TPTP problem, or a formula or statement of a TPTP library, with the automatic provers of this machine. Returns
    /// `status` (SZS) and the `premises` of the proof
    #[tool(annotations(read_only_hint = true))]
    async fn prove(
        &self,
        request: Parameters<Prove>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, cancel| libraries.prove(request.0, cancel)).await
    }

    /// Find statements of a library by part of a name, by a pattern of names, or by a similar formula
    #[tool(annotations(read_only_hint = true))]
    async fn search_library(
        &self,
        request: Parameters<Search>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, cancel| libraries.search(request.0, cancel)).await
    }

    /// Explain why premises are useful for a goal: symbols in common, proofs that used them, and their statements in full
    #[tool(annotations(read_only_hint = true))]
    async fn explain(
        &self,
        request: Parameters<Explain>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, cancel| libraries.explain(request.0, cancel)).await
    }

    /// Add statements to a library; one with the name of a stored statement replaces it
    #[tool(annotations(read_only_hint = false, destructive_hint = true, idempotent_hint = true))]
    async fn add_statements(
        &self,
        request: Parameters<Add>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, _| libraries.add(request.0)).await
    }

    /// Record which premises a proof of a stored statement used. Later rankings use it at once
    #[tool(annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = true))]
    async fn learn_proof(
        &self,
        request: Parameters<Learn>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        self.answer(context, |libraries, _| libraries.learn(request.0)).await
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let about = Implementation::new("formulanet", env!("CARGO_PKG_VERSION"));
        let libraries = self.libraries.describe();
        let instructions = format!(
            "Premise selection for theorem provers. Libraries: {libraries}. Write formulas in the language of the library. \
             Call rank_premises with the goal to prove, then use the names that it returns exactly as they are written."
        );
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(instructions)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |name: &str| {
            let resource = Resource::new(format!("formulanet://library/{name}"), name);
            resource
                .with_description("Number of statements and proofs, language and model")
                .with_mime_type("application/json")
        };
        Ok(ListResourcesResult::with_all_items(self.libraries.names().map(resource).collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let name = request.uri.strip_prefix("formulanet://library/").unwrap_or(&request.uri).to_owned();
        let is_writable = self.is_writable;
        let found = self.answer(context, move |libraries, _| libraries.statistics(&name, is_writable)).await;
        let text = found.map_err(|message| ErrorData::resource_not_found(message, None))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
