module sealwire.example/bench/monte

go 1.21

require github.com/lithdew/monte v0.0.0-20200622090619-273283c7e8b7
