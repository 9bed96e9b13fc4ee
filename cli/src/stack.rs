//! Threads with a stack for deeply nested input.

use std::io;

/// Stack of the threads that parse and check. The largest value of `--max-depth` needs this much.
#[cfg(not(target_os = "wasi"))]
const STACK: usize = 64 << 20;

/// Runs a function on a thread for each core.
pub(crate) fn on_all_cores<T: Send>(run: impl FnOnce() -> T + Send) -> io::Result<T> {
    on_threads(0, run)
}

/// Runs a function on one thread.
pub(crate) fn on_one_core<T: Send>(run: impl FnOnce() -> T + Send) -> io::Result<T> {
    on_threads(1, run)
}

#[cfg(not(target_os = "wasi"))]
fn on_threads<T: Send>(number: usize, run: impl FnOnce() -> T + Send) -> io::Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number).stack_size(STACK).build();
    Ok(pool.map_err(io::Error::other)?.install(run))
}

/// WebAssembly has one thread, whose stack the linker and the host determine.
#[cfg(target_os = "wasi")]
#[expect(clippy::unnecessary_wraps, reason = "other systems can refuse a thread")]
fn on_threads<T: Send>(_: usize, run: impl FnOnce() -> T + Send) -> io::Result<T> {
    Ok(run())
}
