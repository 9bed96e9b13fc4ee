package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// YAML: the documents that kubectl reads, each as a text of JSON, and the error that ends the reading.
var yamlTexts = topic{
	name:     "yaml",
	file:     "crates/manifest/tests/differential/yaml.jsonl.gz",
	always:   suite,
	generate: yamlText,
	record:   recordYAML,
}

// recordYAML reads a text like kubectl: it splits the text at its `---` lines, converts the documents, and skips null.
func recordYAML(text string) []any {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	documents := []string{}
	for {
		document, err := reader.Read()
		if err == io.EOF {
			return []any{documents}
		}
		var converted []byte
		if err == nil {
			converted, err = yaml.YAMLToJSON(document)
		}
		if err != nil {
			return []any{documents, reason(err)}
		}
		if string(converted) != "null" {
			documents = append(documents, string(converted))
		}
	}
}

var (
	place  = regexp.MustCompile(`line [0-9]+: `)
	quoted = regexp.MustCompile("(?s)[`:] ?.*")
)

// reason returns an error without its line and without the text that it quotes.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	return quoted.ReplaceAllString(place.ReplaceAllString(text, ""), "")
}

// suite returns the texts of the YAML test suite.
func suite() []string {
	file, err := os.Open(*root + "/crates/manifest/tests/yaml-test-suite/cases.jsonl")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var texts []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ YAML string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			panic(err)
		}
		texts = append(texts, line.YAML)
	}
	return texts
}

var suiteTexts []string

const yamlAlphabet = "ab01 \n\n  \n ::--??,[]{}&*!|>'\"%@`#~\t<=\\.+_\r"

func yamlText(r random) string {
	if suiteTexts == nil {
		suiteTexts = suite()
	}
	var text string
	var block bool
	switch {
	case r.chance(25):
		text = r.plain()
	case r.chance(15):
		text = r.quoted()
	case r.chance(10):
		text, block = r.blockScalar(""), true
	case r.chance(20):
		text = r.flow(2)
	case r.chance(10):
		text, block = r.merges(), true
	case r.chance(8):
		return r.damage(r.pick(manifests...), yamlAlphabet)
	case r.chance(70):
		text, block = r.block(2, ""), true
	default:
		return r.damage(r.pick(suiteTexts...), yamlAlphabet)
	}
	switch {
	case block:
	case r.chance(60):
		text = "a: " + text
	case r.chance(50):
		text = "a:\n- " + text
	case r.chance(80):
		text = text + ": 1"
	}
	if r.chance(3) {
		text = r.pick("---\n", "---\n", "--- # c\n", "--- ", "# c\n", "\n", "---\n---\n", "b: 1\n---\n", "%YAML 1.1\n---\n", "\ufeff", " ") + text
	}
	if r.chance(3) {
		text += r.pick("\n", "\n...\n", "\n---\n", "\n---\nb: 1\n", "\n--- 1\n", " # c", "\n# c\n", "\n...\nx", "\r\n", "\t")
	}
	if r.chance(20) {
		return r.damage(text, yamlAlphabet)
	}
	return text
}

// plain returns an unquoted scalar: a number, a word with a meaning in YAML 1.1, or a text.
func (r random) plain() string {
	switch r.Intn(8) {
	case 0:
		word := r.word("y n yes no on off true false null ~ .inf .nan none never")
		return r.pick(word, strings.ToUpper(word), strings.Title(word), r.word("- + .")+word, word+"e")
	case 1:
		return r.word("- + . 0 0x 0X 0o 0b 0B 0_ _ -0x +0b -0 0xg 0b2 08 0o8 0b- -0x +0x") + r.digits(r.pickInt(2, 6, 24))
	case 2:
		return r.pick("", "-", "+") + r.near(1, 1000, 2) + r.pick("", "", ".0", "e0", ".5")
	case 3:
		return r.pick("", "-", "+") + r.digits(6) + r.pick("", ".", "."+r.digits(4)) + r.pick("", "e", "E", "e+", "e-") + r.digits(r.pickInt(1, 1, 2, 3))
	case 4:
		return r.pick("", "-", ".") + r.digits(3) + r.word("_ : . , - / %") + r.digits(3) + r.pick("", "_", ":"+r.digits(2), "s")
	case 5:
		return r.pick("2024-02-29", "2001-12-14t21:59:43.10-05:00", "12:30:45", "1Gi", "100m", "720h", "<<", "=", "al2023@latest", "0 9 * * 1-5")
	case 6:
		return r.tag() + r.pick(" ", " ", "") + r.pick(r.digits(3), "yes", "a", "", "1.5", "\"1\"", "'x'", "0x1f", "~", "aGk=", "[1]", "{a: 1}")
	}
	return r.pick("a", "b c", "a:b", "a#b", "a #b", "- a", "? a", "!", "&", "*", "a: b", "a :b", "@a", "`a", "%a", "|a", ">", "{", "}", "]", "[a", "é", "\U0001f600", "\u00a0", "a\tb", "\ta", "--- a", "...", "-a", "?a", ":a", "::", "-", "?", ":")
}

func (r random) tag() string {
	return r.word("!!str !!str !!int !!float !!bool !!null !!map !!seq !!binary !!timestamp !!merge !!set ! !local !e!x !<tag:yaml.org,2002:str> !<x> !!x")
}

// quoted returns a scalar in quotes, with escapes and folded lines.
func (r random) quoted() string {
	quote := r.pick("'", "\"", "\"")
	var text strings.Builder
	text.WriteString(quote)
	for i := r.Intn(4); i >= 0; i-- {
		text.WriteString(r.pick("a", "1", " ", "''", "\\n", "\\t", "\\\"", "\\\\", "\\/", "\\x41", "\\u00e9", "\\u2028", "\\U0001f600", "\\0", "\\e", "\\N", "\\_", "\\L", "\\P",
			"\\a", "\\b", "\\v", "\\f", "\\r", "\\ ", "\\x4", "\\ud83d", "\\U00110000", "\\q", "\\'", "\n", "\n\n", " \n ", "\\\n  ", "\n---\n", ": ", " #", "é", "\t", "\r\n"))
	}
	return text.String() + quote
}

// blockScalar returns a literal or folded scalar as the value of a key.
func (r random) blockScalar(indent string) string {
	var text strings.Builder
	text.WriteString(r.pick("a: ", "a: ", "a:\n- ") + r.word("| >") + r.pick("", "", "", "-", "+", "2", "1-", "+1", "0", "3", "22", " # c", "x"))
	for i := r.Intn(4); i >= 0; i-- {
		text.WriteString("\n" + indent + r.pick("", " ", "  ", "  ", "  ", "   ", "\t") + r.pick("", "a", "b", "# c", "- 1", "x: y", "...", "---", "a ", "\ta"))
	}
	return text.String() + r.pick("", "\n", "\n\n", "\nb: 1")
}

// simple returns a short scalar, an alias, or a value with an anchor.
func (r random) simple() string {
	switch r.Intn(12) {
	case 0:
		return r.plain()
	case 1:
		return r.quoted()
	case 2:
		return "&" + r.word("x y") + " " + r.word("1 a ~ on")
	case 3:
		return "*" + r.word("x y")
	case 4:
		return ""
	}
	return r.word("1 a b on ~ 1.0 'a' \"b\" {} [] x")
}

func (r random) key() string {
	switch r.Intn(10) {
	case 0:
		return r.plain()
	case 1:
		return r.simple()
	case 2:
		return "<<"
	case 3:
		return r.word("1 1.5 on ~ null 0x10 1e3 .5 1.0 true 1e21 123456789.5 .inf 0.1 1e-7 16777217.5 -1 ''")
	}
	return r.word("a b c d 'a' \"b\"")
}

// flow returns a collection in brackets.
func (r random) flow(depth int) string {
	var parts []string
	mapping := r.chance(50)
	for i := r.Intn(4); i > 0; i-- {
		value := r.simple()
		if depth > 0 && r.chance(25) {
			value = r.flow(depth - 1)
		}
		if mapping != r.chance(10) {
			value = r.pick("", "", "? ", "&x ", "!!str ") + r.key() + r.pick(": ", ": ", ": ", ":", " : ", "", ":\n ") + value
		}
		parts = append(parts, value)
	}
	text := strings.Join(parts, r.pick(", ", ",", " , ", ",\n", ",\n  ")) + r.pick("", "", "", ",", " ", "\n", ",,")
	if mapping {
		return r.pick("", "", "", "&x ", "&y ", "!!map ") + "{" + text + "}"
	}
	return r.pick("", "", "", "&x ", "!!seq ") + "[" + text + "]"
}

// merges returns mappings with anchors, and a mapping that merges them.
func (r random) merges() string {
	member := func() string { return r.word("a b c d") + ": " + r.word("1 2 3 4") }
	var text strings.Builder
	text.WriteString("x: &x {" + member() + ", " + member() + "}\n")
	text.WriteString("y: &y {" + r.pick(member(), "<<: *x, "+member(), member()+", <<: *x") + ", " + member() + "}\nz:\n")
	for i := 1 + r.Intn(3); i >= 0; i-- {
		merge := r.pick("*x", "*y", "[*x, *y]", "[*y, *x]", "["+r.pick("*x, ", "")+"{"+member()+"}]", "{"+member()+"}", "[]", "~", "1", "[*x, 1]", "*z", "{<<: *y}")
		text.WriteString(r.pick("  "+member(), "  "+member(), "  <<: "+merge, "  <<: "+merge, "  \"<<\": "+merge, "  !!merge <<: "+merge, "  *x : 1", "  k: *y") + "\n")
	}
	return text.String()
}

var manifests = []string{
	"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec:\n  limits: {cpu: 10}\n  disruption:\n    budgets:\n    - nodes: 10%\n      schedule: \"0 9 * * 1-5\"\n",
	"kind: EC2NodeClass\nspec:\n  role: 'a'\n  userData: |\n    #!/bin/sh\n    echo a: b\n\n    exit\n  tags:\n    on: yes # c\n",
	"- key: a/b\n  operator: In\n  values: [\"a\", b]\n- {key: c, operator: Exists}\n",
	"kind: List\nitems:\n  - metadata:\n      name: a\n      labels: &l\n        app: a\n  - metadata:\n      labels:\n        <<: *l\n---\nkind: NodePool\n",
}

// block returns a mapping or a list in block style, with a line for each entry.
func (r random) block(depth int, indent string) string {
	var text strings.Builder
	mapping := r.chance(65)
	for i := r.Intn(3); i >= 0; i-- {
		text.WriteString(indent)
		if mapping {
			text.WriteString(r.pick("", "", "", "", "", "", "", "? ", "&y ", "!!str ") + r.key() + r.pick(":", ":", ":", ":", ":", ":", " :", "\n:"))
		} else {
			text.WriteString("-")
		}
		deeper := indent + r.pick("  ", "  ", " ", "", "\t")
		switch {
		case depth > 0 && r.chance(30):
			nested := r.block(depth-1, deeper)
			if !mapping && r.chance(50) {
				text.WriteString(" " + strings.TrimPrefix(nested, deeper))
			} else {
				text.WriteString(r.pick("", "", " &x", " &y", " !!map", " # c") + "\n" + nested)
			}
		case r.chance(15):
			text.WriteString(" " + r.flow(1) + "\n")
		case r.chance(8):
			text.WriteString(" " + strings.TrimPrefix(r.blockScalar(deeper), "a: ") + "\n")
		case r.chance(8):
			text.WriteString(" a\n" + deeper + "b\n")
		default:
			text.WriteString(r.pick(" ", " ", " ", " ", "  ", "", "\t") + r.simple() + r.pick("", "", "", " # c", " ") + "\n")
		}
		if r.chance(5) {
			text.WriteString(r.pick("\n", "# c\n", "  # c\n", " \n", "\t\n"))
		}
	}
	return text.String()
}
