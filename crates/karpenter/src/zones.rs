//! The names and IDs of availability zones.

/// The parts before and after the `-az` of a zone ID.
pub(crate) fn id_parts(text: &str) -> Option<(&str, &str)> {
    let (region, number) = text.rsplit_once('z')?;
    Some((region.strip_suffix("-a")?, number))
}

/// Returns the region of an availability zone such as `us-gov-west-1a`; `None` for local zones and other text.
pub fn region_of_zone(zone: &str) -> Option<&str> {
    let region = zone.strip_suffix(|last: char| last.is_ascii_lowercase())?;
    let (area, number) = region.rsplit_once('-')?;
    let is_area = area.contains('-') && area.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    (is_area && is_number).then_some(region)
}

/// Whether a text is the ID of a zone, such as `use1-az1`. The label `topology.kubernetes.io/zone` of a node has the name
/// of the zone instead.
pub fn is_zone_id(text: &str) -> bool {
    let Some((region, number)) = id_parts(text) else { return false };
    let region =
        region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    region && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The directions in the names of regions.
const DIRECTIONS: [&str; 9] =
    ["north", "south", "east", "west", "central", "northeast", "northwest", "southeast", "southwest"];

/// Whether a text has the form of the name of a region, such as `us-gov-west-1`, `us-iso-east-1` or `eusc-de-east-1`: every region has a
/// direction and a number at the end, newer regions too.
pub fn is_region(text: &str) -> bool {
    direction_of(text).is_some_and(|(_, direction, _)| DIRECTIONS.contains(&direction))
}

/// The region that a misspelt name means, if its direction is misspelt.
pub fn nearest_region(text: &str) -> Option<String> {
    let (area, direction, number) = direction_of(text)?;
    let meant = values::spelling::nearest(direction, DIRECTIONS)?;
    Some(format!("{area}-{meant}-{number}"))
}

/// The parts of the name of a region: the area, the direction and the number.
fn direction_of(region: &str) -> Option<(&str, &str, &str)> {
    let (words, number) = region.rsplit_once('-')?;
    let (area, direction) = words.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_area = area.len() >= 2 && area.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (is_number && is_area).then_some((area, direction, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_region_of_a_zone() {
        for (zone, region) in [
            ("us-east-1a", Some("us-east-1")),
            ("us-gov-west-1b", Some("us-gov-west-1")),
            ("us-west-2-lax-1a", None),
            ("useast-1a", None),
            ("us-east-a", None),
            ("us-east-1", None),
        ] {
            assert_eq!(region_of_zone(zone), region, "{zone}");
        }
    }

    #[test]
    fn recognises_names_of_regions_and_their_misspellings() {
        for region in [
            "us-east-1",
            "us-gov-west-1",
            "ap-southeast-7",
            "us-isob-east-1",
            "eusc-de-east-1",
            "mx-central-1",
        ] {
            assert!(is_region(region), "{region}");
        }
        for (other, meant) in [
            ("us-esat-1", Some("us-east-1")),
            ("ap-southeast1", None),
            ("us-east-1a", None),
            ("us-east", None),
            ("", None),
            ("US-EAST-1", None),
            ("eu-westt-3", Some("eu-west-3")),
        ] {
            assert!(!is_region(other), "{other}");
            assert_eq!(nearest_region(other).as_deref(), meant, "{other}");
        }
    }

    #[test]
    fn recognises_ids_of_zones() {
        for id in ["use1-az1", "usw2-lax1-az1"] {
            assert!(is_zone_id(id), "{id}");
        }
        for other in ["us-east-1a", "use1-az", "USE1-az1", "use1-azx"] {
            assert!(!is_zone_id(other), "{other}");
        }
    }
}
