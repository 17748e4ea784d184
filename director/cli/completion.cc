#include "director/cli/completion.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

enum class Kind { kAny, kFile, kFolder, kChoice };

Kind KindOf(const OptionHelp& option) {
  if (!option.choices.empty()) return Kind::kChoice;
  if (option.value == "DIR") return Kind::kFolder;
  if (option.value == "FILE" || option.value == "PATH") return Kind::kFile;
  return Kind::kAny;
}

// Puts the text in single quotes of a POSIX shell; fish accepts these as well, except for a quote
// inside.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

void All(const CommandHelp& command, std::vector<const CommandHelp*>& all) {
  all.push_back(&command);
  for (const CommandHelp& below : command.commands) All(below, all);
}

std::vector<const CommandHelp*> All(const CommandHelp& galley) {
  std::vector<const CommandHelp*> all;
  All(galley, all);
  return all;
}

// Returns "store gc" of "galley store gc"; empty for galley itself.
std::string BelowGalley(const CommandHelp& command) {
  const size_t space = command.path.find(' ');
  return space == std::string::npos ? "" : command.path.substr(space + 1);
}

// Returns plain words: no character in them means anything to a shell.
std::vector<std::string> WordsOf(const CommandHelp& command) {
  std::vector<std::string> words;
  for (const CommandHelp& below : command.commands) words.push_back(below.name);
  for (const OptionHelp& option : command.options)
    words.insert(words.end(), option.names.begin(), option.names.end());
  if (!command.arguments.empty())
    words.insert(words.end(), command.arguments[0].choices.begin(),
                 command.arguments[0].choices.end());
  return words;
}

std::string ForBash(const CommandHelp& galley) {
  std::string words, values;
  for (const CommandHelp* command : All(galley)) {
    const std::string path = BelowGalley(*command);
    words += fmt::format("    {}) words={} ;;\n", Quoted(path),
                         Quoted(fmt::format("{}", fmt::join(WordsOf(*command), " "))));
    for (const OptionHelp& option : command->options) {
      if (option.value.empty()) continue;
      std::string reply = "return";  // the values are unknown
      if (KindOf(option) == Kind::kFolder) reply = "_galley_files -d; return";
      if (KindOf(option) == Kind::kFile) reply = "_galley_files -f; return";
      if (KindOf(option) == Kind::kChoice)
        reply = fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\")); return",
                            Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      for (const std::string& name : option.names)
        values += fmt::format("    {}) {} ;;\n", Quoted(path + " " + name), reply);
    }
  }
  std::string known;
  for (const CommandHelp* command : All(galley)) {
    if (const std::string path = BelowGalley(*command); !path.empty())
      known += fmt::format("{}{}", known.empty() ? "" : "|", Quoted(path));
  }
  return fmt::format(R"sh(# bash completion of galley. Use it: source <(galley completion bash)
# For good: galley completion bash > ~/.local/share/bash-completion/completions/galley
_galley_files() {{
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}}
_galley() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" path='' word words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${{COMP_WORDS[i]}}"
    case "${{path:+$path }}$word" in
    {}) path="${{path:+$path }}$word" ;;
    esac
  done
  case "$path $prev" in
{}  esac
  case "$path" in
{}  esac
  if [[ $cur != -* ]]; then words="$(printf '%s\n' $words | grep -v '^-')"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ ${{#COMPREPLY[@]}} -eq 0 && $cur != -* ]]; then _galley_files -f; fi
}}
complete -F _galley galley
)sh",
                     known, values, words);
}

// Escapes the characters that a specification of _arguments and _describe must not hold bare.
std::string ForZshText(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string ZshActionOf(const OptionHelp& option) {
  switch (KindOf(option)) {
    case Kind::kFolder:
      return "_files -/";
    case Kind::kFile:
      return "_files";
    case Kind::kChoice:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case Kind::kAny:
      return " ";
  }
  return " ";
}

std::string ZshFunctionOf(const CommandHelp& command) {
  std::string name = "_galley";
  for (const char c : BelowGalley(command)) name += c == ' ' ? '_' : c;
  return BelowGalley(command).empty() ? name : "_galley_" + name.substr(7);
}

std::string ForZsh(const CommandHelp& galley) {
  std::string text =
      "#compdef galley\n"
      "# zsh completion of galley. Use it: source <(galley completion zsh)\n"
      "# For good: galley completion zsh > a folder of $fpath/_galley\n";
  for (const CommandHelp* command : All(galley)) {
    text += fmt::format("\n{}() {{\n", ZshFunctionOf(*command));
    std::string specs;
    for (const OptionHelp& option : command->options) {
      for (const std::string& name : option.names) {
        const std::string value =
            option.value.empty()
                ? ""
                : fmt::format(":{}:{}", ForZshText(option.value), ZshActionOf(option));
        specs += fmt::format("    {} \\\n",
                             Quoted(fmt::format("{}{}[{}]{}", option.is_repeatable ? "*" : "", name,
                                                ForZshText(option.help), value)));
      }
    }
    if (command->commands.empty()) {
      for (size_t i = 0; i < command->arguments.size(); ++i) {
        const OptionHelp& argument = command->arguments[i];
        const bool is_rest = argument.is_repeatable && i + 1 == command->arguments.size();
        const std::string action =
            KindOf(argument) == Kind::kAny ? "_files" : ZshActionOf(argument);
        specs +=
            fmt::format("    {} \\\n", Quoted(fmt::format("{}:{}:{}", is_rest ? "*" : "",
                                                          ForZshText(argument.value), action)));
      }
      text += fmt::format("  _arguments -s \\\n{}    && return 0\n}}\n", specs);
      continue;
    }
    std::string list, choose;
    for (const CommandHelp& below : command->commands) {
      list += fmt::format("    {}\n", Quoted(below.name + ":" + ForZshText(below.help)));
      choose += fmt::format("        {}) {} && ret=0 ;;\n", below.name, ZshFunctionOf(below));
    }
    text += fmt::format(
        "  local curcontext=\"$curcontext\" state line ret=1\n  typeset -A opt_args\n"
        "  local -a commands\n  commands=(\n{}  )\n"
        "  _arguments -C \\\n{}    '1: :->command' '*:: :->rest' && ret=0\n"
        "  case $state in\n    command) _describe command commands && ret=0 ;;\n"
        "    rest)\n      case $line[1] in\n{}      esac ;;\n  esac\n  return ret\n}}\n",
        list, specs, choose);
  }
  return text +
         "\nif [[ $funcstack[1] == _galley ]]; then _galley \"$@\"; else compdef _galley galley; "
         "fi\n";
}

std::string ForFishText(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe + "'";
}

std::string ForFish(const CommandHelp& galley) {
  std::string text =
      "# fish completion of galley. Use it: galley completion fish | source\n"
      "# For good: galley completion fish > ~/.config/fish/completions/galley.fish\n"
      "function __galley_at\n"
      "  set -l words (string match --invert -- '-*' (commandline -opc))\n"
      "  set -l path\n"
      "  for word in $words[2..-1]\n"
      "    contains -- (string join ' ' $path $word) $__galley_paths; and set -a path $word\n"
      "  end\n"
      "  test \"$path\" = \"$argv[1]\"\n"
      "end\n";
  std::string paths, lines;
  for (const CommandHelp* command : All(galley)) {
    const std::string path = BelowGalley(*command);
    if (!path.empty()) paths += " " + ForFishText(path);
    const std::string at = ForFishText(fmt::format("__galley_at {}", ForFishText(path)));
    for (const CommandHelp& below : command->commands)
      lines += fmt::format("complete -c galley -f -n {} -a {} -d {}\n", at, below.name,
                           ForFishText(below.help));
    for (const OptionHelp& option : command->options) {
      std::string line = fmt::format("complete -c galley -n {}", at);
      for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) line += KindOf(option) == Kind::kAny ? " -x" : " -r";
      if (KindOf(option) == Kind::kFolder) line += " -f -a '(__fish_complete_directories)'";
      if (KindOf(option) == Kind::kChoice)
        line += fmt::format(" -f -a {}",
                            ForFishText(fmt::format("{}", fmt::join(option.choices, " "))));
      lines += fmt::format("{} -d {}\n", line, ForFishText(option.help));
    }
    for (const OptionHelp& argument : command->arguments) {
      if (!argument.choices.empty())
        lines += fmt::format("complete -c galley -f -n {} -a {}\n", at,
                             ForFishText(fmt::format("{}", fmt::join(argument.choices, " "))));
    }
  }
  return fmt::format("{}set -g __galley_paths{}\n{}", text, paths, lines);
}

}  // namespace

std::string CompletionFor(std::string_view shell, const CommandHelp& galley) {
  if (shell == "bash") return ForBash(galley);
  return shell == "zsh" ? ForZsh(galley) : ForFish(galley);
}

}  // namespace galley::cli
