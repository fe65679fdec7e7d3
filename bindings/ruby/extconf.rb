# frozen_string_literal: true

# Writes a Makefile that has cargo build the native part. No other gem is needed for that.

require "mkmf"

abort "sealwire needs cargo to be built: install Rust 1.89 or newer (https://rustup.rs)" unless find_executable("cargo")

here = File.expand_path(__dir__)
# Cargo's own choice where the caller made one; otherwise a folder that `make install` takes away.
target = ENV["CARGO_TARGET_DIR"]
target = File.expand_path(target) if target
own = target ? "" : "target"
target ||= File.join(Dir.pwd, "target")
library = File.join(target, "release", "#{RbConfig::CONFIG["LIBPREFIX"] || "lib"}sealwire_ruby.#{RbConfig::CONFIG["SOEXT"]}")
extension = "sealwire.#{RbConfig::CONFIG["DLEXT"]}"

File.write("Makefile", <<~MAKEFILE)
  sitearchdir = #{RbConfig::CONFIG["sitearchdir"]}
  DESTDIR =

  .PHONY: all install clean distclean

  all: #{extension}

  # Cargo knows what has to be built again.
  .PHONY: #{extension}
  #{extension}:
  \tRUBY="#{RbConfig.ruby}" CARGO_TARGET_DIR="#{target}" cargo build --release --locked --manifest-path "#{here}/Cargo.toml"
  \tcp "#{library}" "$@"

  install: all
  \tmkdir -p "$(DESTDIR)$(sitearchdir)/sealwire"
  \tcp #{extension} "$(DESTDIR)$(sitearchdir)/sealwire/"

  clean:
  \trm -rf #{extension} #{own}

  distclean: clean
  \trm -f Makefile mkmf.log
MAKEFILE
