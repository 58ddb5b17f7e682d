module github.com/tidscope/tidscope/workloads/echo/load

go 1.22

require github.com/tidscope/tidscope/workloads/driver v0.0.0

require github.com/tidscope/tidscope/agents/go v0.0.0 // indirect

replace (
	github.com/tidscope/tidscope/agents/go => ../../../agents/go
	github.com/tidscope/tidscope/workloads/driver => ../../driver
)
