"""What a received message is given as; the numbers are those of ``src/socket/receiving.rs``."""

BYTES = 0
FRAME = 1
BYTES_LIST = 2
FRAME_LIST = 3
MESSAGE = 4
