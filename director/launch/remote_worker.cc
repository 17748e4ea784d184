#include "director/launch/remote_worker.h"

#include "fmt/format.h"

namespace galley::director {

std::string ShellWord(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

// Between single quotes there is now nothing that one of these shells would change.
std::string CommandOfText(std::string_view text) {
  std::string escaped;  // for %b of printf(1)
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\\' || c == '\'' || c == '!') {
      escaped += fmt::format("\\0{:03o}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return fmt::format(R"sh(exec /bin/sh -c 'eval "$(printf %b "$0")"' '{}')sh", escaped);
}

std::string BecomeWorker(const RemoteWorker& worker, std::string_view rest) {
  return fmt::format("{} worker --ticket - --slots {} {}",
                     worker.bundle != nullptr ? "galley_exec" : "exec " + ShellWord(worker.program),
                     worker.slots, rest);
}

}  // namespace galley::director
