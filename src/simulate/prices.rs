//! Prices from a file of AWS.

use std::collections::BTreeMap;

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
}

/// Reads on-demand prices of Linux instances by instance type from an AWS price list (the offer file of `AmazonEC2`), from the
/// lines of `aws pricing get-products`, or from an object of instance types with numbers.
pub(super) fn parse(text: &str, region: &str) -> Result<BTreeMap<String, f64>, PricesError> {
    let json: Value = serde_json::from_str(text)?;
    let mut prices = BTreeMap::new();
    if let Some(products) = json.get("products").and_then(Value::as_object) {
        for (sku, product) in products {
            let terms = json.pointer(&format!("/terms/OnDemand/{sku}"));
            prices.extend(price_of(product, terms, region));
        }
    } else if let Some(list) = json.get("PriceList").and_then(Value::as_array) {
        for item in list {
            let parsed = item.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let item = parsed.as_ref().unwrap_or(item);
            if let Some(product) = item.get("product") {
                prices.extend(price_of(product, item.pointer("/terms/OnDemand"), region));
            }
        }
    } else {
        let members = json.as_object().into_iter().flatten();
        prices.extend(members.filter_map(|(name, price)| Some((name.clone(), price.as_f64()?))));
    }
    if prices.is_empty() { Err(PricesError::NoPrices(region.to_owned())) } else { Ok(prices) }
}

/// The price of a product, if it is a shared Linux instance of the region without other software.
fn price_of(product: &Value, terms: Option<&Value>, region: &str) -> Option<(String, f64)> {
    let attribute = |name: &str| product.pointer(&format!("/attributes/{name}")).and_then(Value::as_str);
    let is = |name: &str, value: &str| attribute(name).is_none_or(|present| present == value);
    let counts = is("regionCode", region)
        && is("operatingSystem", "Linux")
        && is("tenancy", "Shared")
        && is("preInstalledSw", "NA")
        && is("capacitystatus", "Used");
    let name = attribute("instanceType").filter(|_| counts)?;
    let term = terms?.as_object()?.values().next()?;
    let dimension = term.get("priceDimensions")?.as_object()?.values().next()?;
    let price: f64 = dimension.pointer("/pricePerUnit/USD")?.as_str()?.parse().ok()?;
    (price > 0.0).then(|| (name.to_owned(), price))
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
        assert_eq!(parse(offer, "eu-west-1").unwrap(), BTreeMap::from([("m5.large".to_owned(), 0.107)]));
        assert!(parse(offer, "us-east-1").is_err());
        assert_eq!(parse(r#"{"m5.large": 0.1}"#, "x").unwrap().len(), 1);
        assert!(parse("{", "x").is_err());
    }
}
