module github.com/tidscope/tidscope/tests/programs/crowded_go

go 1.21

require github.com/tidscope/tidscope/agents/go v0.0.0

replace github.com/tidscope/tidscope/agents/go => ../../../agents/go
