module github.com/tidscope/tidscope/agents/go

go 1.21
