//! The module's memory: handed out piece by piece, taken back as a whole.
//!
//! A request is answered within a millisecond by an instance that was made for it and is dropped then: policy-server
//! makes a fresh one for each (kubewarden/kubewarden-controller, `crates/policy-evaluator/src/runtimes/wapc/`). To keep
//! account of what is free in between, and to give back every string where it ends, would be a twenty-fifth of the
//! module, for nothing. So what is given back is left where it is until the next request: hosts that keep an instance
//! (`kwctl bench`) send many, and [`Heap::next_request`] hands the same memory out again.

#![expect(unsafe_code, reason = "memory is handed out as addresses")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::Cell;
use core::ptr;

const PAGE: usize = 64 * 1024;

/// The memory, as addresses. What is free lies in one stretch or two: from `next` to `end`, and from `later` to the
/// memory's own end, unless `later` is 0.
pub(crate) struct Heap {
    next: Cell<usize>,
    end: Cell<usize>,
    later: Cell<usize>,
    /// Where the memory of requests starts, behind what lives as long as the instance.
    start: Cell<usize>,
}

// SAFETY: the module has one thread, and no function below calls out of this file.
unsafe impl Sync for Heap {}

#[global_allocator]
pub(crate) static HEAP: Heap =
    Heap { next: Cell::new(0), end: Cell::new(0), later: Cell::new(0), start: Cell::new(0) };

impl Heap {
    /// All that was handed out up to here stays.
    pub(crate) fn keep(&self) {
        self.start.set(self.next.get());
    }

    /// Hands the memory of earlier requests out again: what lies before this request's payload, and what lies behind
    /// the last piece.
    ///
    /// That holds because a request leaves nothing behind: neither this crate nor the engine has a static with anything
    /// on the heap, and `__guest_call` of wapc-guest 1.2 takes the payload's buffer first, that of the operation's name
    /// second, and nothing more before it calls the handler.
    pub(crate) fn next_request(&self, payload: &[u8]) {
        let held = payload.as_ptr() as usize;
        if held > self.start.get() && !payload.is_empty() {
            self.later.set(self.next.get());
            self.next.set(self.start.get());
            self.end.set(held);
        }
    }

    /// Finds room for what does not fit between `next` and `end`.
    #[cold]
    #[inline(never)]
    fn move_on(&self, size: usize) -> Option<()> {
        let later = self.later.replace(0);
        let memory = memory_size(0) * PAGE;
        if later != 0 {
            self.next.set(later);
            self.end.set(memory);
            return Some(());
        }
        let pages = size.checked_add(PAGE)? / PAGE;
        if memory_grow(0, pages) == usize::MAX {
            return None;
        }
        if self.end.get() != memory {
            self.next.set(memory);
        }
        self.end.set(memory + pages * PAGE);
        Some(())
    }

    #[inline(never)]
    fn piece(&self, size: usize, align: usize) -> *mut u8 {
        loop {
            let start = self.next.get().next_multiple_of(align);
            if let Some(next) = start.checked_add(size).filter(|next| *next <= self.end.get()) {
                self.next.set(next);
                return ptr::with_exposed_provenance_mut(start);
            }
            if self.move_on(size.saturating_add(align)).is_none() {
                return ptr::null_mut();
            }
        }
    }
}

// SAFETY: pieces are aligned, do not overlap, and lie in memory that nothing else hands out.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.piece(layout.size(), layout.align())
    }

    #[inline(always)]
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}

    #[inline(never)]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = old.addr();
        // The last piece can grow where it is.
        if start + layout.size() == self.next.get() && size <= self.end.get() - start {
            self.next.set(start + size);
            return old;
        }
        let new = self.piece(size, layout.align());
        if !new.is_null() {
            // SAFETY: both pieces are at least that long, and a new piece overlaps no old one.
            unsafe { ptr::copy_nonoverlapping(old, new, layout.size().min(size)) };
        }
        new
    }
}

/// The C library below the standard library takes its memory here as well, instead of bringing a heap of its own; it does
/// so for the environment's variables, where a panic asks for one.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut u8 {
    HEAP.piece(size, 16)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut u8 {
    let Some(size) = count.checked_mul(size) else { return ptr::null_mut() };
    let piece = HEAP.piece(size, 16);
    if !piece.is_null() {
        // SAFETY: the piece is that long. It may have been somebody else's before.
        unsafe { ptr::write_bytes(piece, 0, size) };
    }
    piece
}

#[unsafe(no_mangle)]
extern "C" fn free(_: *mut u8) {}
