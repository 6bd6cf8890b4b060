module vcsim

go 1.19

require github.com/vmware/govmomi v0.38.0

require github.com/google/uuid v1.6.0 // indirect
