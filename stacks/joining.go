package main

import "slices"

// Times of the joining, nanoseconds.
const (
	// A stack that has not come so long after it was asked for does not come any more.
	stackPatience = 2_000_000_000
	// A stay that is not over is sent after so long.
	openAfter = 500_000_000
)

// States of sampler/src/ledger/ledgers.bpf.h.
const (
	preempted = 2
	throttled = 25
)

// maxWeight bounds the weight of a stay.
const maxWeight = 1 << 24

// maxStays bounds the stays that are under way.
const maxStays = 65536

// Counters; each is the number of `what` in the table stack_counts, less 1.
const (
	countTaken = iota
	countWithoutStack
	countBeyondLimit
	countNoRoom
	countBeyondBound
	countUnasked
	countKinds
)

// A stack that was asked for: of which sample, and whose.
type asked struct {
	at       uint64
	sample   *open
	releaser bool
}

// A stack as the unwinder gives it.
type unwound struct {
	at     uint64
	thread uint32
	node   uint32
}

// A sample that is not complete.
type open struct {
	sample
	waiting int  // for stacks
	sent    bool // as one that has not ended
}

// joiner puts together records of stays and stacks. A stack belongs to what was asked for last in
// its thread before it was taken.
type joiner struct {
	stays  map[uint64]*open
	done   []*open
	asked  map[uint32][]asked
	stacks []unwound
	number uint64
	counts [countKinds]uint64
	// One of so many stays could be chosen at all, in windows of time.
	windows uint32
}

func newJoiner() *joiner {
	return &joiner{stays: map[uint64]*open{}, asked: map[uint32][]asked{}, windows: 1}
}

// chosen is how many stays began in some records.
func chosen(records []record) uint64 {
	began := uint64(0)
	for _, one := range records {
		if one.kind == stayBegan {
			began++
		}
	}
	return began
}

// wanted is how many stacks some records want, without those of clocks.
func wanted(records []record) uint64 {
	stacks := uint64(0)
	for _, one := range records {
		if one.kind == stayBegan || one.kind == stayReleased {
			stacks++
		}
	}
	return stacks
}

// weigh lets the stays among some records stand for those, too, that were beyond the limit meanwhile.
func weigh(records []record, beyond uint64) {
	began := chosen(records)
	if beyond == 0 || began == 0 {
		return
	}
	for i := range records {
		if records[i].kind == stayBegan {
			weight := uint64(records[i].weight) * (began + beyond) / began
			records[i].weight = uint32(min(weight, maxWeight))
		}
	}
}

// add takes a record in.
func (j *joiner) add(one record) {
	switch one.kind {
	case stayBegan, seenOnCPU:
		j.number++
		made := &open{sample: sample{
			Number: j.number, BeginNs: one.begin, Address: one.address,
			Process: one.process, Thread: one.thread, Weight: one.weight, State: one.state,
		}}
		if one.kind == seenOnCPU {
			made.BeginNs, made.Ended = one.at, 1
			j.done = append(j.done, made)
		} else if len(j.stays) < maxStays {
			made.Weight *= j.windows
			j.stays[one.stay] = made
		} else {
			j.counts[countNoRoom]++
			return
		}
		j.ask(one.thread, asked{at: one.at, sample: made})
	case stayReleased:
		if stay := j.stays[one.stay]; stay != nil {
			stay.Waker = one.waker
			j.ask(uint32(one.waker), asked{at: one.at, sample: stay, releaser: true})
		}
	case stayEnded:
		if stay := j.stays[one.stay]; stay != nil {
			delete(j.stays, one.stay)
			stay.WaitNs, stay.DelayNs, stay.Waker, stay.Ended = one.wait(), one.delay(), one.waker, 1
			if stay.State == preempted || stay.State == throttled {
				// Nobody wakes a thread that could go on; what the ledger has is of a wait before.
				stay.Waker = 0
			}
			// One that has ended has a length, as those that have not are sent apart by it.
			stay.WaitNs = max(stay.WaitNs, 1)
			j.done = append(j.done, stay)
		}
	}
}

func (j *joiner) ask(thread uint32, one asked) {
	one.sample.waiting++
	j.asked[thread] = append(j.asked[thread], one)
}

// addStack takes a stack in; its record may still be in the ring.
func (j *joiner) addStack(one unwound) { j.stacks = append(j.stacks, one) }

// join gives samples that are complete, and those that go on for long.
func (j *joiner) join(now uint64) []sample {
	j.stacks = slices.DeleteFunc(j.stacks, func(one unwound) bool {
		if j.match(one) {
			return true
		}
		if now > one.at+stackPatience {
			j.counts[countUnasked]++
			return true
		}
		return false
	})
	for thread, waiting := range j.asked {
		waiting = slices.DeleteFunc(waiting, func(one asked) bool {
			if now <= one.at+stackPatience {
				return false
			}
			one.sample.waiting--
			j.counts[countWithoutStack]++
			return true
		})
		if len(waiting) == 0 {
			delete(j.asked, thread)
		} else {
			j.asked[thread] = waiting
		}
	}
	var made []sample
	j.done = slices.DeleteFunc(j.done, func(one *open) bool {
		if one.waiting > 0 {
			return false
		}
		made = append(made, one.sample)
		return true
	})
	for _, one := range j.stays {
		if !one.sent && one.waiting == 0 && now > one.BeginNs+openAfter {
			one.sent = true
			made = append(made, one.sample)
		}
	}
	return made
}

// match gives a stack to what asked for it last before.
func (j *joiner) match(one unwound) bool {
	waiting := j.asked[one.thread]
	for i := len(waiting) - 1; i >= 0; i-- {
		if waiting[i].at > one.at {
			continue
		}
		if waiting[i].releaser {
			waiting[i].sample.WakerNode = one.node
		} else {
			waiting[i].sample.Node = one.node
		}
		waiting[i].sample.waiting--
		if one.node == 0 {
			j.counts[countWithoutStack]++
		} else {
			j.counts[countTaken]++
		}
		j.asked[one.thread] = slices.Delete(waiting, i, i+1)
		return true
	}
	return false
}

// forget drops stays of threads that are gone without their end having been seen.
func (j *joiner) forget(isGone func(process, thread uint32) bool) {
	for number, one := range j.stays {
		if isGone(one.Process, one.Thread) {
			delete(j.stays, number)
		}
	}
}
