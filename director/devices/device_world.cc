#include "director/devices/device_world.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "fmt/format.h"

namespace galley::devices {
namespace {

constexpr std::string_view kWorldHead = "galley-world";

bool IsWorldName(std::string_view name) {
  const auto is_control = [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); };
  return !name.empty() && name.size() <= kWorldNameBytesMax && IsUtf8(name) &&
         std::ranges::none_of(name, is_control);
}

// Takes the line `<key> <value>` from the front of `rest`.
absl::StatusOr<std::string_view> TakeWorldLine(std::string_view key, std::string_view& rest) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos || rest.size() <= key.size() || !rest.starts_with(key) ||
      rest[key.size()] != ' ') {
    return InvalidArgumentError("a world's file has no line `{}` where it must be", key);
  }
  const std::string_view value = rest.substr(key.size() + 1, end - key.size() - 1);
  rest.remove_prefix(end + 1);
  return value;
}

}  // namespace

absl::Status ValidateDeviceWorld(const DeviceWorld& world) {
  if (world.cultures.size() > kWorldCulturesMax) {
    return InvalidArgumentError("{} cultures, at most {}", world.cultures.size(),
                                kWorldCulturesMax);
  }
  if (!IsWorldName(world.project)) return absl::InvalidArgumentError("project: not a plain name");
  if (!IsWorldName(world.platform)) return absl::InvalidArgumentError("platform: not a plain name");
  if (!std::ranges::all_of(world.cultures, IsWorldName)) {
    return absl::InvalidArgumentError("culture: not a plain name");
  }
  const bool ascend =
      std::ranges::adjacent_find(world.cultures, std::greater_equal<>()) == world.cultures.end();
  return ascend ? absl::OkStatus()
                : absl::InvalidArgumentError("cultures: not sorted, or one of them twice");
}

std::string EncodeDeviceWorld(const DeviceWorld& world) {
  GALLEY_CHECK(ValidateDeviceWorld(world).ok());
  std::string text = fmt::format("{} {}\nproject {}\nplatform {}\n", kWorldHead,
                                 kDeviceWorldVersion, world.project, world.platform);
  for (const std::string& culture : world.cultures) text += fmt::format("culture {}\n", culture);
  return text + fmt::format("identity {}\n", world.identity.ToString());
}

absl::StatusOr<DeviceWorld> DecodeDeviceWorld(std::string_view bytes) {
  if (bytes.size() > kWorldBytesMax) {
    return InvalidArgumentError("a world's file of {} bytes, at most {}", bytes.size(),
                                kWorldBytesMax);
  }
  std::string_view rest = bytes;
  ASSIGN_OR_RETURN(const std::string_view version, TakeWorldLine(kWorldHead, rest));
  if (version != std::to_string(kDeviceWorldVersion)) {
    return FailedPreconditionError("a world's file of version {}, this is version {}",
                                   EscapeInvalidUtf8(version.substr(0, 20)), kDeviceWorldVersion);
  }
  DeviceWorld world;
  ASSIGN_OR_RETURN(world.project, TakeWorldLine("project", rest));
  ASSIGN_OR_RETURN(world.platform, TakeWorldLine("platform", rest));
  while (rest.starts_with("culture ")) {
    ASSIGN_OR_RETURN(const std::string_view culture, TakeWorldLine("culture", rest));
    world.cultures.emplace_back(culture);
  }
  ASSIGN_OR_RETURN(const std::string_view identity, TakeWorldLine("identity", rest));
  ASSIGN_OR_RETURN(world.identity, Digest::Parse(identity));
  if (!rest.empty()) return absl::InvalidArgumentError("a world's file goes on behind its end");
  RETURN_IF_ERROR(ValidateDeviceWorld(world));
  return world;
}

Digest DigestOfWorld(const DeviceWorld& world) { return Digest::Of(EncodeDeviceWorld(world)); }

}  // namespace galley::devices
