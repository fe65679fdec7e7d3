// Monte between two processes, for the benchmark in this folder's parent: `serve` counts and echoes,
// `send` and `call` print what they reached.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lithdew/monte"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		serve()
		return
	}
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "serve | send ADDRESS MILLIS SIZE | call ADDRESS MILLIS IN_FLIGHT")
		os.Exit(2)
	}
	number, err := strconv.Atoi(os.Args[4])
	check(err)
	millis, err := strconv.Atoi(os.Args[3])
	check(err)
	client := &monte.Client{Addr: os.Args[2]}
	turn := time.Duration(millis) * time.Millisecond
	if os.Args[1] == "send" {
		send(client, turn, make([]byte, number))
	} else {
		call(client, turn, number)
	}
	// Shutting down waits for its connections; what was measured is printed.
	os.Exit(0)
}

// Prints where it listens, then for each line of its input how many messages have come and when.
func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	var count uint64
	server := monte.Server{Handler: monte.HandlerFunc(func(ctx *monte.Context) error {
		if len(ctx.Body()) == 64 {
			return ctx.Reply(ctx.Body())
		}
		atomic.AddUint64(&count, 1)
		return nil
	})}
	fmt.Println(listener.Addr())
	go func() { check(server.Serve(listener)) }()
	started := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(atomic.LoadUint64(&count), time.Since(started).Nanoseconds())
	}
}

// Sends without waiting, but no more ahead of the connection than 10,000 messages. A line of its
// output says that it is warm, the next that it is done; it waits for a line of its input after each.
func send(client *monte.Client, turn time.Duration, body []byte) {
	conn, err := client.Get()
	check(err)
	lines := bufio.NewScanner(os.Stdin)
	for _, part := range []time.Duration{turn / 4, turn} {
		for started := time.Now(); time.Since(started) < part; {
			for i := 0; i < 64; i++ {
				check(conn.SendNoWait(body))
			}
			for conn.NumPendingWrites() > 10000 {
				time.Sleep(50 * time.Microsecond)
			}
		}
		fmt.Println("done")
		lines.Scan()
	}
}

// Prints calls a second of 64 bytes.
func call(client *monte.Client, turn time.Duration, inFlight int) {
	conn, err := client.Get()
	check(err)
	var done uint64
	var callers sync.WaitGroup
	started := time.Now()
	for i := 0; i < inFlight; i++ {
		callers.Add(1)
		go func() {
			defer callers.Done()
			body, answer := make([]byte, 64), []byte(nil)
			for time.Since(started) < turn {
				answer, err := conn.Request(answer[:0], body)
				check(err)
				if len(answer) != 64 {
					check(fmt.Errorf("an answer of %d bytes", len(answer)))
				}
				atomic.AddUint64(&done, 1)
			}
		}()
	}
	callers.Wait()
	fmt.Printf("%f\n", float64(done)/time.Since(started).Seconds())
}
