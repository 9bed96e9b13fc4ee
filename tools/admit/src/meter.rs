//! The cost of a request in instructions and memory, which is the same in every run.
//!
//! The host of [`module`](crate::module) measures time only. This one is smaller: it lets wasmtime count the instructions of
//! WebAssembly (its "fuel"), and reads the size of the memory, which never shrinks. Sources: the waPC protocol in
//! wasmtime-provider 2.19.0 `src/callbacks.rs`, and `Store::get_fuel` in the documentation of wasmtime.

use anyhow::anyhow;
use wasmtime_provider::wasmtime::{
    self, Caller, Config, Engine, Error, Extern, Linker, Memory, Store, bail, format_err,
};

use crate::cluster::FakeCluster;

/// Instructions after which a call ends with an error, far more than policy-server lets a request execute in its 2 s.
const FUEL: u64 = 100_000_000_000;

/// The answer of WASI for a file descriptor that is not open.
const BAD_DESCRIPTOR: i32 = 8;

/// A compiled policy module whose requests are counted.
pub struct Meter {
    engine: Engine,
    module: wasmtime::Module,
}

/// The answer to a request and its cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The answer of the policy.
    pub answer: Vec<u8>,
    /// The number of instructions that the module executed, from making the instance to the answer.
    pub instructions: u64,
    /// The memory of the instance at the end, in bytes. It is the largest size, because memory never shrinks.
    pub memory: usize,
}

/// The state of a call, as far as the module exchanges it with the host.
struct Call {
    operation: String,
    payload: Vec<u8>,
    cluster: FakeCluster,
    /// The answer of the cluster to the last host call.
    answered: Result<Vec<u8>, String>,
    /// The answer of the policy.
    answer: Result<Vec<u8>, String>,
}

impl Meter {
    /// Compiles a module. An error says why it does not compile.
    pub fn load(bytes: &[u8]) -> anyhow::Result<Self> {
        let mut config = Config::default();
        config.consume_fuel(true);
        let engine = Engine::new(&config).map_err(|error| anyhow!("no WebAssembly engine: {error:?}"))?;
        let module = wasmtime::Module::new(&engine, bytes)
            .map_err(|error| anyhow!("the module does not compile: {error:?}"))?;
        Ok(Self { engine, module })
    }

    /// Makes an instance and calls one operation. An error is the policy's, or says why the call failed.
    pub fn call(&self, operation: &str, payload: &[u8], cluster: &FakeCluster) -> anyhow::Result<Cost> {
        self.run(operation, payload, cluster).map_err(|error| anyhow!("{error:?}"))
    }

    fn run(&self, operation: &str, payload: &[u8], cluster: &FakeCluster) -> Result<Cost, Error> {
        let call = Call {
            operation: operation.to_owned(),
            payload: payload.to_vec(),
            cluster: cluster.clone(),
            answered: Ok(Vec::new()),
            answer: Ok(Vec::new()),
        };
        let lengths = (length(call.operation.len())?, length(call.payload.len())?);
        let mut store = Store::new(&self.engine, call);
        store.set_fuel(FUEL)?;
        let mut linker = Linker::new(&self.engine);
        link_guest(&mut linker)?;
        link_host(&mut linker)?;
        link_wasi(&mut linker)?;
        let instance = linker.instantiate(&mut store, &self.module)?;
        instance.get_typed_func::<(), ()>(&mut store, "wapc_init")?.call(&mut store, ())?;
        let guest = instance.get_typed_func::<(i32, i32), i32>(&mut store, "__guest_call")?;
        let succeeded = guest.call(&mut store, lengths)?;
        let instructions = FUEL - store.get_fuel()?;
        let memory = instance.get_memory(&mut store, "memory").map_or(0, |memory| memory.data_size(&store));
        match store.into_data().answer {
            Ok(answer) if succeeded == 1 => Ok(Cost { answer, instructions, memory }),
            Ok(_) => bail!("the policy failed without a message"),
            Err(message) => bail!("{message}"),
        }
    }
}

/// The functions with which the module reads its request and returns its answer.
fn link_guest(linker: &mut Linker<Call>) -> Result<(), Error> {
    linker.func_wrap(
        "wapc",
        "__guest_request",
        |mut caller: Caller<'_, Call>, operation: i32, payload: i32| {
            let (name, bytes) = (caller.data().operation.clone(), caller.data().payload.clone());
            write(&mut caller, operation, name.as_bytes())?;
            write(&mut caller, payload, &bytes)
        },
    )?;
    linker.func_wrap("wapc", "__guest_response", |mut caller: Caller<'_, Call>, at: i32, len: i32| {
        caller.data_mut().answer = Ok(read(&mut caller, at, len)?);
        Ok(())
    })?;
    linker.func_wrap("wapc", "__guest_error", |mut caller: Caller<'_, Call>, at: i32, len: i32| {
        let message = read(&mut caller, at, len)?;
        caller.data_mut().answer = Err(String::from_utf8_lossy(&message).into_owned());
        Ok(())
    })?;
    Ok(())
}

/// The functions with which the module asks the cluster.
fn link_host(linker: &mut Linker<Call>) -> Result<(), Error> {
    type Part = (i32, i32);
    let ask = |caller: &mut Caller<'_, Call>, parts: [Part; 4]| {
        let mut texts = Vec::new();
        for (at, len) in parts {
            texts.push(read(caller, at, len)?);
        }
        let [binding, namespace, operation, payload] = &texts[..] else { return Ok(0) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let call = caller.data_mut();
        let answer = call.cluster.answer(&text(binding), &text(namespace), &text(operation), payload);
        call.answered = answer.map_err(|error| error.to_string());
        Ok(i32::from(call.answered.is_ok()))
    };
    linker.func_wrap(
        "wapc",
        "__host_call",
        move |mut caller: Caller<'_, Call>,
              binding: i32,
              binding_len: i32,
              namespace: i32,
              namespace_len: i32,
              operation: i32,
              operation_len: i32,
              payload: i32,
              payload_len: i32| {
            let parts = [
                (binding, binding_len),
                (namespace, namespace_len),
                (operation, operation_len),
                (payload, payload_len),
            ];
            ask(&mut caller, parts)
        },
    )?;
    linker.func_wrap("wapc", "__host_response_len", |caller: Caller<'_, Call>| {
        length(caller.data().answered.as_ref().map_or(0, Vec::len))
    })?;
    linker.func_wrap("wapc", "__host_response", |mut caller: Caller<'_, Call>, at: i32| {
        let answer = caller.data().answered.clone().unwrap_or_default();
        write(&mut caller, at, &answer)
    })?;
    linker.func_wrap("wapc", "__host_error_len", |caller: Caller<'_, Call>| {
        length(caller.data().answered.as_ref().err().map_or(0, String::len))
    })?;
    linker.func_wrap("wapc", "__host_error", |mut caller: Caller<'_, Call>, at: i32| {
        let message = caller.data().answered.clone().err().unwrap_or_default();
        write(&mut caller, at, message.as_bytes())
    })?;
    Ok(())
}

/// The functions of WASI that the module imports: no environment, no files, and zeros as random bytes, so that each run is equal.
fn link_wasi(linker: &mut Linker<Call>) -> Result<(), Error> {
    const WASI: &str = "wasi_snapshot_preview1";
    linker.func_wrap(WASI, "random_get", |mut caller: Caller<'_, Call>, at: i32, len: i32| {
        let zeros = vec![0; usize::try_from(len)?];
        write(&mut caller, at, &zeros)?;
        Ok(0_i32)
    })?;
    linker.func_wrap(WASI, "environ_get", |_: i32, _: i32| 0_i32)?;
    linker.func_wrap(WASI, "environ_sizes_get", |mut caller: Caller<'_, Call>, count: i32, size: i32| {
        write(&mut caller, count, &[0; 4])?;
        write(&mut caller, size, &[0; 4])?;
        Ok(0_i32)
    })?;
    linker.func_wrap(WASI, "fd_write", |_: i32, _: i32, _: i32, _: i32| BAD_DESCRIPTOR)?;
    linker.func_wrap(WASI, "proc_exit", |code: i32| -> Result<(), Error> {
        Err(format_err!("the policy ended with status {code}"))
    })?;
    Ok(())
}

fn memory_of(caller: &mut Caller<'_, Call>) -> Result<Memory, Error> {
    let exported = caller.get_export("memory").and_then(Extern::into_memory);
    exported.ok_or_else(|| format_err!("the module exports no memory"))
}

fn read(caller: &mut Caller<'_, Call>, at: i32, len: i32) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; usize::try_from(len)?];
    memory_of(caller)?.read(caller, usize::try_from(at)?, &mut bytes)?;
    Ok(bytes)
}

fn write(caller: &mut Caller<'_, Call>, at: i32, bytes: &[u8]) -> Result<(), Error> {
    Ok(memory_of(caller)?.write(caller, usize::try_from(at)?, bytes)?)
}

fn length(len: usize) -> Result<i32, Error> {
    Ok(i32::try_from(len)?)
}
