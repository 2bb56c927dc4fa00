module interop

go 1.20
