module tidscope.local/pooltrace

go 1.22

require (
	tidscope.local/tidscope v0.0.0
	tidscope.local/workload v0.0.0
)

replace (
	tidscope.local/tidscope => ../../../agents/go
	tidscope.local/workload => ../../driver
)
