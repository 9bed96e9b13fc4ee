//! A policy module and its instances, under a deadline.
//!
//! Source: kubewarden/kubewarden-controller `crates/policy-evaluator/src/runtimes/wapc/` (`stack_pre.rs`, `stack.rs`,
//! `runtime.rs`) and wasmtime-provider 2.19.0 `src/provider.rs`.

use core::fmt;
use std::{
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use wapc::WapcHost;
use wasmtime_provider::{
    EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre,
    wasmtime::{self, Config, Engine},
};

use crate::cluster::FakeCluster;

/// Default time after which policy-server interrupts a request.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// Interval of the deadline's clock. policy-server ticks once a second, so its deadline is anywhere between one and two
/// seconds; a shorter interval makes it exact.
const TICK: Duration = Duration::from_millis(10);

/// Text that marks an interruption, as in policy-evaluator: wasmtime-provider has no typed error for it.
const INTERRUPTED: &str = "guest code interrupted, execution deadline exceeded";

/// Start of wasmtime's message about a trap. policy-server does not distinguish a trap from an error that the policy
/// returned; tests do.
const TRAPPED: &str = "error while executing at wasm backtrace";

/// A compiled policy module. Every [`call`](Self::call) gets a new instance.
#[derive(Clone)]
pub struct PolicyModule {
    pre: WasmtimeEngineProviderPre,
    deadline: EpochDeadlines,
}

impl PolicyModule {
    /// Compiles a module, in binary or text form, with policy-server's deadline.
    pub fn load(bytes: &[u8]) -> Result<Self, CallFailure> {
        let engine = engine()?;
        let module = wasmtime::Module::new(engine, bytes)
            .map_err(|error| CallFailure::NotStarted(format!("the module does not compile: {error:?}")))?;
        let pre = WasmtimeEngineProviderBuilder::new()
            .engine(engine.clone())
            .module(module)
            .build_pre()
            .map_err(|error| CallFailure::NotStarted(format!("the module does not link: {error}")))?;
        Ok(Self { pre, deadline: ticks(DEADLINE) })
    }

    /// The same module with another deadline, rounded up to the next tick of ten milliseconds.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = ticks(deadline);
        self
    }

    /// Makes an instance, calls one operation (`validate`, `validate_settings`, `protocol_version`) and drops the instance,
    /// as policy-server does.
    pub fn call(
        &self,
        operation: &str,
        payload: &[u8],
        cluster: &FakeCluster,
    ) -> Result<Vec<u8>, CallFailure> {
        self.instance(cluster)?.call(operation, payload)
    }

    /// An instance for several calls. `kwctl bench` measures such an instance; policy-server never reuses one.
    pub fn instance(&self, cluster: &FakeCluster) -> Result<Instance, CallFailure> {
        let provider = self
            .pre
            .rehydrate(Some(self.deadline))
            .map_err(|error| CallFailure::NotStarted(error.to_string()))?;
        let cluster = cluster.clone();
        let answer: Box<wapc::HostCallback> = Box::new(move |_, binding, namespace, operation, payload| {
            cluster.answer(binding, namespace, operation, payload).map_err(Into::into)
        });
        WapcHost::new(Box::new(provider), Some(answer))
            .map(Instance)
            .map_err(|error| CallFailure::NotStarted(error.to_string()))
    }
}

impl fmt::Debug for PolicyModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyModule").finish_non_exhaustive()
    }
}

/// An instance of a module, after its `wapc_init`.
pub struct Instance(WapcHost);

impl Instance {
    /// Calls an operation. After a trap or an interruption the instance must not be used again.
    pub fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, CallFailure> {
        self.0.call(operation, payload).map_err(|error| {
            let text = error.to_string();
            match () {
                () if text.contains(INTERRUPTED) => CallFailure::Interrupted(text),
                () if text.contains(TRAPPED) => CallFailure::Trapped(text),
                () => CallFailure::Returned(text),
            }
        })
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

/// Reason why a call has no answer. Displays the waPC host's message unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The module cannot be compiled, linked or initialised.
    NotStarted(String),
    /// The deadline passed.
    Interrupted(String),
    /// The policy trapped: a panic, a stack overflow, an access out of bounds.
    Trapped(String),
    /// The policy returned an error, or has no such operation.
    Returned(String),
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotStarted(text) | Self::Interrupted(text) | Self::Trapped(text) | Self::Returned(text)) =
            self;
        f.write_str(text)
    }
}

impl core::error::Error for CallFailure {}

/// The engine of the process, with a thread that increments its epoch.
fn engine() -> Result<&'static Engine, CallFailure> {
    static ENGINE: OnceLock<Result<Engine, CallFailure>> = OnceLock::new();
    ENGINE.get_or_init(start_engine).as_ref().map_err(Clone::clone)
}

fn start_engine() -> Result<Engine, CallFailure> {
    let mut config = Config::default();
    config.wasm_function_references(true).epoch_interruption(true);
    let engine = Engine::new(&config)
        .map_err(|error| CallFailure::NotStarted(format!("no WebAssembly engine: {error:?}")))?;
    let ticked = Arc::new(engine.clone());
    thread::Builder::new()
        .name("epoch".to_owned())
        .spawn(move || {
            loop {
                thread::sleep(TICK);
                ticked.increment_epoch();
            }
        })
        .map_err(|error| CallFailure::NotStarted(format!("no thread for the deadline's clock: {error}")))?;
    Ok(engine)
}

fn ticks(deadline: Duration) -> EpochDeadlines {
    let ticks = deadline.as_nanos().div_ceil(TICK.as_nanos());
    let ticks = u64::try_from(ticks).unwrap_or(u64::MAX).max(1);
    EpochDeadlines { wapc_init: ticks, wapc_func: ticks }
}
