//! Prices from a file of AWS.

use std::collections::BTreeMap;

use karpenter::instance_types::hints::{Hint, hint};
use karpenter::instance_types::names::{Standing, TYPE, standing};
use manifest::limits::Limits;
use manifest::tree::Node;
use manifest::{Document, File};
use serde_json::Value;
use thiserror::Error;

/// Text without usable prices.
#[derive(Debug, Error)]
pub enum PricesError {
    /// The text is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The text has no price for the region.
    #[error("no on-demand prices of Linux instances in {0}")]
    NoPrices(String),
    /// No instance type can have the name. The third text is a suggestion, or empty.
    #[error("line {line}: `{name}` is not an instance type{hint}")]
    NotAType {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
        /// A suggestion, or an empty text.
        hint: String,
    },
    /// A price is not a number, or negative.
    #[error("line {line}: the price of `{instance_type}` is {value}, not a number of USD per hour")]
    NotAPrice {
        /// The line, from 1.
        line: usize,
        /// The instance type.
        instance_type: String,
        /// The value as JSON.
        value: String,
    },
}

/// On-demand prices in USD per hour.
#[derive(Debug, Default)]
pub(super) struct PriceList {
    /// The prices by instance type.
    pub(super) prices: BTreeMap<String, f64>,
    /// Whether the list has every instance type of the region: the offer file of a region has, an answer to a query and an object of
    /// instance types have not.
    pub(super) is_complete: bool,
}

/// Reads on-demand prices of Linux instances by instance type from an AWS price list (the offer file of `AmazonEC2`), from the
/// lines of `aws pricing get-products`, or from an object of instance types with numbers.
pub(super) fn parse(text: &str, region: &str) -> Result<PriceList, PricesError> {
    let json: Value = serde_json::from_str(text)?;
    let mut prices = BTreeMap::new();
    let products = json.get("products").and_then(Value::as_object);
    if let Some(products) = products {
        for (sku, product) in products {
            let terms = json.pointer(&format!("/terms/OnDemand/{sku}"));
            prices.extend(price_of(product, terms, region, text)?);
        }
    } else if let Some(list) = json.get("PriceList").and_then(Value::as_array) {
        for item in list {
            let parsed = item.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let item = parsed.as_ref().unwrap_or(item);
            if let Some(product) = item.get("product") {
                prices.extend(price_of(product, item.pointer("/terms/OnDemand"), region, text)?);
            }
        }
    } else {
        for (name, price) in json.as_object().into_iter().flatten() {
            let number = price.as_f64().filter(|number| *number >= 0.0);
            let number = number.ok_or_else(|| not_a_price(text, name, price))?;
            if standing(TYPE, name) == Some(Standing::Malformed) {
                return Err(not_a_type(text, name));
            }
            prices.insert(name.clone(), number);
        }
    }
    if prices.is_empty() {
        return Err(PricesError::NoPrices(region.to_owned()));
    }
    Ok(PriceList { prices, is_complete: products.is_some() })
}

/// The error for a member whose name is no instance type.
fn not_a_type(text: &str, name: &str) -> PricesError {
    let meant = match hint(TYPE, name) {
        Some(Hint::Near(meant) | Hint::Spelling(meant)) => format!(" (did you mean `{meant}`?)"),
        Some(Hint::Advice(_)) | None => String::new(),
    };
    PricesError::NotAType { line: line_of_member(text, name), name: name.to_owned(), hint: meant }
}

/// The error for a member of an object of instance types.
fn not_a_price(text: &str, name: &str, value: &Value) -> PricesError {
    PricesError::NotAPrice {
        line: line_of_member(text, name),
        instance_type: name.to_owned(),
        value: value.to_string(),
    }
}

fn line_of_member(text: &str, name: &str) -> usize {
    let file = File::read("prices", text.to_owned(), &Limits::DEFAULT);
    let root = file.documents.first().and_then(|document| match document {
        Document::Read(tree) => Some(tree.root()),
        _ => None,
    });
    root.and_then(|root| root.get(name)).map_or(1, line_of)
}

fn line_of(node: Node<'_>) -> usize {
    node.source().before(node.key_span().start).matches('\n').count() + 1
}

/// The price of a product, if it is a shared Linux instance of the region without other software.
fn price_of(
    product: &Value,
    terms: Option<&Value>,
    region: &str,
    text: &str,
) -> Result<Option<(String, f64)>, PricesError> {
    let attribute = |name: &str| product.pointer(&format!("/attributes/{name}")).and_then(Value::as_str);
    let is = |name: &str, value: &str| attribute(name).is_none_or(|present| present == value);
    let counts = is("regionCode", region)
        && is("operatingSystem", "Linux")
        && is("tenancy", "Shared")
        && is("preInstalledSw", "NA")
        && is("capacitystatus", "Used");
    let Some(name) = attribute("instanceType").filter(|_| counts) else { return Ok(None) };
    let Some(written) = terms.and_then(usd) else { return Ok(None) };
    match written.parse::<f64>() {
        Ok(price) if price > 0.0 => Ok(Some((name.to_owned(), price))),
        // Some offers, such as for reserved capacity, cost nothing.
        Ok(price) if price >= 0.0 => Ok(None),
        _ => {
            let value = format!("\"{written}\"");
            let before = text.split_once(&value).map_or("", |(before, _)| before);
            let line = before.matches('\n').count() + 1;
            Err(PricesError::NotAPrice { line, instance_type: name.to_owned(), value })
        }
    }
}

/// The price in the terms of a product.
fn usd(terms: &Value) -> Option<&str> {
    let term = terms.as_object()?.values().next()?;
    let dimension = term.get("priceDimensions")?.as_object()?.values().next()?;
    dimension.pointer("/pricePerUnit/USD")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_offer_files_and_plain_objects() {
        let offer = r#"{"products": {
            "A": {"attributes": {"instanceType": "m5.large", "regionCode": "eu-west-1", "operatingSystem": "Linux",
                "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}},
            "B": {"attributes": {"instanceType": "m5.large", "regionCode": "eu-west-1", "operatingSystem": "Windows"}}},
            "terms": {"OnDemand": {"A": {"A.1": {"priceDimensions": {"A.1.1": {"pricePerUnit": {"USD": "0.107"}}}}},
                "B": {"B.1": {"priceDimensions": {"B.1.1": {"pricePerUnit": {"USD": "0.199"}}}}}}}}"#;
        let list = parse(offer, "eu-west-1").unwrap();
        assert_eq!(list.prices, BTreeMap::from([("m5.large".to_owned(), 0.107)]));
        assert!(list.is_complete);
        assert!(parse(offer, "us-east-1").is_err());
        let misspelt = parse("{\"m5.large\": 0.1,\n\"m5.lage\": 0.1}", "x").unwrap_err();
        assert_eq!(
            misspelt.to_string(),
            "line 2: `m5.lage` is not an instance type (did you mean `m5.large`?)"
        );
        for known in ["m5.large", "m9g.large", "m1.small", "cc2.8xlarge", "mac2.metal", "u-6tb1.metal"] {
            assert!(parse(&format!("{{\"{known}\": 1}}"), "x").is_ok(), "{known}");
        }
        let few = parse(r#"{"m5.large": 0.1}"#, "x").unwrap();
        assert_eq!((few.prices.len(), few.is_complete), (1, false));
        assert!(parse("{", "x").is_err());
        let negative = offer.replace("0.107", "-0.107");
        assert_eq!(
            parse(&negative, "eu-west-1").unwrap_err().to_string(),
            "line 5: the price of `m5.large` is \"-0.107\", not a number of USD per hour"
        );
    }

    #[test]
    fn names_the_line_of_a_price_that_is_none() {
        for (price, shown) in [("-1", "-1"), ("\"0.1\"", "\"0.1\""), ("null", "null"), ("[1]", "[1]")] {
            let text = format!("{{\n  \"m5.large\": 0.1,\n  \"m5.xlarge\": {price}\n}}\n");
            assert_eq!(
                parse(&text, "us-east-1").unwrap_err().to_string(),
                format!("line 3: the price of `m5.xlarge` is {shown}, not a number of USD per hour")
            );
        }
        let error = parse("{\n  \"m5.large\": 0,1\n}", "us-east-1").unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
