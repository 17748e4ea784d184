#include "director/host/last_success.h"

#include <string_view>

#include "absl/strings/numbers.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kKind = "galley-last-success";
constexpr int kVersion = 1;

}  // namespace

LastSuccess::LastSuccess(const std::string& state_directory)
    : file_(JoinPath(state_directory, kLastSuccessFile)) {
  const auto bytes = ReadFile(file_);
  if (!bytes.ok()) return;
  const auto lines = Unseal(kKind, kVersion, *bytes);
  if (!lines.ok()) return;
  for (const SealedLine& line : *lines) {
    const size_t space = line.value.find(' ');
    int64_t seconds = 0;
    if (line.key != "platform" || space == std::string::npos ||
        !absl::SimpleAtoi(absl::string_view(line.value.data(), space), &seconds))
      continue;
    times_[line.value.substr(space + 1)] = absl::FromUnixSeconds(seconds);
  }
}

void LastSuccess::Note(const std::vector<std::string>& platforms, absl::Time now) {
  base::MutexLock lock(mutex_);
  for (const std::string& platform : platforms) times_[platform] = now;
}

void LastSuccess::Keep() const {
  std::vector<SealedLine> lines;
  for (const auto& [platform, time] : All())
    lines.push_back({"platform", fmt::format("{} {}", absl::ToUnixSeconds(time), platform)});
  if (const absl::Status written = WriteFileAtomic(file_, Seal(kKind, kVersion, lines));
      !written.ok())
    LogWarning("{}", MessageOf(written));
}

std::map<std::string, absl::Time> LastSuccess::All() const {
  base::MutexLock lock(mutex_);
  return times_;
}

}  // namespace galley::director
