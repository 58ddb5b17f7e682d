// Command advisor reports on the locks of Go packages, as JSON on standard output. It is started by
// `tidscope locks`, which joins the report with measured contention and gives hints.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/tidscope/tidscope/advisor/analysis"
	"github.com/tidscope/tidscope/advisor/contention"
)

// An Answer is the printed document.
type Answer struct {
	*analysis.Report
	// Contention is null without a profile.
	Contention *contention.Report `json:"contention"`
}

func main() {
	directory := flag.String("directory", ".", "where the packages are named from")
	profile := flag.String("profile", "", "mutex or block profile of the program, as pprof writes it")
	flag.Parse()
	if err := run(*directory, *profile, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(directory, profile string, patterns []string) error {
	// First: it is fast, and a wrong file is a frequent mistake.
	var samples *contention.Profile
	if profile != "" {
		read, err := contention.Read(profile)
		if err != nil {
			return err
		}
		samples = read
	}
	report, err := analysis.Analyze(directory, patterns)
	if err != nil {
		return err
	}
	answer := Answer{Report: report}
	if samples != nil {
		answer.Contention = contention.Join(samples, report)
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}
