use super::*;
use proptest::prelude::*;

fn nano(text: &str) -> i128 {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).nano()
}

const UNIT: i128 = 1_000_000_000;

#[test]
fn multiplies_by_the_suffix() {
    for (text, expected) in [
        ("0", 0),
        ("0n", 0),
        ("0Ki", 0),
        ("00", 0),
        ("1", UNIT),
        ("+1", UNIT),
        ("-1", -UNIT),
        ("5n", 5),
        ("4u", 4_000),
        ("3m", 3_000_000),
        ("2k", 2_000 * UNIT),
        ("2M", 2_000_000 * UNIT),
        ("2G", 2_000_000_000 * UNIT),
        ("2T", 2_000_000_000_000 * UNIT),
        ("2P", 2_000_000_000_000_000 * UNIT),
        ("2E", 2_000_000_000_000_000_000 * UNIT),
        ("1Ki", UNIT << 10),
        ("1Mi", UNIT << 20),
        ("100Ti", (100 * UNIT) << 40),
        ("4Pi", UNIT << 52),
        ("3Ei", (3 * UNIT) << 60),
        ("1e3", 1_000 * UNIT),
        ("1E+3", 1_000 * UNIT),
        ("1E-3", UNIT / 1_000),
        ("0.5e-1", UNIT / 20),
        ("1.3E+6", 1_300_000 * UNIT),
        // `E` alone is 10^18, not an exponent.
        ("1E", 1_000_000_000_000_000_000 * UNIT),
        ("007", 7 * UNIT),
        ("1.", UNIT),
        ("1.G", 1_000_000_000 * UNIT),
        (".5", UNIT / 2),
        (".0001k", UNIT / 10),
        ("100.035k", 100_035 * UNIT),
        ("100.035Ki", 102_435_840_000_000),
        ("0.05Gi", 53_687_091_200_000_000),
        ("-1.5Gi", -(UNIT << 29) * 3),
    ] {
        assert_eq!(nano(text), expected, "{text}");
    }
}

#[test]
fn rounds_fine_quantities_away_from_zero_and_caps_large_ones() {
    const CAP: i128 = i64::MAX as i128 * UNIT;
    for (text, expected) in [
        ("3.001n", 4),
        ("-3.001n", -4),
        ("1.1E-9", 2),
        ("0.0000000001", 1),
        ("1e-100", 1),
        ("1e-2000000000", 1),
        ("0e-2000000000", 0),
        ("0.00000012345", 124),
        ("0.000000000001Ki", 2),
        (".000000001Ki", 1024),
        ("0.00000000000000000000000000000000000000000000001Ei", 1),
        ("9Ei", CAP),
        ("8Ei", CAP),
        ("-9Ei", -CAP),
        ("9223372036854775807Ki", CAP),
        ("99999999999999999999999999999999999999999999999999Ki", CAP),
        ("9223372036854775807.9Ki", CAP),
        // Only binary quantities are capped.
        ("12E", 12_000_000_000_000_000_000 * UNIT),
        ("-9999999999999999999.1", -9_999_999_999_999_999_999_100_000_000),
        ("1e100", i128::MAX),
        ("-1e2000000000", -i128::MAX),
        ("0e2000000000", 0),
        // Go converts the exponent to an int32.
        ("1e4294967296", UNIT),
    ] {
        assert_eq!(nano(text), expected, "{text}");
    }
}

#[test]
fn parses_some_texts_without_digits_as_zero_like_go() {
    for text in ["+", "-", ".", "-.", "m", "k", "E", "Ki", "Ti", ".Gi", "e3", "e-9"] {
        assert_eq!(nano(text), 0, "{text}");
    }
    for text in ["Pi", "Ei", ".Ei", "e-10", "+e-10"] {
        assert_eq!(Quantity::parse(text).unwrap_err().problem(), &QuantityProblem::NoDigits, "{text}");
    }
}

#[test]
fn rejects_what_kubernetes_rejects() {
    for text in [
        "",
        " ",
        "1.1.M",
        "1+1.0M",
        "0.1mi",
        "0.1am",
        "aoeu",
        ".5i",
        "1i",
        "-3.01i",
        "-3.01e-",
        "1e",
        "1e+",
        "1e1.5",
        "1ee3",
        " 1",
        "1 ",
        "1 Gi",
        "1K",
        "1g",
        "1GB",
        "1kb",
        "1,5",
        "1_000",
        "--1",
        "+-1",
        "5%",
        "5 %",
        "1mm",
        "1e3k",
        "1k3",
        "1e99999999999999999999",
        "0x10",
        "١",
        "1µ",
        "Inf",
        "NaN",
    ] {
        assert!(Quantity::parse(text).is_err(), "{text}");
    }
}

#[test]
fn canonical_form_keeps_the_notation() {
    for (text, canonical) in [
        ("0Ki", "0"),
        ("-0", "0"),
        ("1024Mi", "1Gi"),
        ("307200Ki", "300Mi"),
        ("1.5Gi", "1536Mi"),
        ("1025024Mi", "1001Gi"),
        ("1Ki", "1Ki"),
        ("0.5Ki", "512"),
        ("1.0009765625Ki", "1025"),
        (".001Ki", "1024m"),
        ("1.001Ki", "1025024m"),
        (".000000000001Ki", "2n"),
        ("9Ei", "9223372036854775807"),
        ("-2048Ki", "-2Mi"),
        ("1000M", "1G"),
        ("0.001T", "1G"),
        ("1.08", "1080m"),
        ("1080000000n", "1080m"),
        ("1234567M", "1234567M"),
        ("1000u", "1m"),
        ("0.5", "500m"),
        ("10000", "10k"),
        ("1000E", "1000E"),
        ("1e9", "1e9"),
        (".001e12", "1e9"),
        ("1000e-12", "1e-9"),
        ("1E21", "1e21"),
        ("5e0", "5"),
        ("1e4", "10e3"),
    ] {
        assert_eq!(Quantity::parse(text).unwrap().to_string(), canonical, "{text}");
    }
}

#[test]
fn units_and_thousandths_round_up() {
    for (text, units, milli) in [
        ("1", 1, 1_000),
        ("100m", 1, 100),
        ("1.0001", 2, 1_001),
        ("-9.01", -10, -9_010),
        ("1Ki", 1024, 1_024_000),
        ("12E", i64::MAX, i64::MAX),
        ("-12E", i64::MIN, i64::MIN),
    ] {
        let quantity = Quantity::parse(text).unwrap();
        assert_eq!((quantity.units(), quantity.milli()), (units, milli), "{text}");
    }
}

#[test]
fn compares_by_value() {
    assert_eq!(Quantity::parse("1Gi"), Quantity::parse("1024Mi"));
    assert_eq!(Quantity::parse("1"), Ok(Quantity::from_units(1)));
    assert!(Quantity::parse("10000T").unwrap() > Quantity::parse("100Gi").unwrap());
    assert!(Quantity::parse("-1").unwrap() < Quantity::ZERO);
}

#[test]
fn errors_suggest_valid_quantities() {
    let message = |text| Quantity::parse(text).unwrap_err().to_string();
    insta::assert_snapshot!(message("1K"), @"`K` in `1K` is not a suffix of a quantity; did you mean `1k` (1000) or `1Ki` (1024)");
    insta::assert_snapshot!(message("1GB"), @"`GB` in `1GB` is not a suffix of a quantity; did you mean `1G` or `1Gi`");
    insta::assert_snapshot!(message("512 MiB"), @"`512 MiB` contains whitespace, which a quantity may not; did you mean `512Mi`");
    insta::assert_snapshot!(message("100 Mi"), @"`100 Mi` contains whitespace, which a quantity may not; did you mean `100Mi`");
    insta::assert_snapshot!(message("0.1mi"), @"`mi` in `0.1mi` is not a suffix of a quantity; did you mean `0.1Mi`");
    insta::assert_snapshot!(message("1,5"), @"`1,5` is not a quantity such as `500m`, `2` or `1.5Gi`; did you mean `1.5`");
    insta::assert_snapshot!(message("5 %"), @"`5 %` is a percentage, not a quantity");
    insta::assert_snapshot!(message("Ei"), @"`Ei` has no number");
    insta::assert_snapshot!(message("ten"), @"`ten` is not a quantity such as `500m`, `2` or `1.5Gi`");
    insta::assert_snapshot!(message(""), @"the quantity is empty");
}

proptest! {
    #[test]
    fn no_text_panics(text in r"\PC*|[-+0-9.eEinumkKMGTPB% ]{0,40}") {
        if let Err(error) = Quantity::parse(&text) {
            prop_assert!(!error.to_string().is_empty());
            for meant in error.suggestions() {
                prop_assert!(Quantity::parse(&meant).is_ok(), "{} suggests {}", text, meant);
            }
        }
    }

    #[test]
    fn printed_quantity_parses_to_the_same(
        text in r"-?[0-9]{1,12}(\.[0-9]{0,12})?([numkMGTPE]|[KMGTPE]i|e-?[0-9])?",
    ) {
        let quantity = Quantity::parse(&text).unwrap();
        prop_assert_eq!(Quantity::parse(&quantity.to_string()), Ok(quantity));
    }

    #[test]
    fn orders_by_value(a: i64, b: i64, pa in 0_usize..4, pb in 0_usize..4) {
        const SUFFIXES: [(&str, i128); 4] = [("n", 1), ("m", 1_000_000), ("", UNIT), ("k", 1_000 * UNIT)];
        let text = |number: i64, power: usize| format!("{number}{}", SUFFIXES[power].0);
        let quantity = |number, power| Quantity::parse(&text(number, power)).unwrap();
        let value = |number: i64, power: usize| i128::from(number) * SUFFIXES[power].1;
        prop_assert_eq!(quantity(a, pa).cmp(&quantity(b, pb)), value(a, pa).cmp(&value(b, pb)));
    }

    #[test]
    fn binary_fractions_are_exact(whole in 0_u32..1_000_000, fraction in 0_u32..1_000_000) {
        // 1/10^6 of a Ti is 2^40 * 10^3 billionths: nothing to round.
        let expected = (i128::from(whole) * 1_000_000 + i128::from(fraction)) * (1_i128 << 40) * 1_000;
        prop_assert_eq!(nano(&format!("{whole}.{fraction:06}Ti")), expected);
    }
}

#[test]
fn adds_and_subtracts_in_the_notation_of_the_first_amount() {
    let quantity = |text| Quantity::parse(text).unwrap();
    assert_eq!(quantity("1Gi").plus(quantity("1G")).to_string(), "2073741824");
    assert_eq!(quantity("500m").plus(quantity("1")).to_string(), "1500m");
    assert_eq!(Quantity::ZERO.plus(quantity("1Gi")).to_string(), "1Gi");
    assert_eq!(quantity("1Gi").minus(quantity("512Mi")).to_string(), "512Mi");
    assert!(quantity("1").minus(quantity("2")).is_negative());
}
