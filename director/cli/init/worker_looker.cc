#include "director/cli/init/worker_looker.h"

#include <algorithm>
#include <string_view>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

// So many files go to one program: what it says is held in memory.
constexpr size_t kFilesAtOnce = 100;

std::string TextOf(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Look LookOf(const nlohmann::json& json) {
  Look look = {.takes = json.value("takes", false),
               .why_not = TextOf(json, "why_not"),
               .pixels = TextOf(json, "pixels")};
  const auto tags = json.find("tags");
  if (tags == json.end() || !tags->is_object() || look.pixels.empty()) return look;
  look.has_alpha = tags->value("alpha", false);
  look.is_flat = tags->value("flat", false);
  look.channel_bits = tags->value("bits", 8);
  return look;
}

}  // namespace

std::map<std::string, Look> WorkerLooker::LookAt(const LookAsk& ask) {
  std::map<std::string, Look> looks;
  for (size_t begin = 0; begin < ask.paths.size() && trouble_.empty(); begin += kFilesAtOnce) {
    if (used_ >= options_.time_max) {
      trouble_ = fmt::format("the time was up ({})", absl::FormatDuration(options_.time_max));
      break;
    }
    const absl::Time start = absl::Now();
    LookAtSome(ask, begin, std::min(begin + kFilesAtOnce, ask.paths.size()), looks);
    used_ += absl::Now() - start;
  }
  return looks;
}

void WorkerLooker::LookAtSome(const LookAsk& ask, size_t begin, size_t end,
                              std::map<std::string, Look>& looks) {
  ProgramToRun program{
      .argv = {options_.program, "describe", "--cooker", ask.cooker, "--settings", ask.settings},
      .environment = {},
      .is_silent = true,
      .wait_max = std::max(options_.time_max - used_, absl::Seconds(1)),
      .output_bytes_max = 64 << 20};
  for (const auto& [path, folder] : ask.mounts) {
    program.argv.emplace_back("--mount");
    program.argv.push_back(fmt::format(
        "{}={}", path, folder.empty() ? options_.directory : JoinPath(options_.directory, folder)));
  }
  program.argv.insert(program.argv.end(), {"--look", "-"});
  const std::string prefix = options_.directory + "/";
  for (size_t i = begin; i < end; ++i) program.input += prefix + ask.paths[i] + "\n";
  const auto ended = RunToEnd(program);
  if (!ended.ok() || !ended->exit.ok()) {
    trouble_ = ended.ok() ? ended->exit.ToString() : MessageOf(ended.status());
    return;
  }
  for (std::string_view rest = ended->output; !rest.empty();) {
    const size_t line_end = std::min(rest.find('\n'), rest.size());
    const auto json = nlohmann::json::parse(rest.substr(0, line_end), nullptr, false);
    rest.remove_prefix(std::min(line_end + 1, rest.size()));
    const std::string file = json.is_object() ? TextOf(json, "file") : "";
    if (!file.starts_with(prefix) || json.contains("failed")) continue;
    looks[file.substr(prefix.size())] = LookOf(json);
  }
}

}  // namespace galley::init
