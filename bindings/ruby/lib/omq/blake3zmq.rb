# frozen_string_literal: true

# The name of a file of the gem omq-blake3zmq, which is loaded where it is there.

require "sealwire/original_gems"
Sealwire::OriginalGems.load("omq-blake3zmq", "omq/blake3zmq", instead: "sealwire/omq")
