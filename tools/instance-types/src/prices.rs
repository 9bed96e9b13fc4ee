//! The on-demand prices.

use std::collections::BTreeMap;

/// Parses the prices of a region in `zz_generated.pricing_aws.go`.
pub(crate) fn parse(text: &str, region: &str) -> BTreeMap<String, String> {
    let start = format!("\t\"{region}\": {{");
    let lines = text.lines().skip_while(|line| *line != start).skip(1).take_while(|line| *line != "\t},");
    let mut all = BTreeMap::new();
    for line in lines.filter(|line| !line.trim_start().starts_with("//")) {
        for (name, price) in line.split(',').filter_map(|entry| entry.trim().split_once(": ")) {
            let price = price.trim_end_matches('0').trim_end_matches('.');
            all.insert(name.trim_matches('"').to_owned(), price.to_owned());
        }
    }
    all
}
