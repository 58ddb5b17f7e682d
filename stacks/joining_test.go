package main

import "testing"

// began is the record of a stay of thread 7, chosen at some time.
func began(stay, at uint64) record {
	return record{kind: stayBegan, stay: stay, at: at, begin: at - 1, process: 3, thread: 7, weight: 2, state: 4}
}

func ended(stay, wait, delay, waker uint64) record {
	return record{kind: stayEnded, stay: stay, begin: wait, address: delay, waker: waker}
}

func joined(j *joiner, now uint64, records []record, stacks ...unwound) []sample {
	for _, one := range records {
		j.add(one)
	}
	for _, one := range stacks {
		j.addStack(one)
	}
	return j.join(now)
}

func TestAStayIsSentOnceItHasEndedAndItsStackHasCome(t *testing.T) {
	j := newJoiner()
	if sent := joined(j, 200, []record{began(1, 100), ended(1, 50, 6, 9)}); sent != nil {
		t.Fatal("sent without its stack", sent)
	}
	sent := joined(j, 300, nil, unwound{at: 101, thread: 7, node: 5})
	want := sample{
		Number: 1, BeginNs: 99, WaitNs: 50, DelayNs: 6, Waker: 9,
		Process: 3, Thread: 7, Node: 5, Weight: 2, State: 4, Ended: 1,
	}
	if len(sent) != 1 || sent[0] != want {
		t.Fatal(sent)
	}
	if again := j.join(400); again != nil || len(j.stays) != 0 || len(j.asked) != 0 {
		t.Fatal("something is left", again)
	}
	if j.counts != [countKinds]uint64{countTaken: 1} {
		t.Fatal(j.counts)
	}
}

func TestAStackMayComeBeforeItsRecord(t *testing.T) {
	j := newJoiner()
	joined(j, 200, nil, unwound{at: 101, thread: 7, node: 5})
	sent := joined(j, 300, []record{began(1, 100), ended(1, 50, 6, 9)})
	if len(sent) != 1 || sent[0].Node != 5 {
		t.Fatal(sent)
	}
}

func TestAStackBelongsToWhatWasAskedLastBeforeItInItsThread(t *testing.T) {
	j := newJoiner()
	records := []record{began(1, 100), ended(1, 9, 0, 0), began(2, 200), ended(2, 9, 0, 0)}
	other := began(3, 150)
	other.thread = 8
	records = append(records, other, ended(3, 9, 0, 0))
	sent := joined(j, 300, records,
		unwound{at: 201, thread: 7, node: 2}, unwound{at: 101, thread: 7, node: 1},
		unwound{at: 151, thread: 8, node: 3}, unwound{at: 99, thread: 7, node: 4})
	nodes := map[uint64]uint32{}
	for _, one := range sent {
		nodes[one.Number] = one.Node
	}
	if len(nodes) != 3 || nodes[1] != 1 || nodes[2] != 2 || nodes[3] != 3 {
		t.Fatal(nodes)
	}
	// The one from before anything was asked for waits, and is counted in the end.
	j.join(100 + stackPatience)
	if j.counts[countUnasked] != 1 {
		t.Fatal(j.counts)
	}
}

func TestAReleasersStackIsApart(t *testing.T) {
	j := newJoiner()
	waker := uint64(3)<<32 | 8
	released := record{kind: stayReleased, stay: 1, at: 190, begin: 99, waker: waker}
	sent := joined(j, 300, []record{began(1, 100), released, ended(1, 90, 0, waker)},
		unwound{at: 191, thread: 8, node: 6}, unwound{at: 101, thread: 7, node: 5})
	if len(sent) != 1 || sent[0].Node != 5 || sent[0].WakerNode != 6 || sent[0].Waker != waker {
		t.Fatal(sent)
	}
}

func TestAStackThatDoesNotComeIsCountedAndNotWaitedFor(t *testing.T) {
	j := newJoiner()
	if sent := joined(j, 100+stackPatience, []record{began(1, 100), ended(1, 9, 0, 0)}); sent != nil {
		t.Fatal(sent)
	}
	sent := j.join(101 + stackPatience)
	if len(sent) != 1 || sent[0].Node != 0 || j.counts != [countKinds]uint64{countWithoutStack: 1} {
		t.Fatal(sent, j.counts)
	}
}

func TestAStackWithoutFramesIsNone(t *testing.T) {
	j := newJoiner()
	sent := joined(j, 300, []record{began(1, 100), ended(1, 9, 0, 0)}, unwound{at: 101, thread: 7})
	if len(sent) != 1 || j.counts != [countKinds]uint64{countWithoutStack: 1} {
		t.Fatal(sent, j.counts)
	}
}

func TestALongStayIsSentTwice(t *testing.T) {
	j := newJoiner()
	stack := unwound{at: 101, thread: 7, node: 5}
	if sent := joined(j, 100+openAfter-1, []record{began(1, 100)}, stack); sent != nil {
		t.Fatal("too soon", sent)
	}
	sent := j.join(100 + openAfter)
	if len(sent) != 1 || sent[0].Ended != 0 || sent[0].WaitNs != 0 || sent[0].Node != 5 {
		t.Fatal(sent)
	}
	if again := j.join(200 + openAfter); again != nil {
		t.Fatal("again", again)
	}
	last := joined(j, 300+openAfter, []record{ended(1, 0, 0, 0)})
	if len(last) != 1 || last[0].Number != sent[0].Number || last[0].Ended != 1 || last[0].WaitNs != 1 {
		t.Fatal(last)
	}
}

func TestAThreadOnACPUIsSeenThen(t *testing.T) {
	j := newJoiner()
	seen := record{kind: seenOnCPU, at: 100, process: 3, thread: 7, weight: 1, state: 1}
	sent := joined(j, 200, []record{seen}, unwound{at: 101, thread: 7, node: 5})
	if len(sent) != 1 || sent[0].BeginNs != 100 || sent[0].Ended != 1 || sent[0].WaitNs != 0 {
		t.Fatal(sent)
	}
}

func TestNobodyWakesAThreadThatCouldGoOn(t *testing.T) {
	for _, state := range []uint16{preempted, throttled} {
		j := newJoiner()
		queued := began(1, 100)
		queued.state = state
		sent := joined(j, 200, []record{queued, ended(1, 9, 0, 77)}, unwound{at: 101, thread: 7, node: 5})
		if len(sent) != 1 || sent[0].Waker != 0 {
			t.Fatal(sent)
		}
	}
}

func TestRecordsOfUnknownStaysAreNothing(t *testing.T) {
	j := newJoiner()
	released := record{kind: stayReleased, stay: 9, at: 100, waker: 8}
	if sent := joined(j, 200, []record{ended(9, 1, 1, 1), released}); sent != nil || len(j.asked) != 0 {
		t.Fatal(sent)
	}
}

func TestStaysUnderWayAreBounded(t *testing.T) {
	j := newJoiner()
	for stay := uint64(1); stay <= maxStays+2; stay++ {
		j.add(began(stay, stay))
	}
	if len(j.stays) != maxStays || j.counts[countNoRoom] != 2 {
		t.Fatal(len(j.stays), j.counts)
	}
	j.forget(func(_, _ uint32) bool { return true })
	j.join(2 * stackPatience)
	if len(j.stays) != 0 || len(j.asked) != 0 {
		t.Fatal(len(j.stays), len(j.asked))
	}
}

func TestOnlyStaysOfThreadsThatAreGoneAreForgotten(t *testing.T) {
	j := newJoiner()
	other := began(2, 100)
	other.thread = 8
	joined(j, 200, []record{began(1, 100), other})
	j.forget(func(process, thread uint32) bool { return process == 3 && thread == 8 })
	if len(j.stays) != 1 || j.stays[1] == nil {
		t.Fatal(j.stays)
	}
}

func TestStaysStandForThoseBeyondTheLimit(t *testing.T) {
	records := []record{began(1, 1), ended(1, 1, 1, 1), began(2, 2)}
	weigh(records, 4)
	if records[0].weight != 6 || records[2].weight != 6 || records[1].weight != 0 {
		t.Fatal(records)
	}
	weigh(records, 1<<40)
	if records[0].weight != maxWeight {
		t.Fatal(records)
	}
	weigh(nil, 5)
	weigh(records[1:2], 5)
}

func TestInWindowsStaysStandForThoseOutside(t *testing.T) {
	j := newJoiner()
	j.windows = 10
	sent := joined(j, 200, []record{began(1, 100), ended(1, 9, 0, 0)}, unwound{at: 101, thread: 7, node: 5})
	if len(sent) != 1 || sent[0].Weight != 20 {
		t.Fatal(sent)
	}
}
