# frozen_string_literal: true

# The name of a file of the gem protocol-zmtp, which is loaded where it is there.

require "sealwire/original_gems"
Sealwire::OriginalGems.load("protocol-zmtp", "protocol/zmtp/mechanism/curve", instead: "sealwire/omq")
