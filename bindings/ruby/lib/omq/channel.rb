# frozen_string_literal: true

# The name of a file of the gem omq, which is loaded where it is there.

require "sealwire/original_gems"
Sealwire::OriginalGems.load("omq", "omq/channel", instead: "sealwire/omq")
