module predict_go

go 1.21

require github.com/tidscope/tidscope/predictd/go v0.0.0

replace github.com/tidscope/tidscope/predictd/go => ../../../predictd/go
