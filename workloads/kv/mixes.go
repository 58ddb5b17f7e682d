package main

// A mix is a workload of YCSB: shares of operations, and how keys are chosen.
//
// a to f are the core workloads as published (Cooper et al., SoCC 2010, table 2, and the files
// workloads/workloada to workloadf of YCSB): records of 10 fields of 100 bytes; an update writes one
// field. g is the write-only workload of the sources' performance assignment: values of 10 kB.
type mix struct {
	read, update, insert, scan, readModifyWrite float64

	latest     bool
	wholeValue bool
	fieldBytes int
}

const (
	fields        = 10
	maxScanLength = 100
)

var mixes = map[string]mix{
	"a": {read: 0.5, update: 0.5, fieldBytes: 100},
	"b": {read: 0.95, update: 0.05, fieldBytes: 100},
	"c": {read: 1, fieldBytes: 100},
	"d": {read: 0.95, insert: 0.05, latest: true, fieldBytes: 100},
	"e": {scan: 0.95, insert: 0.05, fieldBytes: 100},
	"f": {read: 0.5, readModifyWrite: 0.5, fieldBytes: 100},
	"g": {update: 1, wholeValue: true, fieldBytes: 1000},
}
