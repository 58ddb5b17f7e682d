module incident

go 1.24
