#include "director/cli/man_page.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

// Escapes a text for roff: no backslash, hyphen or leading dot means anything.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == '\\') {
      plain += "\\e";
    } else if (c == '-') {
      plain += "\\-";
    } else {
      plain += c;
    }
  }
  if (plain.starts_with('.') || plain.starts_with('\'')) plain.insert(0, "\\&");
  return plain;
}

std::string ArgumentText(const OptionHelp& argument) {
  std::string text = argument.choices.empty() ? argument.value
                                              : fmt::format("{}", fmt::join(argument.choices, "|"));
  if (argument.is_repeatable) text += " ...";
  return argument.is_required ? text : "[" + text + "]";
}

void WriteOptions(const CommandHelp& command, std::string& page) {
  for (const OptionHelp& option : command.options) {
    std::string names;
    for (const std::string& name : option.names)
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Plain(name));
    const std::string value =
        option.choices.empty() ? option.value : fmt::format("{}", fmt::join(option.choices, "|"));
    if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", Plain(value));
    page += fmt::format(".TP\n{}\n{}.\n", names, Plain(option.help));
  }
}

void Write(const CommandHelp& command, std::string& page) {
  if (command.commands.empty() && command.path.find(' ') != std::string::npos) {
    std::string synopsis = fmt::format(".B {}", Plain(command.path));
    for (const OptionHelp& argument : command.arguments)
      synopsis += fmt::format("\n.I {}", Plain(ArgumentText(argument)));
    page +=
        fmt::format(".SS {}\n{}\n.PP\n{}.\n", Plain(command.path), synopsis, Plain(command.help));
    for (const OptionHelp& argument : command.arguments)
      page += fmt::format(".TP\n\\fI{}\\fR\n{}.\n", Plain(argument.value), Plain(argument.help));
    WriteOptions(command, page);
  }
  for (const CommandHelp& below : command.commands) Write(below, page);
}

}  // namespace

std::string ManPage(const CommandHelp& galley, std::string_view version) {
  std::string page = fmt::format(
      ".TH GALLEY 1 \"\" \"{}\" \"Galley\"\n.SH NAME\ngalley \\- {}\n.SH SYNOPSIS\n.B galley\n"
      ".I COMMAND\n[\\fIoptions\\fR]\n.SH OPTIONS\n",
      Plain(version), "a distributed asset cooker");
  WriteOptions(galley, page);
  page += ".SH COMMANDS\n";
  Write(galley, page);
  page +=
      ".SH EXIT STATUS\n.TP\n0\nWhat was asked for is there.\n.TP\n1\nSomething failed; the rest "
      "is "
      "done.\n.TP\n2\nThe command line or galley.toml is wrong.\n.TP\n3\nThe machine is at fault: "
      "disk, network, a lost worker.\n.TP\n130\nInterrupted.\n";
  return page;
}

}  // namespace galley::cli
