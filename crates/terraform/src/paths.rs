//! Paths within an input, with `/`.

/// The path that a relative path means in a folder, without `.` and `..`; none if it leaves the input.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\\') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder of a file.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The path of a folder from another one, as Terraform prints it.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (parts(from), parts(to));
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from.iter().skip(shared).map(|_| "..".to_owned());
    let path = up.chain(to.into_iter().skip(shared)).collect::<Vec<_>>().join("/");
    if path.is_empty() { ".".to_owned() } else { path }
}

/// A path without `.`, `..` and double slashes: golang/go `src/path/filepath`, Clean.
pub(crate) fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_rooted => {}
            _ => parts.push(part),
        }
    }
    match (is_rooted, parts.join("/")) {
        (true, path) => format!("/{path}"),
        (false, path) if path.is_empty() => ".".to_owned(),
        (false, path) => path,
    }
}

/// Whether the parts of a path match the parts of a pattern with `*`, `?` and `**`.
pub(crate) fn matches(pattern: &[&str], path: &[&str]) -> bool {
    // The rows of the table are prefixes of the pattern, so that many `**` take no more than a pass each.
    let mut reachable = vec![false; path.len() + 1];
    if let Some(first) = reachable.first_mut() {
        *first = true;
    }
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        let mut is_open = false;
        for (index, slot) in next.iter_mut().enumerate() {
            let here = reachable.get(index).copied().unwrap_or(false);
            if *part == "**" {
                is_open |= here;
                *slot = is_open;
            } else {
                let before = index.checked_sub(1);
                let name = before.and_then(|before| path.get(before));
                let came = before.and_then(|before| reachable.get(before)).copied().unwrap_or(false);
                *slot = came && name.is_some_and(|name| is_match(part, name));
            }
        }
        reachable = next;
    }
    reachable.last().copied().unwrap_or(false)
}

/// Whether a name matches a pattern with `*` and `?`.
fn is_match(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from, mut star) = (0, 0, None);
    while from < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(char) if *char == '?' || Some(char) == name.get(from) => {
                at += 1;
                from += 1;
            }
            _ => match &mut star {
                Some((star, matched)) => {
                    at = *star + 1;
                    *matched += 1;
                    from = *matched;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|char| *char == '*')
}
