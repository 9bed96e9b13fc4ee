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
    fn recognises_ids_of_zones() {
        for id in ["use1-az1", "usw2-lax1-az1"] {
            assert!(is_zone_id(id), "{id}");
        }
        for other in ["us-east-1a", "use1-az", "USE1-az1", "use1-azx"] {
            assert!(!is_zone_id(other), "{other}");
        }
    }
}
