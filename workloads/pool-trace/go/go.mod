module github.com/tidscope/tidscope/workloads/pool-trace/go

go 1.22

require (
	github.com/tidscope/tidscope/agents/go v0.0.0
	github.com/tidscope/tidscope/workloads/driver v0.0.0
)

replace (
	github.com/tidscope/tidscope/agents/go => ../../../agents/go
	github.com/tidscope/tidscope/workloads/driver => ../../driver
)
