#!/bin/sh
# Builds the gem from this checkout and installs it where `gem install` does (GEM_HOME).
#
# Needs Ruby 3.1 or newer with its headers (ruby-dev), libclang (libclang-dev) and Rust 1.89 or
# newer. No other gem is needed.
set -eu

cd "$(dirname "$0")"
gem=$(ruby package.rb | tail -n 1)
gem install --local --no-document --force "$gem"
