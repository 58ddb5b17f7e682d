module example.com/contended

go 1.24
