package main

import (
	"testing"

	"github.com/cilium/ebpf/asm"
	"go.opentelemetry.io/ebpf-profiler/support"
)

func TestReadsOfRegistersAreReplacedOnly(t *testing.T) {
	read := asm.LoadMem(asm.R2, asm.R6, 160, asm.DWord)
	copied := asm.Mov.Reg(asm.R6, asm.R1)
	cases := map[string]struct {
		code asm.Instructions
		want int
	}{
		"copied": {asm.Instructions{copied, read}, 1},
		"kept on the stack": {asm.Instructions{
			asm.StoreMem(asm.RFP, -16, asm.R1, asm.DWord),
			asm.FnKtimeGetNs.Call(),
			asm.LoadMem(asm.R6, asm.RFP, -16, asm.DWord), read,
		}, 1},
		"overwritten on the stack": {asm.Instructions{
			asm.StoreMem(asm.RFP, -16, asm.R1, asm.DWord),
			asm.StoreMem(asm.RFP, -12, asm.R0, asm.Word),
			asm.LoadMem(asm.R6, asm.RFP, -16, asm.DWord), read,
		}, 0},
		"lost in a call": {asm.Instructions{
			asm.FnKtimeGetNs.Call(), copied, read,
		}, 0},
		"another value":     {asm.Instructions{copied, asm.FnKtimeGetNs.Call(), asm.Mov.Reg(asm.R6, asm.R0), read}, 0},
		"a place behind it": {asm.Instructions{copied, asm.Add.Imm(asm.R6, 8), read}, 0},
		"another value on one of two ways": {asm.Instructions{
			copied, {OpCode: asm.JEq.Op(asm.ImmSource), Dst: asm.R1, Offset: 2},
			asm.LoadImm(asm.R6, 1<<40, asm.DWord), read,
		}, 0},
		"the same on two ways": {asm.Instructions{
			copied, {OpCode: asm.JEq.Op(asm.ImmSource), Dst: asm.R1, Offset: 2},
			asm.LoadImm(asm.R7, 1<<40, asm.DWord), read,
		}, 1},
		"on a way back": {asm.Instructions{
			copied, read, asm.Mov.Reg(asm.R6, asm.R0),
			{OpCode: asm.JEq.Op(asm.ImmSource), Dst: asm.R0, Offset: -3},
		}, 0},
	}
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			code := append(one.code, asm.Return())
			if found := withoutRegisters(code); found != one.want {
				t.Fatal(found, code)
			}
		})
	}
}

func TestTheUnwinderReadsRegistersInItsEntryOnly(t *testing.T) {
	spec, err := support.LoadCollectionSpec()
	if err != nil {
		t.Fatal(err)
	}
	if found := withoutRegisters(spec.Programs[entryName].Instructions); found < 2 {
		t.Fatal(found, "reads in the entry")
	}
	for name := range callNumbers {
		if found := withoutRegisters(spec.Programs[name].Instructions); found != 0 {
			t.Fatal(found, "reads in", name)
		}
	}
}
