package main

import (
	"math/big"
	"math/rand"
	"strings"
)

// A random chooses texts. The same seed makes the same choices.
type random struct{ *rand.Rand }

// chance is true in so many of a hundred calls.
func (r random) chance(percent int) bool {
	return r.Intn(100) < percent
}

// pick returns one of some texts.
func (r random) pick(texts ...string) string {
	return texts[r.Intn(len(texts))]
}

// word returns one of the words of a text.
func (r random) word(words string) string {
	return r.pick(strings.Fields(words)...)
}

// digits returns up to so many digits. Few digits are more likely than many, and zeros and nines more likely than others.
func (r random) digits(most int) string {
	length := 1 + r.Intn(1+r.Intn(most))
	var text strings.Builder
	for i := 0; i < length; i++ {
		text.WriteByte("0001234567899"[r.Intn(13)])
	}
	return text.String()
}

// near returns a decimal number close to a power of two or ten, to the largest 64-bit number, or to one of those divided
// by a unit.
func (r random) near(units ...int64) string {
	number := big.NewInt(1)
	switch r.Intn(3) {
	case 0:
		number.Lsh(number, uint(r.pickInt(7, 8, 10, 15, 16, 20, 30, 31, 32, 40, 50, 53, 60, 62, 63, 64, 65, 80)))
	case 1:
		number.Exp(big.NewInt(10), big.NewInt(int64(r.Intn(30))), nil)
	default:
		number.Lsh(number, 63)
		number.Div(number, big.NewInt(units[r.Intn(len(units))]))
	}
	number.Add(number, big.NewInt(int64(r.Intn(5)-2)))
	return number.Abs(number).String()
}

func (r random) pickInt(numbers ...int) int {
	return numbers[r.Intn(len(numbers))]
}

// Characters that look like others, or that programs treat as whitespace.
const strange = "\u00a0\u2009\u3000\ufeff\u00b5\u03bc\u0661\uff11\uff2d\u2212\u0130\u212a\t\n\r\v\f\u0085\u0000"

// damage changes a text in one or two places: it removes, doubles, swaps, replaces or inserts a character.
func (r random) damage(text string, alphabet string) string {
	chars := r.damageOnce([]rune(text), []rune(alphabet))
	if r.chance(30) {
		chars = r.damageOnce(chars, []rune(alphabet))
	}
	return string(chars)
}

func (r random) damageOnce(chars, alphabet []rune) []rune {
	at := r.Intn(len(chars) + 1)
	fresh := alphabet[r.Intn(len(alphabet))]
	if r.chance(10) {
		odd := []rune(strange)
		fresh = odd[r.Intn(len(odd))]
	}
	before, after := chars[:at], chars[at:]
	changed := append([]rune{}, before...)
	switch kind := r.Intn(5); {
	case kind == 0 || len(after) == 0:
		changed = append(append(changed, fresh), after...)
	case kind == 1:
		changed = append(changed, after[1:]...)
	case kind == 2:
		changed = append(append(changed, after[0]), after...)
	case kind == 3:
		changed = append(append(changed, fresh), after[1:]...)
	case len(after) > 1:
		changed = append(append(changed, after[1], after[0]), after[2:]...)
	default:
		changed = append(changed, after...)
	}
	return changed
}
