// A simulated vCenter server for the tests of the platform "vsphere".
//
// It prints its address and the SHA-256 of its certificate. For each line of its standard input it prints the names of all
// folders. It ends when its standard input does.
package main

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"

	"github.com/vmware/govmomi/simulator"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vcsim USER PASSWORD")
		os.Exit(2)
	}
	model := simulator.VPX()
	model.Machine = 2
	if err := model.Create(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	model.Service.Listen = &url.URL{Host: "127.0.0.1:0", User: url.UserPassword(os.Args[1], os.Args[2])}
	model.Service.TLS = new(tls.Config)
	server := model.Service.NewServer()
	fmt.Printf("%s %x\n", server.URL.Host, sha256.Sum256(server.Certificate().Raw))
	asked := bufio.NewScanner(os.Stdin)
	for asked.Scan() {
		for _, folder := range simulator.Map.All("Folder") {
			fmt.Print(folder.Entity().Name, "\t")
		}
		fmt.Println()
	}
	server.Close()
	model.Remove()
}
