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

std::string WorkerCommand(const RemoteWorker& worker, std::string_view rest) {
  return fmt::format("{} worker --ticket - --slots {} {}", ShellWord(worker.program), worker.slots,
                     rest);
}

}  // namespace galley::director
