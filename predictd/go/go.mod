module github.com/tidscope/tidscope/predictd/go

go 1.21
