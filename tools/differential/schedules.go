package main

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedules: the next runs after some instants, or the error.
var schedules = topic{
	name:     "schedules",
	file:     "crates/values/tests/differential/schedules.jsonl.gz",
	always:   commonSchedules,
	generate: schedule,
	record:   recordSchedule,
}

// Minutes at which months, years and centuries change, and others between 1970 and 2200.
var instants = func() []time.Time {
	var instants []time.Time
	for _, text := range []string{
		"1970-01-01 00:00", "1999-12-31 23:59", "2000-02-28 23:59", "2000-02-29 12:00", "2024-02-29 00:00", "2026-11-23 10:17",
		"2027-02-28 23:59", "2027-03-14 02:30", "2028-02-28 23:58", "2028-12-31 23:59", "2095-06-30 23:59", "2096-02-29 23:59",
		"2099-12-31 23:59", "2100-02-28 23:59", "2100-03-01 00:00", "2199-12-31 23:59",
	} {
		instant, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			panic(err)
		}
		instants = append(instants, instant)
	}
	for i := int64(0); i < 48; i++ {
		instants = append(instants, time.Unix(i*151_234_567/60*60, 0).UTC())
	}
	return instants
}()

// recordSchedule returns an instant in minutes since 1970, and the seconds from the instant to the next run and between the
// following two. A shorter list means that there is no further run.
func recordSchedule(text string) []any {
	// Karpenter adds the time zone (Budget.IsActive in pkg/apis/v1/nodepool.go of kubernetes-sigs/karpenter).
	parsed, err := cron.ParseStandard(fmt.Sprintf("TZ=UTC %s", text))
	if err != nil {
		return []any{err.Error()}
	}
	hash := fnv.New32a()
	hash.Write([]byte(text))
	at := instants[int(hash.Sum32())%len(instants)]
	results := []any{at.Unix() / 60}
	for next := parsed.Next(at); !next.IsZero() && len(results) < 4; next = parsed.Next(at) {
		results = append(results, int64(next.Sub(at)/time.Second))
		at = next
	}
	return results
}

var fieldNames = []string{"", "", "", "jan feb mar apr may jun jul aug sep oct nov dec", "sun mon tue wed thu fri sat"}

var fieldBounds = [][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}

// commonSchedules has the descriptors, dates that few or no years have, and schedules with one unusual field.
func commonSchedules() []string {
	texts := strings.Split("|@yearly|@annually|@monthly|@weekly|@daily|@midnight|@hourly|@reboot|@Daily|@every 1h|@every 1s|@every 90s|@every 0s|"+
		"@every -1h|@every 1ms|@every 1.5s|@every|@every |@every  1h|@every 1d|@every\t1h|@daily @daily|@|@ daily|TZ=UTC * * * * *|"+
		"TZ=Europe/Berlin 0 9 * * *|CRON_TZ=UTC @daily|TZ=|TZ=UTC|TZ=UTC ", "|")
	odd := strings.Split("*|?|*/2|?/3|*-5|*-x|*/1|*/0|*/-1|*/+2|*/60|*/99|1/2|1-3/2|1-1|3-1|0|1|6|7|12|13|23|24|28|29|30|31|32|59|60|-1|+1|01|001|00|1,2|,|1,|,1|"+
		"1,,2|*,1|1-|-|/|1/|/2|1/2/3|1-2-3|L|W|1W|#|2#1|H|a|mon|MON|Mon|monday|jan|JAN|december|sun-sat|sat-sun|fri-mon|mon-5|1-fri|jan-3|\u017fun|\u0130|fr\u0130|"+
		"9223372036854775807|9223372036854775808|18446744073709551616|0-9223372036854775807|*/9223372036854775807|1/9223372036854775807|~|1~5|*/*|*-*/2|*/2,3|1.5|0x1|1_0|1e1", "|")
	for field := range fieldBounds {
		for _, one := range odd {
			for _, other := range []string{"*", "1"} {
				fields := []string{other, other, other, other, other}
				fields[field] = one
				texts = append(texts, strings.Join(fields, " "))
			}
		}
	}
	// The next 29 February after 2096 is in 2104, and the search ends after five years.
	for minute := 0; minute < 24*60; minute += 5 {
		texts = append(texts, fmt.Sprintf("%d %d 29 2 *", minute%60, minute/60))
	}
	for day := 28; day <= 31; day++ {
		for month := 1; month <= 12; month++ {
			for _, weekday := range []string{"*", "0", "5", "*/2", "?"} {
				texts = append(texts, fmt.Sprintf("59 23 %d %d %s", day, month, weekday))
			}
		}
	}
	return texts
}

func (r random) number(field int) string {
	bounds := fieldBounds[field]
	switch {
	case r.chance(25) && fieldNames[field] != "":
		name := r.word(fieldNames[field])
		return r.pick(name, name, strings.ToUpper(name), strings.Title(name))
	case r.chance(15):
		return fmt.Sprint(r.pickInt(bounds[0], bounds[1]))
	case r.chance(2):
		return fmt.Sprint(r.pickInt(bounds[0]-1, bounds[1]+1, 7, 60, 100))
	case r.chance(2):
		return fmt.Sprintf("%02d", r.Intn(12))
	}
	return fmt.Sprint(bounds[0] + r.Intn(bounds[1]-bounds[0]+1))
}

func (r random) field(field int) string {
	if r.chance(50) {
		return r.word("* * * * * * ?")
	}
	var parts []string
	for i := 0; i <= r.Intn(1+r.Intn(4)); i++ {
		var part string
		switch r.Intn(6) {
		case 0:
			part = r.word("* * * * ?")
		case 1, 2:
			// Half of all ranges are the wrong way round.
			part = r.number(field) + "-" + r.number(field)
			if first, last := fieldBounds[field][0], fieldBounds[field][1]; r.chance(70) {
				low := first + r.Intn(last-first+1)
				part = fmt.Sprintf("%d-%d", low, low+r.Intn(last-low+1))
			}
		default:
			part = r.number(field)
		}
		if r.chance(25) {
			part += "/" + r.pick(fmt.Sprint(1+r.Intn(10)), fmt.Sprint(1+r.Intn(10)), fmt.Sprint(r.Intn(70)))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

func schedule(r random) string {
	var text string
	if r.chance(5) {
		text = "@every " + duration(r)
	} else {
		var fields []string
		for field := range fieldBounds {
			fields = append(fields, r.field(field))
		}
		separator := " "
		if r.chance(3) {
			separator = r.pick("  ", "\t", " \u00a0", "\n")
		}
		text = strings.Join(fields, separator)
		if r.chance(2) {
			text += separator + r.field(0)
		}
	}
	if r.chance(2) {
		text = r.pick(" ", "TZ=UTC ", "CRON_TZ=Asia/Tokyo ", "\t") + text
	}
	if r.chance(2) {
		text += r.pick(" ", "\n", "\u3000", " UTC")
	}
	if r.chance(20) {
		return r.damage(text, "0123456789**??,,--// @LW#monsunfrijdec+")
	}
	return text
}
