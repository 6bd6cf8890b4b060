// A simulated vCenter server for the tests of the platform "vsphere".
//
// It prints its address and the SHA-256 of its certificate. For each line of its standard input it prints the names of all
// folders; the line "forget" ends all sessions before. It ends when its standard input does.
package main

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
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
		if asked.Text() == "forget" {
			forgetSessions()
		}
		for _, folder := range simulator.Map.All("Folder") {
			fmt.Print(folder.Entity().Name, "\t")
		}
		fmt.Println()
	}
	server.Close()
	model.Remove()
}

// What a server does with a session that was idle for long.
func forgetSessions() {
	ctx, manager := simulator.SpoofContext(), simulator.Map.SessionManager()
	var keys []string
	for _, session := range ctx.Session.Get(manager.Self).(*simulator.SessionManager).SessionList {
		keys = append(keys, session.Key)
	}
	manager.TerminateSession(ctx, &types.TerminateSession{SessionId: keys})
}
