//! The form of the ids of availability zones.

/// What stands before and after the `-az` of a zone's id.
pub(crate) fn id_parts(text: &str) -> Option<(&str, &str)> {
    let (region, number) = text.rsplit_once('z')?;
    Some((region.strip_suffix("-a")?, number))
}

/// Whether a text is the id of a zone, such as `use1-az1`, rather than its name: no node has it as
/// `topology.kubernetes.io/zone`.
pub fn is_zone_id(text: &str) -> bool {
    let Some((region, number)) = id_parts(text) else { return false };
    let region =
        region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    region && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
