"""libzmq's names and numbers, as pyzmq has them. All of them are public names of the package and of ``zmq``."""

import enum as _enum


class SocketType(_enum.IntEnum):
    """The type of a socket."""

    PAIR = 0
    PUB = 1
    SUB = 2
    REQ = 3
    REP = 4
    DEALER = 5
    ROUTER = 6
    PULL = 7
    PUSH = 8
    XPUB = 9
    XSUB = 10
    STREAM = 11
    SERVER = 12
    CLIENT = 13
    RADIO = 14
    DISH = 15
    GATHER = 16
    SCATTER = 17
    DGRAM = 18
    PEER = 19
    CHANNEL = 20


class Flag(_enum.IntFlag):
    """Flags of sending and receiving."""

    NOBLOCK = 1
    DONTWAIT = 1


class PollEvent(_enum.IntFlag):
    """What to poll for."""

    POLLIN = 1
    POLLOUT = 2


PAIR = SocketType.PAIR
PUB = SocketType.PUB
SUB = SocketType.SUB
REQ = SocketType.REQ
REP = SocketType.REP
DEALER = SocketType.DEALER
ROUTER = SocketType.ROUTER
PULL = SocketType.PULL
PUSH = SocketType.PUSH
XPUB = SocketType.XPUB
XSUB = SocketType.XSUB
STREAM = SocketType.STREAM
SERVER = SocketType.SERVER
CLIENT = SocketType.CLIENT
RADIO = SocketType.RADIO
DISH = SocketType.DISH
GATHER = SocketType.GATHER
SCATTER = SocketType.SCATTER
DGRAM = SocketType.DGRAM
PEER = SocketType.PEER
CHANNEL = SocketType.CHANNEL
NOBLOCK = Flag.NOBLOCK
DONTWAIT = Flag.DONTWAIT
POLLIN = PollEvent.POLLIN
POLLOUT = PollEvent.POLLOUT
