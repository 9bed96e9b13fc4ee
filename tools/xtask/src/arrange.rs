//! `cargo xtask arrange`: a module whose functions stand in an order that compresses well.
//!
//! A compiler writes functions in the order in which it meets them. `gzip` and its like find what repeats within a window
//! of 32 KiB only, and the functions that look alike (the checks of two rules, a generic function made for two types) lie
//! further apart than that. Next to each other, a policy takes a twenty-fifth less on its way from a registry. Nothing
//! else of the module changes: every function has another number, and every mention of it with it.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions are checked with the module; a build step may stop"
)]

use std::collections::{BTreeSet, HashMap, VecDeque};

use wasm_encoder::{
    CodeSection, FunctionSection,
    reencode::{Error, Reencode},
};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef,
    Validator,
};

/// How far back a compressor looks, less what the functions' own repetitions push out.
const WINDOW: usize = 30_000;

/// What more functions than this have in common tells nothing: they are found at any place.
const COMMON: usize = 40;

/// Weighs the bytes that functions share against their length, so that short ones do not all come first.
const START_UP: f64 = 400.0;

/// Writes a module anew with its functions in another order.
pub(crate) fn arrange(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let invalid = |error: wasmparser::BinaryReaderError| format!("not a WebAssembly module: {error}");
    Validator::new().validate_all(bytes).map_err(invalid)?;
    let mut imported = 0;
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(invalid)? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    imported += u32::from(matches!(import.map_err(invalid)?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
            _ => {}
        }
    }
    let order = order(&bodies);
    let mut arranged = Arranged { imported, places: places(&order), order };
    let mut module = wasm_encoder::Module::new();
    arranged
        .parse_core_module(&mut module, Parser::new(0), bytes)
        .map_err(|error| format!("the module cannot be written anew: {error}"))?;
    let module = module.finish();
    Validator::new()
        .validate_all(&module)
        .map_err(|error| format!("the arranged module is not valid: {error}"))?;
    Ok(module)
}

/// The functions in an order in which each one is followed by one that shares much with those before it.
fn order(bodies: &[&[u8]]) -> Vec<usize> {
    let pieces = pieces(bodies);
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (function, pieces) in pieces.iter().enumerate() {
        for piece in pieces {
            holders.entry(*piece).or_default().push(function);
        }
    }
    // For each function: how many of its pieces the window has.
    let mut shared = vec![0_usize; bodies.len()];
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut window = VecDeque::new();
    let mut length = 0;
    let mut left: BTreeSet<usize> = (0..bodies.len()).collect();
    let mut order = Vec::with_capacity(bodies.len());
    let mut next = left.pop_first();
    while let Some(function) = next {
        order.push(function);
        window.push_back(function);
        length += bodies[function].len();
        for piece in &pieces[function] {
            let count = seen.entry(*piece).or_default();
            *count += 1;
            if *count == 1 {
                holders[piece].iter().for_each(|holder| shared[*holder] += 1);
            }
        }
        while length > WINDOW && window.len() > 1 {
            let Some(gone) = window.pop_front() else { break };
            length -= bodies[gone].len();
            for piece in &pieces[gone] {
                let count = seen.entry(*piece).or_default();
                *count -= 1;
                if *count == 0 {
                    holders[piece].iter().for_each(|holder| shared[*holder] -= 1);
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "functions are no larger than 2^52 bytes")]
        let worth = |function: &usize| shared[*function] as f64 / (bodies[*function].len() as f64 + START_UP);
        // Of equals the first, as the compiler had them.
        next = left.iter().rev().copied().max_by(|one, other| worth(one).total_cmp(&worth(other)));
        next.inspect(|next| _ = left.remove(next));
    }
    order
}

/// For each function the runs of eight bytes that some others have too.
fn pieces(bodies: &[&[u8]]) -> Vec<Vec<u64>> {
    let runs = |body: &&[u8]| -> BTreeSet<u64> {
        body.array_windows().map(|run: &[u8; 8]| u64::from_le_bytes(*run)).collect()
    };
    let all: Vec<_> = bodies.iter().map(runs).collect();
    let mut holders: HashMap<u64, usize> = HashMap::new();
    for piece in all.iter().flatten() {
        *holders.entry(*piece).or_default() += 1;
    }
    let telling = |piece: &u64| (2..=COMMON).contains(&holders[piece]);
    all.into_iter().map(|pieces| pieces.into_iter().filter(telling).collect()).collect()
}

/// Where each function comes to stand.
fn places(order: &[usize]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, function) in (0..).zip(order) {
        places[*function] = place;
    }
    places
}

struct Arranged {
    /// How many functions are imported; they keep their numbers, which come first.
    imported: u32,
    order: Vec<usize>,
    places: Vec<u32>,
}

impl Reencode for Arranged {
    type Error = core::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        let own = function.checked_sub(self.imported);
        Ok(own.map_or(function, |own| self.imported + self.places[own as usize]))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for function in &self.order {
            functions.function(types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error> {
        let bodies = section.into_iter().collect::<Result<Vec<FunctionBody<'_>>, _>>()?;
        for function in self.order.clone() {
            self.parse_function_body(code, bodies[function].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut wasm_encoder::Module,
        section: CustomSectionReader<'_>,
    ) -> Result<(), Error> {
        // Names are listed by number. A release has none.
        if section.name() != "name" {
            wasm_encoder::reencode::utils::parse_custom_section(self, module, section)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::fmt::Write as _;

    use super::*;

    /// Three kinds of functions in turns, each telling its number; called, in a table, exported and started with.
    fn module() -> Vec<u8> {
        let mut text = r#"(module
            (import "wapc" "__console_log" (func $log (param i32 i32)))
            (import "wapc" "__guest_request" (func $request (param i32 i32)))
            (memory (export "memory") 1)
            (global $at (mut i32) (i32.const 0))
            (table 300 funcref)
            (elem (i32.const 0) $f0 $f1 $f2 $f3 $log)
            (func $begin (call $f7) (drop) (call $log (i32.const 1) (i32.const 2)))
            (start $begin)"#
            .to_owned();
        for number in 0..300 {
            let like = match number % 3 {
                0 => {
                    "(local i64) i64.const 81985529216486895 local.set 0 local.get 0 i64.popcnt i32.wrap_i64"
                }
                1 => {
                    "global.get $at i32.const 305419896 i32.xor global.set $at i32.const 77 i32.load offset=4660"
                }
                _ => "i32.const 1 i32.const 2 i32.const 3 i32.mul i32.add i32.const 19088743 i32.rotl",
            };
            let next = (number * 7 + 1) % 300;
            let function = format!(
                "(func $f{number} (export \"f{number}\") (result i32) {like} i32.const {number} i32.add
                    (if (result i32) (i32.const {}) (then (call $f{next})) (else (i32.const 0))) i32.add)",
                number + 1000,
            );
            text += &function;
        }
        wat::parse_str(text + ")").unwrap()
    }

    /// The exported functions by name, each as its locals and instructions, with the name of what it calls.
    fn functions(bytes: &[u8]) -> Vec<(String, String)> {
        let (mut exports, mut bodies, mut table) = (HashMap::new(), Vec::new(), String::new());
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.unwrap() {
                Payload::ExportSection(section) => {
                    for export in section.into_iter().map(Result::unwrap) {
                        if export.kind == wasmparser::ExternalKind::Func {
                            exports.insert(export.index, export.name.to_owned());
                        }
                    }
                }
                Payload::ElementSection(section) => {
                    let wasmparser::ElementItems::Functions(items) =
                        section.into_iter().next().unwrap().unwrap().items
                    else {
                        panic!("the table holds functions")
                    };
                    let name = |index: u32| exports.get(&index).cloned().unwrap_or_else(|| index.to_string());
                    table = items.into_iter().map(|index| name(index.unwrap()) + " ").collect();
                }
                Payload::CodeSectionEntry(body) => bodies.push(body),
                _ => {}
            }
        }
        let mut functions = vec![("the table".to_owned(), table)];
        for (index, body) in (2_u32..).zip(&bodies) {
            let mut text = format!("{:?}", body.get_locals_reader().unwrap().into_iter().collect::<Vec<_>>());
            for operator in body.get_operators_reader().unwrap().into_iter().map(Result::unwrap) {
                match operator {
                    wasmparser::Operator::Call { function_index }
                        if exports.contains_key(&function_index) =>
                    {
                        text += &exports[&function_index];
                    }
                    other => write!(text, "{other:?} ").unwrap(),
                }
            }
            // The one that is not exported is the one that the module starts with.
            functions.push((exports.get(&index).cloned().unwrap_or_default(), text));
        }
        functions.sort();
        functions
    }

    #[test]
    fn every_function_keeps_its_name_its_code_and_whom_it_calls() {
        let built = module();
        let arranged = arrange(&built).unwrap();
        assert_ne!(built, arranged);
        let before = functions(&built);
        assert_eq!(before.len(), 302);
        assert_eq!(before, functions(&arranged));
        // The start function is the only one that calls an import.
        assert_eq!(started(&built), started(&arranged));
    }

    /// What the module's start function looks like.
    fn started(bytes: &[u8]) -> Vec<u8> {
        let (mut start, mut bodies) = (0, Vec::new());
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.unwrap() {
                Payload::StartSection { func, .. } => start = func as usize - 2,
                Payload::CodeSectionEntry(body) => bodies.push(body),
                _ => {}
            }
        }
        // Its first instruction calls a function whose number changes.
        let mut operators = bodies[start].get_operators_reader().unwrap();
        operators.read().unwrap();
        let rest = operators.original_position() - bodies[start].range().start;
        bodies[start].as_bytes()[rest..].to_vec()
    }

    #[test]
    fn what_looks_alike_comes_to_lie_together() {
        let bodies: Vec<Vec<u8>> = (0_u8..30)
            .map(|number| {
                [
                    vec![number % 3; 4],
                    b"one of three kinds "[..].to_vec(),
                    vec![number % 3 + 10; 40],
                    vec![number],
                ]
                .concat()
            })
            .collect();
        let bodies: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
        let kinds: Vec<usize> = order(&bodies).into_iter().map(|function| function % 3).collect();
        let changes = kinds.array_windows().filter(|[one, other]| one != other).count();
        assert_eq!(changes, 2, "{kinds:?}");
    }

    #[test]
    fn the_same_module_is_arranged_in_the_same_way() {
        assert_eq!(arrange(&module()), arrange(&module()));
        let error = arrange(b"no module").unwrap_err();
        assert!(error.starts_with("not a WebAssembly module: "), "{error}");
    }
}
