module github.com/tidscope/tidscope/workloads/driver

go 1.22

require github.com/tidscope/tidscope/agents/go v0.0.0

replace github.com/tidscope/tidscope/agents/go => ../../agents/go
