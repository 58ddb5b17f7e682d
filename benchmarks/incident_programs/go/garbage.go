package main

import (
	"runtime/debug"
	"time"
)

type row struct {
	next *row
	id   int
}

// garbage keeps many rows and collects garbage again and again, as little may be added to them; the
// twin keeps few.
func garbage() {
	var kept []*row
	if fault {
		debug.SetGCPercent(2)
		for id := range 1_500_000 {
			kept = append(kept, &row{id: id})
		}
	}
	for number := range 2 {
		go func() {
			for id := 0; ; id++ {
				var last *row
				for range 3000 {
					last = &row{next: last, id: id}
				}
				if fault {
					kept[(id*7919+number)%len(kept)] = last
				}
				time.Sleep(2 * time.Millisecond)
			}
		}()
	}
}
