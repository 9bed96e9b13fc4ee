//! Kinds of lines, recognised by their form.

use crate::entry::Time;

/// Length in bytes of the longest log line; longer lines are skipped. A container runtime cuts lines at 16 KiB.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

/// Whether a JSON value over several lines starts here, or an object of the API on one line.
pub(super) fn starts_json(bare: &str) -> bool {
    bare.trim() == "{" || is_object_start(bare.as_bytes())
}

/// Whether a JSON object over several lines may start here, with its first members on the same line. A log line may be cut off
/// at such a place too.
pub(super) fn may_open_json(bare: &str) -> bool {
    bare.trim_end().ends_with([',', '{', '['])
        && may_be_object(bare.as_bytes())
        && brackets(bare, 0).is_ok_and(|depth| depth > 0)
}

/// First keys of lines that a logger writes.
const OF_LOGS: [&[u8]; 8] = [
    b"\"level\"",
    b"\"time\"",
    b"\"ts\"",
    b"\"timestamp\"",
    b"\"@timestamp\"",
    b"\"log\"",
    b"\"severity\"",
    b"\"logger\"",
];

/// Whether the start of a line allows an object of the API. A line of the controller's log starts with another key.
pub(super) fn may_be_object(start: &[u8]) -> bool {
    let Some(rest) = start.trim_ascii_start().strip_prefix(b"{") else { return false };
    let rest = rest.trim_ascii_start();
    !OF_LOGS.iter().any(|key| rest.starts_with(key))
}

/// Whether a line starts like an object of the API, a list or a policy, whatever the order of its keys. A line of the controller's
/// log is not searched.
pub(super) fn is_object_start(line: &[u8]) -> bool {
    const FIRST: [&[u8]; 6] =
        [b"\"apiVersion\"", b"\"kind\"", b"\"items\"", b"\"metadata\"", b"\"Version\"", b"\"Statement\""];
    /// Members that make an object, and the one of them by which a line is searched first.
    const MEMBERS: [(&[u8], &[&str]); 2] =
        [(b"\"apiVersion\"", &["apiVersion", "kind"]), (b"\"Statement\"", &["Version", "Statement"])];
    if !may_be_object(line) {
        return false;
    }
    let line = line.trim_ascii_start();
    let rest = line.get(1..).unwrap_or_default().trim_ascii_start();
    if FIRST.iter().any(|key| rest.starts_with(key)) {
        return true;
    }
    MEMBERS.iter().any(|(word, members)| {
        memchr::memmem::find(rest, word).is_some() && {
            // The line may be cut within a character.
            let text = line.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
            has_members(text, members)
        }
    })
}

/// Whether the object at the start of a text has some members itself, and not only an object within it. If the text ends early, one
/// of them is enough: the others may follow.
fn has_members(text: &str, members: &[&str]) -> bool {
    let mut open: Vec<&str> = members.to_vec();
    let is_cut = crate::log::each_key(text, &mut |key| {
        open.retain(|member| *member != key);
        !open.is_empty()
    });
    open.is_empty() || (is_cut && open.len() < members.len())
}

/// `---`, alone or before a comment.
pub(super) fn is_separator(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// `key:` with a value after it or below it.
pub(super) fn is_key(line: &str) -> bool {
    let Some((key, rest)) = line.split_once(':') else { return false };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./<".contains(&byte);
    !key.is_empty() && key.bytes().all(plain) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Keys with which a document starts if it starts with a usual key.
const FIELDS: [&str; 6] = ["apiVersion", "kind", "metadata", "items", "spec", "status"];

/// `apiVersion:` or another key that every object of the API may have.
pub(super) fn is_field(line: &str) -> bool {
    let key = line.split_once(':').map_or(line, |(key, _)| key);
    FIELDS.contains(&key) && is_key(line)
}

/// Whether a line may be the first one of an object of the API, such as `allowVolumeExpansion: true`. A field of an object starts in
/// lower case, and a word of a description in upper case.
pub(super) fn may_be_field(line: &str) -> bool {
    let is_plain = |key: &str| {
        key.starts_with(|first: char| first.is_ascii_lowercase())
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    is_key(line) && line.split_once(':').is_some_and(|(key, _)| is_plain(key))
}

/// The first line of `kubectl describe`, or the header of a table of events.
pub(super) fn is_described(line: &str) -> bool {
    line.starts_with("Name:   ")
        || (line.contains(" TYPE ") && line.contains(" REASON ") && line.contains(" MESSAGE"))
}

/// Whether a line that starts in the first column is certainly a log line: no document contains such a line.
pub(super) fn is_log(line: &str) -> bool {
    if line.starts_with([' ', '\t', '#', '-']) {
        return false;
    }
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if line.contains('{')
        && has(&["{\"level\":", "{\"time\":\"", "{\"log\":\"", "\"message\":\"{", "{\"@timestamp\":\""])
    {
        return true;
    }
    let mut words = line.split([' ', '\t']);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    let is_klog = first.len() == 5
        && first.starts_with(['I', 'W', 'E', 'F'])
        && first.bytes().skip(1).all(|byte| byte.is_ascii_digit())
        && line.contains(".go:");
    is_klog || (second.is_some() && Time::parse(first).is_some())
}

/// Number of open brackets after a line of JSON, or the byte after the bracket that closes the value. A string ends with its
/// line, so that an unterminated string affects only its line.
pub(super) fn brackets(line: &str, depth: usize) -> Result<usize, usize> {
    let mut depth = depth;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Err(at + 1);
                }
            }
            _ => {}
        }
    }
    Ok(depth)
}
