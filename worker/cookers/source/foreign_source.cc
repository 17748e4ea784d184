#include "worker/cookers/source/foreign_source.h"

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr size_t kTextMax = 24;
constexpr size_t kBytesMax = 8;

bool IsPrintable(char c) { return c >= ' ' && c <= '~' && c != '`'; }

}  // namespace

std::string FirstBytes(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, std::min(bytes.find_first_of("\r\n"), kTextMax));
  if (!line.empty() && std::all_of(line.begin(), line.end(), IsPrintable))
    return fmt::format("`{}{}`", line,
                       line.size() == kTextMax && bytes.size() > kTextMax ? "..." : "");
  std::string text = "the bytes";
  for (const char byte : bytes.substr(0, kBytesMax))
    text += fmt::format(" {:02x}", static_cast<uint8_t>(byte));
  return text;
}

absl::Status CheckNoLfsPointer(std::string_view bytes) {
  if (!bytes.starts_with("version https://git-lfs")) return absl::OkStatus();
  return absl::InvalidArgumentError("the file is a Git LFS pointer; run `git lfs pull`");
}

std::string LfsPointerWarning(const Blob& source) {
  if (source == nullptr || CheckNoLfsPointer(*source).ok()) return "";
  return "the source is a Git LFS pointer, not the file; run `git lfs pull`";
}

absl::Status ForeignSource(std::string_view format, std::string_view bytes) {
  RETURN_IF_ERROR(CheckNoLfsPointer(bytes));
  return absl::InvalidArgumentError(
      fmt::format("the file is no {}: it begins with {}; replace or convert it, or {}", format,
                  FirstBytes(bytes), kOtherCookers));
}

}  // namespace galley::worker
