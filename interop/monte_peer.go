// A peer that speaks with Go's monte: `monte-peer server [BYTES]`, with the size of its buffer to read, or
// `monte-peer client ADDRESS`. A server prints where it listens and ends with its standard input. A client does its work, prints what it did, and ends.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/lithdew/monte"
)

// The largest payload that monte reads with the buffers it has by default.
const largest = 4076

// Answers a request with its own bytes. One that begins with "ask" has this side ask the peer in turn, and the
// answer is the peer's.
func answer(ctx *monte.Context) error {
	body := append([]byte(nil), ctx.Body()...)
	if !bytes.HasPrefix(body, []byte("ask")) {
		return ctx.Reply(body)
	}
	conn := ctx.Conn()
	reply := *ctx
	go func() {
		answer, err := conn.Request(nil, body[3:])
		if err != nil {
			answer = []byte(err.Error())
		}
		reply.Reply(answer)
	}()
	return nil
}

func serve(buffer int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &monte.Server{Handler: monte.HandlerFunc(answer), ReadBufferSize: buffer}
	ended := make(chan error)
	go func() { ended <- server.Serve(listener) }()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
	server.Shutdown()
	listener.Close()
	return <-ended
}

func payload(number int) []byte {
	return bytes.Repeat([]byte{byte(number)}, 1+number*37%largest)
}

func work(address string) error {
	client := &monte.Client{Addr: address, Handler: monte.HandlerFunc(answer)}
	defer client.Shutdown()
	for number := 0; number < 500; number++ {
		if err := client.SendNoWait(payload(number)); err != nil {
			return err
		}
	}
	var threads sync.WaitGroup
	failed := make(chan error, 8)
	for thread := 0; thread < 8; thread++ {
		threads.Add(1)
		go func(thread int) {
			defer threads.Done()
			for number := 0; number < 250; number++ {
				sent := payload(thread*1000 + number)
				answer, err := client.Request(nil, sent)
				if err == nil && !bytes.Equal(answer, sent) {
					err = errors.New("another answer than was sent")
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}(thread)
	}
	threads.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	fmt.Println("500 messages and 2000 answers")
	return nil
}

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "server":
		err = serve(0)
	case len(os.Args) == 3 && os.Args[1] == "server":
		var buffer int
		if buffer, err = strconv.Atoi(os.Args[2]); err == nil {
			err = serve(buffer)
		}
	case len(os.Args) == 3 && os.Args[1] == "client":
		err = work(os.Args[2])
	default:
		err = errors.New("usage: monte-peer server [BYTES] | client ADDRESS")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
