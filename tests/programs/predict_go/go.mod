module predict_go

go 1.21

require tidscope.local/predict v0.0.0

replace tidscope.local/predict => ../../../predictd/go
