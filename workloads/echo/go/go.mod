module tidscope.local/echo

go 1.22

require tidscope.local/workload v0.0.0

require tidscope.local/tidscope v0.0.0 // indirect

replace (
	tidscope.local/tidscope => ../../../agents/go
	tidscope.local/workload => ../../driver
)
