//! A picture of the terminal, drawn from the README's example.

use core::fmt::Write as _;

use anyhow::{Context as _, Result};

use crate::home;

/// Path of the picture.
pub(super) const PATH: &str = "docs/images/terminal.svg";

const LINE: usize = 20;
const COLUMN: usize = 9;

/// The first console block of the README as SVG.
pub(super) fn text() -> Result<String> {
    let readme = home::text("README.md")?;
    let block = readme.split_once("```console\n").and_then(|(_, rest)| rest.split_once("```"));
    let (block, _) = block.context("the README shows no console")?;
    let lines: Vec<&str> = block.lines().collect();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let (width, height) = (columns * COLUMN + 2 * LINE, (lines.len() + 2) * LINE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <title>karpwarden check in a terminal</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n\
         <g font-family=\"ui-monospace, monospace\" font-size=\"15\" fill=\"#e6e6e6\" xml:space=\"preserve\">\n"
    );
    for (index, line) in lines.iter().enumerate() {
        let color =
            match line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit() || char == ' ') {
                rest if rest.starts_with("error") || rest.contains("^^^") || rest.starts_with("- ") => {
                    " fill=\"#ff7b72\""
                }
                rest if rest.starts_with("+ ") => " fill=\"#7ee787\"",
                _ => "",
            };
        let text = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let y = (index + 2) * LINE;
        let _ = writeln!(svg, "<text x=\"{LINE}\" y=\"{y}\"{color}>{text}</text>");
    }
    svg.push_str("</g>\n</svg>\n");
    Ok(svg)
}
