package main

import (
	"math/big"
	"regexp"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantities: the canonical form, Value and MilliValue, or nothing for a text that ParseQuantity refuses.
var quantities = topic{
	name:     "quantities",
	file:     "crates/values/tests/differential/quantities.jsonl.gz",
	always:   boundaryQuantities,
	generate: quantity,
	record: func(text string) []any {
		parsed, err := resource.ParseQuantity(text)
		if err != nil {
			return nil
		}
		// String returns some texts as they were written.
		number, suffix := parsed.CanonicalizeBytes(nil)
		return []any{string(number) + string(suffix), scaled(parsed, 0), scaled(parsed, resource.Milli)}
	},
}

// scaled returns ScaledValue, which is Value or MilliValue. It returns nil for an amount that does not fit 64 bits, where
// ScaledValue overflows, and the amount rounded away from zero if it is negative, where ScaledValue adds one or overflows.
func scaled(quantity resource.Quantity, scale resource.Scale) any {
	// AsDec changes the quantity.
	decimal := quantity.DeepCopy()
	rounded := new(inf.Dec).Round(decimal.AsDec(), -inf.Scale(scale), inf.RoundUp).UnscaledBig()
	if !rounded.IsInt64() {
		return nil
	}
	if quantity.Sign() < 0 {
		return rounded.Int64()
	}
	return quantity.ScaledValue(scale)
}

const quantitySuffixes = "n u m k M G T P E Ki Mi Gi Ti Pi Ei"

// boundaryQuantities has every suffix after the numbers around the limits of 64 bits.
func boundaryQuantities() []string {
	numbers := []string{"", ".", "0", "1", "1.", ".5", "1.5", "999", "1000", "1023", "1024", "1025", "0.0000000001", "1.0000000001"}
	for _, bits := range []uint{31, 32, 53, 63, 64} {
		for _, more := range []int64{-1, 0, 1} {
			number := new(big.Int).Lsh(big.NewInt(1), bits)
			numbers = append(numbers, number.Add(number, big.NewInt(more)).String())
		}
	}
	suffixes := append(strings.Fields(quantitySuffixes), "", "i", "K", "g", "B", "e", "e0", "e3", "e-9", "e-10", "E+3", "e4294967299")
	var texts []string
	for _, sign := range []string{"", "-", "+"} {
		for _, number := range numbers {
			for _, suffix := range suffixes {
				texts = append(texts, sign+number+suffix)
			}
		}
	}
	return texts
}

// An exponent for which ParseQuantity computes for minutes.
var hugeExponent = regexp.MustCompile(`[eE][-+]?[0-9]{4,}$`)

func quantity(r random) string {
	for {
		if text := anyQuantity(r); !hugeExponent.MatchString(text) {
			return text
		}
	}
}

func anyQuantity(r random) string {
	var text strings.Builder
	if r.chance(20) {
		text.WriteString(r.word("- - - +"))
	}
	switch {
	case r.chance(15):
		text.WriteString(r.near(1, 1000, 1024, 1_000_000, 1<<20, 1_000_000_000, 1<<30))
	case r.chance(10):
	default:
		text.WriteString(r.digits(r.pickInt(4, 8, 22)))
	}
	if r.chance(40) {
		text.WriteString(".")
		if r.chance(95) {
			text.WriteString(r.digits(r.pickInt(3, 12, 25)))
		}
	}
	switch {
	case r.chance(15):
	case r.chance(20):
		text.WriteString(r.word("e E") + r.word("- +") + r.digits(r.pickInt(1, 2)))
	case r.chance(10):
		text.WriteString(r.word("e E") + r.digits(r.pickInt(1, 2)))
	default:
		text.WriteString(r.word(quantitySuffixes))
	}
	if r.chance(30) {
		return r.damage(text.String(), "0123456789..++--eEinumkKMGTPB%_, xIN")
	}
	return text.String()
}
