package main

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Durations: the nanoseconds, or the error.
var durations = topic{
	name:     "durations",
	file:     "crates/values/tests/differential/durations.jsonl.gz",
	always:   boundaryDurations,
	generate: duration,
	record: func(text string) []any {
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return []any{err.Error()}
		}
		return []any{int64(parsed)}
	},
}

const durationUnits = "ns us µs μs ms s m h"

// Lengths of the units in nanoseconds.
var unitLengths = []int64{1, 1e3, 1e6, 1e9, 60e9, 3600e9}

// boundaryDurations has every unit after numbers around the limits, and the limits in every unit.
func boundaryDurations() []string {
	numbers := []string{"", "0", "1", ".", "1.", ".5", "00", "1.5", "9223372036854775807", "9223372036854775808", "18446744073709551616",
		"0.9223372036854775807", "0.9223372036854775808", "0.0000000000000000001", "1.00000000000000000000000000001"}
	for _, length := range unitLengths {
		for _, more := range []uint64{0, 1, 2} {
			numbers = append(numbers, strconv.FormatUint(uint64(math.MaxInt64/length)-1+more, 10))
		}
	}
	units := append(strings.Fields(durationUnits), "", "d", "w", "y", "H", "min", "sec", " s", "s ")
	texts := []string{"Never", "never", "∞", "1h30m", "1h 30m", "P1D"}
	for _, sign := range []string{"", "-", "+"} {
		for _, number := range numbers {
			for _, unit := range units {
				texts = append(texts, sign+number+unit, sign+number+unit+"1ns", sign+number+unit+sign+number+unit)
			}
		}
	}
	return texts
}

func duration(r random) string {
	var text strings.Builder
	if r.chance(20) {
		text.WriteString(r.word("- - - +"))
	}
	terms := 1 + r.Intn(1+r.Intn(4))
	for term := 0; term < terms; term++ {
		switch {
		case r.chance(20):
			text.WriteString(r.near(unitLengths...))
		case r.chance(10):
		default:
			text.WriteString(r.digits(r.pickInt(2, 4, 8, 20)))
		}
		if r.chance(35) {
			text.WriteString(".")
			if r.chance(95) {
				text.WriteString(r.digits(r.pickInt(2, 9, 25)))
			}
		}
		if r.chance(97) {
			text.WriteString(r.word(durationUnits + " h m s"))
		}
	}
	if r.chance(30) {
		return r.damage(text.String(), "0123456789..+--nuµμmshHMSdwy _,\"\\e")
	}
	return text.String()
}
