#include "worker/cookers/mesh/asset_version.h"

#include <compare>
#include <optional>
#include <string_view>

#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

struct Version {
  uint32_t major = 0;
  uint32_t minor = 0;
  auto operator<=>(const Version&) const = default;
};
constexpr Version kRead = {.major = 2, .minor = 0};

// Parses "<digits>.<digits>"; nullopt: any other text.
std::optional<Version> ParseVersion(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = ParseWhole<uint32_t>(text.substr(0, dot));
  const auto minor = ParseWhole<uint32_t>(text.substr(dot + 1));
  if (!major || !minor) return std::nullopt;
  return Version{.major = *major, .minor = *minor};
}

// Reads the version under `key`; nullopt: there is no such member.
absl::StatusOr<std::optional<Version>> ReadVersion(const Json& asset, const char* key) {
  if (Member(asset, key) == nullptr) return std::nullopt;
  ASSIGN_OR_RETURN(const std::string text, TextOr(asset, key, "", "/asset"));
  const std::optional<Version> version = ParseVersion(text);
  if (version) return version;
  return Flaw(
      fmt::format("/asset/{}", key),
      fmt::format("expected 2.0, not \"{}\", which is no version (PATTERN_MISMATCH)", text));
}

}  // namespace

absl::Status CheckAssetVersion(const Json& json, Warnings& warnings) {
  const Json* asset = Member(json, "asset");
  if (asset == nullptr) return Flaw("", "no member \"asset\"; expected glTF 2.0");
  ASSIGN_OR_RETURN(const std::optional<Version> least, ReadVersion(*asset, "minVersion"));
  ASSIGN_OR_RETURN(const std::optional<Version> version, ReadVersion(*asset, "version"));
  if (!version) return Flaw("/asset", "no member \"version\"");
  if (least && *least > kRead) {
    return Flaw("/asset/minVersion", fmt::format("the file needs a reader of glTF {}.{}, and this "
                                                 "cooker reads 2.0; export it as glTF 2.0",
                                                 least->major, least->minor));
  }
  if (version->major < kRead.major || (version->major > kRead.major && !least)) {
    return Flaw("/asset/version",
                fmt::format("expected 2.0, not {}.{}", version->major, version->minor));
  }
  if (*version > kRead) {
    warnings.Add("/asset/version: the file is of glTF {}.{}, and is read as 2.0 ({})",
                 version->major, version->minor,
                 version->major > kRead.major ? "UNKNOWN_ASSET_MAJOR_VERSION"
                                              : "UNKNOWN_ASSET_MINOR_VERSION");
  }
  return absl::OkStatus();
}

}  // namespace galley::worker::mesh
