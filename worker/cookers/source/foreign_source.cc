#include "worker/cookers/source/foreign_source.h"

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/content/lfs_pointer.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

constexpr size_t kTextMax = 24;
constexpr size_t kBytesMax = 8;

// Binary files that another cooker takes; no text begins like them.
struct BinaryKind {
  std::string_view begins;
  std::string_view then;  // anywhere in the first 12 bytes
  std::string_view name;
  std::string_view cooker;
};
constexpr BinaryKind kBinaryKinds[] = {
    {"\x89PNG\r\n\x1a\n", "", "a PNG image", "texture"},
    {"\xff\xd8\xff", "", "a JPEG image", "texture"},
    {"glTF", "", "a GLB mesh", "mesh"},
    {"RIFF", "WAVE", "a WAV sound", "audio"},
    {"OggS", "", "an Ogg sound", "audio"},
    {"fLaC", "", "a FLAC sound", "audio"},
};

bool IsPrintable(char c) { return c >= ' ' && c <= '~' && c != '`'; }

}  // namespace

std::string FirstBytes(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, std::min(bytes.find_first_of("\r\n"), kTextMax));
  if (!line.empty() && std::ranges::all_of(line, IsPrintable))
    return fmt::format("`{}{}`", line,
                       line.size() == kTextMax && bytes.size() > kTextMax ? "..." : "");
  std::string text = "the bytes";
  for (const char byte : bytes.substr(0, kBytesMax))
    text += fmt::format(" {:02x}", static_cast<uint8_t>(byte));
  return text;
}

std::string MisnamedFlaw(std::string_view extension, std::string_view bytes,
                         std::string_view announced) {
  if (bytes.empty()) return "empty";
  if (announced.empty()) return fmt::format("not what .{} files begin with", extension);
  const bool is_vowel = std::string_view("AEHIMO").find(announced[0]) != std::string_view::npos;
  return fmt::format("{} {} under the name .{}", is_vowel ? "an" : "a", announced, extension);
}

absl::Status CheckNoLfsPointer(std::string_view bytes) {
  if (!content::IsLfsPointerFile(bytes)) return absl::OkStatus();
  return VerdictError("the file is a Git LFS pointer; run `git lfs pull`");
}

absl::Status CheckNoOtherCookers(std::string_view format, std::string_view bytes) {
  for (const BinaryKind& kind : kBinaryKinds) {
    if (!bytes.starts_with(kind.begins) || bytes.substr(0, 12).find(kind.then) == bytes.npos)
      continue;
    return VerdictError(
        "the file is no {}: it is {}, which the cooker `{}` takes; set that cooker in its rule, or "
        "replace the file",
        format, kind.name, kind.cooker);
  }
  return absl::OkStatus();
}

absl::Status ForeignSource(std::string_view format, std::string_view bytes) {
  RETURN_IF_ERROR(CheckNoLfsPointer(bytes));
  RETURN_IF_ERROR(CheckNoOtherCookers(format, bytes));
  return VerdictError("the file is no {}: it begins with {}; replace or convert it, or {}", format,
                      FirstBytes(bytes), kOtherCookers);
}

}  // namespace galley::worker
