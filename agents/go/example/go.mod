module tidscope.local/example

go 1.21

require tidscope.local/tidscope v0.0.0

replace tidscope.local/tidscope => ../
