#include "director/host/cook_numbers.h"

#include <algorithm>
#include <charconv>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string FileOf(const std::string& state_directory) {
  return JoinPath(JoinPath(state_directory, kCooksFolder), "last");
}

}  // namespace

uint64_t TakeCookNumber(const std::string& state_directory, uint32_t term, uint64_t last) {
  const uint64_t number =
      std::max<uint64_t>(term, std::max(last, LastCookNumber(state_directory)) + 1);
  absl::Status written = MakeOwnFolder(JoinPath(state_directory, kCooksFolder));
  if (written.ok()) written = WriteFileAtomic(FileOf(state_directory), fmt::format("{}\n", number));
  if (!written.ok()) LogWarning("cook={} its number is not kept: {}", number, MessageOf(written));
  return number;
}

uint64_t LastCookNumber(const std::string& state_directory) {
  const absl::StatusOr<std::string> text = ReadFile(FileOf(state_directory), 64);
  if (!text.ok()) return 0;
  uint64_t number = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool is_whole = read.ec == std::errc() && read.ptr != text->data() && *read.ptr == '\n';
  return is_whole && number < UINT32_MAX ? number : 0;
}

}  // namespace galley::director
