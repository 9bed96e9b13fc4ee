//! Times of the output in the time zone of the reader.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use karpwarden::disrupt::words;
use karpwarden::plan::WallClock;
use values::calendar::{Day, Minute};
use values::duration::Duration;
use values::timestamp::Timestamp;

use crate::error::CommandError;

/// Time zone for the output.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    zone: TimeZone,
    name: String,
}

impl Clock {
    /// Parses the name of a time zone, such as `Europe/Berlin`.
    pub(crate) fn parse(name: &str) -> Result<Self, CommandError> {
        let zone = if name.eq_ignore_ascii_case("utc") { Ok(TimeZone::UTC) } else { TimeZone::get(name) };
        let zone = zone.map_err(|_| {
            let text =
                format!("`--timezone`: `{name}` is not a time zone; write a name such as `Europe/Berlin`");
            CommandError::Usage(text)
        })?;
        Ok(Self { zone, name: name.to_owned() })
    }

    /// The name of the time zone.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The clock for sentences. `utc` has the spelling of the sentences.
    pub(crate) fn on_wall(&self) -> WallClock {
        if self.name.eq_ignore_ascii_case("utc") {
            return WallClock::utc();
        }
        let clock = self.clone();
        WallClock { name: self.name.clone(), minute: Arc::new(move |time| clock.local(time)) }
    }

    /// The minute that a clock on the wall shows.
    fn local(&self, time: Timestamp) -> Minute {
        let instant = jiff::Timestamp::from_second(time.seconds()).unwrap_or_default();
        let offset = self.zone.to_offset(instant).seconds();
        let offset = Duration::from_nanoseconds(i64::from(offset).saturating_mul(1_000_000_000));
        time.plus(offset).minute()
    }

    /// The day on the wall.
    pub(crate) fn day(&self, time: Timestamp) -> Day {
        self.local(time).day()
    }

    /// The start of the part of the day in which a time is, for parts of some minutes.
    pub(crate) fn part_of_day(&self, time: Timestamp, minutes: i64) -> Timestamp {
        let over = self.local(time).of_day().rem_euclid(minutes);
        Timestamp::of_minute(time.minute().plus(-over))
    }

    /// `Wed 10:30`, which is unique within a week.
    pub(crate) fn short(&self, time: Timestamp) -> String {
        let local = self.local(time);
        format!("{} {}", words::weekday(local.day()), wall(local))
    }

    /// `Wed 2026-03-11 10:30`.
    pub(crate) fn long(&self, time: Timestamp) -> String {
        words::moment(self.local(time))
    }
}

fn wall(local: Minute) -> String {
    format!("{:02}:{:02}", local.of_day() / 60, local.of_day() % 60)
}

/// The time. The engine reads no clock, so the command line does.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_times_of_the_zone_with_daylight_saving() {
        let berlin = Clock::parse("Europe/Berlin").unwrap();
        let time = |text: &str| Timestamp::parse(text).unwrap();
        assert_eq!(berlin.long(time("2026-03-11T23:30:00Z")), "Thu 2026-03-12 00:30");
        assert_eq!(berlin.short(time("2026-03-29T00:59:59Z")), "Sun 01:59");
        assert_eq!(berlin.short(time("2026-03-29T01:00:00Z")), "Sun 03:00");
        assert_eq!(Clock::parse("utc").unwrap().short(time("2026-03-11T23:30:00Z")), "Wed 23:30");
        assert!(Clock::parse("Europe/Nowhere").is_err());
    }

    #[test]
    fn parts_of_the_day_start_at_local_midnight() {
        let kolkata = Clock::parse("Asia/Kolkata").unwrap();
        let start = kolkata.part_of_day(Timestamp::parse("2026-03-11T10:30:59Z").unwrap(), 180);
        assert_eq!(
            (kolkata.short(start).as_str(), start.to_string().as_str()),
            ("Wed 15:00", "2026-03-11T09:30:00Z")
        );
    }
}
