#include "worker/cookers/command/tool.h"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>
#include <string_view>
#include <vector>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr int kInterpretersMax = 4;  // the kernel's own limit on scripts run by scripts

std::vector<std::string> Candidates(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> places;
  std::istringstream folders{std::string(kSearchPath)};
  for (std::string folder; std::getline(folders, folder, ':');)
    places.push_back(folder + "/" + name);
  return places;
}

// The words of a "#!" line; empty when the file is no script.
std::vector<std::string> InterpreterLine(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[256];
  const ssize_t count = file.valid() ? ::read(file.get(), buffer, sizeof(buffer)) : 0;
  const std::string_view head(buffer, count > 0 ? static_cast<size_t>(count) : 0);
  if (!head.starts_with("#!")) return {};
  std::istringstream line(std::string(
      head.substr(2, head.find('\n') == std::string_view::npos ? head.npos : head.find('\n') - 2)));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

absl::StatusOr<std::string> Find(CookContext& context, const std::string& name, int depth) {
  for (const std::string& place : Candidates(name)) {
    const absl::StatusOr<std::string> found = context.Tool(place);
    if (absl::IsNotFound(found.status())) continue;
    if (!found.ok()) return found.status();
    std::vector<std::string> words = InterpreterLine(*found);
    if (words.empty() || depth == kInterpretersMax) return found;
    auto interpreter = Find(context, words[0], depth + 1);
    if (!interpreter.ok()) return Annotate(interpreter.status(), "interpreter of " + place);
    if (words[0].ends_with("/env")) {
      const size_t program = words.size() > 1 && words[1] == "-S" ? 2 : 1;
      if (program >= words.size()) return found;
      auto run_by_env = Find(context, words[program], depth + 1);
      if (!run_by_env.ok()) return Annotate(run_by_env.status(), "interpreter of " + place);
    }
    return found;
  }
  return absl::InvalidArgumentError(
      name.find('/') != std::string::npos
          ? fmt::format("there is no program {} (relative paths begin at galley.toml)", name)
          : fmt::format("there is no program {} in {}", name, kSearchPath));
}

}  // namespace

absl::StatusOr<std::string> FindTool(CookContext& context, const std::string& name) {
  return Find(context, name, 0);
}

}  // namespace galley::worker
