//! Compressed logs: gzip, Zstandard and zip archives, recognised by their first bytes.
//!
//! Sources: RFC 1952, section 2.3.1; RFC 8878, section 3.1.1; APPNOTE.TXT of PKWARE, section 4.3.7.

use std::borrow::Cow;
use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use zip::ZipArchive;

use super::error::InputError;
use super::file::InputFile;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ZIP: [u8; 4] = *b"PK\x03\x04";

/// Receiver of texts: gets the name of each, and its content or the reason why it cannot be read.
pub(crate) type TakeText<'t> = dyn FnMut(&str, Result<&mut dyn Read, InputError>) + 't;

/// Opens an input, and passes on its text, or each text of an archive. `counted` wraps the compressed bytes, and `bound` is
/// the number of bytes that the input may decompress to.
pub(crate) fn each_text<'p>(
    input: &InputFile,
    counted: impl FnOnce(Box<dyn Read>) -> Box<dyn Read + 'p>,
    bound: u64,
    take: &mut TakeText<'_>,
) -> Result<(), InputError> {
    let (start, from) = started(counted(input.open()?))?;
    if start.starts_with(&ZIP) {
        let path = input.path().ok_or(InputError::ZipOnStdin)?;
        return each_of_archive(path, &input.name, bound, take);
    }
    let mut left = bound;
    pass_on(&input.name, decompressed(&start, from, bound, &mut left), take);
    Ok(())
}

/// Passes on a stream, or the error of opening it.
fn pass_on(name: &str, text: io::Result<Box<dyn Read + '_>>, take: &mut TakeText<'_>) {
    match text {
        Ok(mut text) => take(name, Ok(&mut *text)),
        Err(error) => take(name, Err(error.into())),
    }
}

/// Passes on each file of a zip archive. Files in it may be compressed themselves. A file that cannot be read does not prevent
/// the others from being read.
fn each_of_archive(path: &Path, name: &str, bound: u64, take: &mut TakeText<'_>) -> Result<(), InputError> {
    let file = fs::File::open(path)?;
    let mut archive = ZipArchive::new(BufReader::new(file))?;
    let mut left = bound;
    for index in 0..archive.len() {
        let inside = archive.name_for_index(index).and_then(Result::ok).map(Cow::into_owned);
        let name = format!("{name}/{}", inside.unwrap_or_else(|| index.to_string()));
        let file = match archive.by_index(index) {
            Ok(file) if file.is_dir() => continue,
            Ok(file) => file,
            Err(error) => {
                take(&name, Err(error.into()));
                continue;
            }
        };
        let mut left_inside = bound;
        let text = started(Bounded { from: file, bound, left: &mut left })
            .and_then(|(start, from)| decompressed(&start, from, bound, &mut left_inside));
        pass_on(&name, text, take);
    }
    Ok(())
}

/// First bytes of a stream, and the whole stream.
fn started<'r>(mut from: impl Read + 'r) -> io::Result<(Vec<u8>, Box<dyn Read + 'r>)> {
    let mut start = Vec::new();
    from.by_ref().take(4).read_to_end(&mut start)?;
    let whole = io::Cursor::new(start.clone()).chain(from);
    Ok((start, Box::new(whole)))
}

/// The decompressed stream, which fails beyond the bound; a stream that is not compressed has none.
fn decompressed<'r>(
    start: &[u8],
    from: Box<dyn Read + 'r>,
    bound: u64,
    left: &'r mut u64,
) -> io::Result<Box<dyn Read + 'r>> {
    if start.starts_with(&GZIP) {
        return Ok(Box::new(Bounded { from: MultiGzDecoder::new(from), bound, left }));
    }
    if start.starts_with(&ZSTANDARD) {
        let frames = Frames { frame: Some(frame(from)?) };
        return Ok(Box::new(Bounded { from: frames, bound, left }));
    }
    Ok(from)
}

/// Zstandard frames one after another. A program that compresses on several cores writes several.
struct Frames<'r> {
    frame: Option<Frame<'r>>,
}

type Frame<'r> = StreamingDecoder<Box<dyn Read + 'r>, ruzstd::decoding::FrameDecoder>;

fn frame<'r>(from: Box<dyn Read + 'r>) -> io::Result<Frame<'r>> {
    StreamingDecoder::new(from).map_err(io::Error::other)
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(current) = &mut self.frame {
            let read = current.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(ended) = self.frame.take() else { break };
            let (start, from) = started(ended.into_inner())?;
            self.frame = if start.is_empty() { None } else { Some(frame(from)?) };
        }
        Ok(0)
    }
}

/// A stream that fails beyond a number of bytes.
struct Bounded<'l, R> {
    from: R,
    bound: u64,
    /// Bytes that may still come.
    left: &'l mut u64,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        let bytes = read as u64;
        if bytes > *self.left {
            let message = format!(
                "decompresses to more than {} bytes; raise the bound with --max-decompressed-bytes",
                self.bound
            );
            return Err(io::Error::other(message));
        }
        *self.left -= bytes;
        Ok(read)
    }
}
