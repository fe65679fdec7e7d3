# frozen_string_literal: true

# The name of a file of the gem chacha20blake3, which is loaded where it is there.

require "sealwire/original_gems"
Sealwire::OriginalGems.load("chacha20blake3", "chacha20blake3", instead: "sealwire/chacha20blake3")
