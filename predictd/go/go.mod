module tidscope.local/predict

go 1.21
