module tidscope.local/tidscope

go 1.21
