#!/usr/bin/env ruby
# frozen_string_literal: true

# Makes the API reference in doc/, from the signatures and comments of sig/: `rake doc`.
#
# Most of the gem is in Rust, where RDoc finds nothing. So the signatures become Ruby without bodies, in a
# folder of its own, and that is what RDoc reads.

# The API as sig/ has it.
class Reference
  # A method or constant: `owner` is the name of its class, with a dot behind for methods of the class itself.
  Entry = Struct.new(:owner, :name, :comment, :types) do
    def to_ruby
      comment = self.comment + ["", *types.map { |type| "  #{type}" }]
      indented = comment.map { |line| "# #{line}".rstrip }
      [*indented, owner.end_with?(".") ? "def self.#{name}(*) end" : "def #{name}(*) end", ""].join("\n")
    end
  end

  attr_reader :entries, :stubs

  # Comments of classes are before them, as those of methods.
  attr_reader :classes

  def initialize(files)
    @entries = []
    @classes = {}
    @stubs = files.to_h { |file| [File.basename(file, ".rbs"), read(File.readlines(file, chomp: true))] }
  end

  private

  def read(lines)
    @scope = []
    @comment = []
    @output = []
    @hidden = false
    until lines.empty?
      line = lines.shift.strip
      types = [line]
      types << lines.shift.strip while lines.first&.strip&.start_with?("|")
      take(line, types)
    end
    @output.join("\n")
  end

  def take(line, types)
    case line
    when /\A# ?(.*)/ then return @comment << $1
    when /\A(class|module|interface) (\w+)/ then open_scope($1, $2, line)
    when "end" then close_scope
    when /\Adef (self\.)?([^:\s]+=|[^:\s]+):/ then entry($1, $2, types)
    when /\Aattr_(reader|writer|accessor) (self\.)?(\w+):/ then attribute($1, $2, $3, types)
    when /\A([A-Z]\w*): / then @output << "#{$1} = nil"
    when /\Ainclude (\w+)/ then @output << "include #{$1}"
    end
    @comment = []
  end

  def open_scope(kind, name, line)
    @scope << name
    @hidden = true if kind == "interface"
    return if @hidden

    @classes[@scope.join("::")] = @comment
    @output.concat(@comment.map { |text| "# #{text}" }) << line.sub(/\Ainterface/, "module")
  end

  def close_scope
    @scope.pop
    @output << "end" unless @hidden
    @hidden = false
  end

  def attribute(kind, of_class, name, types)
    entry(of_class, name, types) unless kind == "writer"
    entry(of_class, "#{name}=", types) unless kind == "reader"
  end

  def entry(of_class, name, types)
    return if @hidden

    owner = @scope.join("::")
    owner += "." if of_class
    @entries << Entry.new(owner, name, @comment, types)
    @output << @entries.last.to_ruby
  end
end

if $PROGRAM_NAME == __FILE__
  require "fileutils"
  require "rdoc"

  here = __dir__
  folder = File.join(here, "pkg", "reference")
  FileUtils.rm_rf(folder)
  FileUtils.mkdir_p(folder)
  reference = Reference.new(Dir[File.join(here, "sig", "*.rbs")].sort)
  reference.stubs.each { |name, text| File.write(File.join(folder, "#{name}.rb"), text) }
  FileUtils.cp(File.join(here, "README.md"), folder)
  Dir.chdir(folder) do
    RDoc::RDoc.new.document(
      ["--quiet", "--force-output", "--output", File.join(here, "doc"), "--main", "README.md", "--title", "Sealwire for Ruby", "README.md",
       *reference.stubs.keys.map { |name| "#{name}.rb" }]
    )
  end
  FileUtils.rm_rf(folder)
  puts File.join(here, "doc", "index.html")
end
