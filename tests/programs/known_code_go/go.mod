module example.com/knowncode

go 1.24
