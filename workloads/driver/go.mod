module tidscope.local/workload

go 1.22

require tidscope.local/tidscope v0.0.0

replace tidscope.local/tidscope => ../../agents/go
