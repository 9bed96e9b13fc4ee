//! The page: the built template with its data.

use std::io;

use answers::summary::PageData;

/// The page without data: markup, style and script, built from `playground/page/report.html` by `make generate`.
const TEMPLATE: &str = include_str!("page.html");

/// Place of the data in the template.
const DATA: &str = "%DATA%";

/// Place in the content security policy for what the page may connect to.
const CONNECT: &str = "%CONNECT%";

/// The page with its data.
pub(super) fn html(data: &PageData) -> io::Result<String> {
    // `<` is the only character that could end the element.
    let json = serde_json::to_string(data).map_err(io::Error::from)?.replace('<', "\\u003c");
    // The page asks its server for the mark of the input.
    let connect = if data.mark.is_some() { "'self'" } else { "'none'" };
    Ok(TEMPLATE.replacen(CONNECT, connect, 1).replacen(DATA, &json, 1))
}

/// A number of bytes, such as `1.2 MB`.
pub(super) fn size(bytes: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 1.0 { format!("{} kB", bytes.div_ceil(1000)) } else { format!("{megabytes:.1} MB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_one_place_for_each_part() {
        for place in [CONNECT, DATA] {
            assert_eq!(TEMPLATE.matches(place).count(), 1, "{place}");
        }
    }

    #[test]
    fn rounds_sizes() {
        assert_eq!([1, 999_999, 1_000_000].map(size), ["1 kB", "1000 kB", "1.0 MB"]);
    }
}
