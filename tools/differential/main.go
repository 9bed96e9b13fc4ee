// Command differential records what the Go libraries of Kubernetes and Karpenter make of generated texts. The Rust tests
// compare the readers of this repository with the record. README.md describes the files.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
)

// Number of distinct texts in each file.
const count = 100_000

// A topic is a library function, the texts that it is called with, and the file with the results.
type topic struct {
	name string
	// Path of the record below the root of the repository.
	file string
	// Texts that the record always has.
	always func() []string
	// A new text.
	generate func(random) string
	// The fields after the text in a line of the record.
	record func(text string) []any
}

var topics = []topic{durations, quantities, schedules, yamlTexts}

var root = flag.String("root", "../..", "root of the repository")

func main() {
	log.SetFlags(0)
	flag.Parse()
	for _, topic := range topics {
		if flag.NArg() > 0 && !contains(flag.Args(), topic.name) {
			continue
		}
		if err := topic.write(*root); err != nil {
			log.Fatalf("%s: %v", topic.name, err)
		}
	}
}

func contains(names []string, name string) bool {
	for _, known := range names {
		if known == name {
			return true
		}
	}
	return false
}

// texts returns distinct texts in sorted order, which is the same in every run and compresses well.
func (t topic) texts() []string {
	known := map[string]bool{}
	for _, text := range t.always() {
		known[text] = true
	}
	random := random{rand.New(rand.NewSource(1))}
	for len(known) < count {
		known[t.generate(random)] = true
	}
	texts := make([]string, 0, len(known))
	for text := range known {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	return texts
}

// write records a JSON array for each text: the text and its results.
func (t topic) write(root string) error {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(writer)
	lines.SetEscapeHTML(false)
	texts := t.texts()
	for _, text := range texts {
		if err := lines.Encode(append([]any{text}, t.record(text)...)); err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
	}
	if err := writer.Close(); err != nil {
		return err
	}
	fmt.Printf("%s: %d texts, %d bytes\n", t.name, len(texts), packed.Len())
	return os.WriteFile(filepath.Join(root, t.file), packed.Bytes(), 0o644)
}
