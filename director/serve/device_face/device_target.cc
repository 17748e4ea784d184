#include "director/serve/device_face/device_target.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

using Segments = std::span<const std::string>;

constexpr std::string_view kSince = "since=";

absl::Status NothingThere() {
  return NotFoundError("No such thing is served here; docs/http.md lists the paths.");
}

std::string Joined(Segments segments) {
  std::string path;
  for (const std::string& segment : segments) {
    if (!path.empty()) path += '/';
    path += segment;
  }
  return path;
}

absl::Status NoDigest() {
  return InvalidArgumentError(
      "The path has no digest where one belongs: expected 64 lower-case hex digits, a slash, and "
      "the size in bytes.");
}

absl::StatusOr<Digest> ReadDigest(const std::string& hex, const std::string& size) {
  absl::StatusOr<Digest> digest = Digest::Parse(hex + "/" + size);
  return digest.ok() ? digest : NoDigest();
}

bool IsPlatformName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || c == '_' || c == '-'; });
}

// `rest` is behind "/v1/root".
absl::StatusOr<DeviceTarget> ReadRoot(Segments rest, const std::optional<std::string>& query) {
  const bool is_difference = rest.size() == 2 && query && query->starts_with(kSince);
  if (rest.size() < 3 && !is_difference) return NothingThere();
  ASSIGN_OR_RETURN(const Digest root, ReadDigest(rest[0], rest[1]));
  if (is_difference) {
    std::string text = query->substr(kSince.size());
    // Forms and libraries escape the slash.
    for (const char* slash : {"%2F", "%2f"}) {
      if (const size_t at = text.find(slash); at != std::string::npos) text.replace(at, 3, "/");
    }
    const absl::StatusOr<Digest> since = Digest::Parse(text);
    if (!since.ok()) return NoDigest();
    return DifferenceTarget{.root = root, .since = *since};
  }
  return RootTarget{.root = root, .path = Joined(rest.subspan(2))};
}

absl::StatusOr<DeviceTarget> ReadBlob(Segments rest) {
  if (rest.size() != 2) return NothingThere();
  ASSIGN_OR_RETURN(const Digest digest, ReadDigest(rest[0], rest[1]));
  return BlobTarget{.digest = digest};
}

absl::StatusOr<DeviceTarget> ReadRecord(Segments rest, const std::optional<std::string>& query) {
  if (rest.size() < 2) return NothingThere();
  ASSIGN_OR_RETURN(const Digest key, ReadDigest(rest[0], rest[1]));
  if (rest.size() > 2) return OutputTarget{.action_key = key, .suffix = Joined(rest.subspan(2))};
  if (query == "suffix=") return OutputTarget{.action_key = key, .suffix = ""};
  return RecordTarget{.action_key = key};
}

absl::StatusOr<DeviceTarget> ReadSession(Segments rest) {
  if (rest.empty()) return SessionsTarget{};
  const std::string& id = rest[0];
  if (rest.size() == 1) return SessionTarget{.id = id};
  if (rest.size() == 2 && rest[1] == "changes") return ChangesTarget{.id = id};
  return SessionFileTarget{.id = id, .path = Joined(rest.subspan(1))};
}

}  // namespace

absl::StatusOr<DeviceTarget> ReadDeviceTarget(const http::RequestTarget& target) {
  const Segments all = target.segments;
  if (all.size() < 2 || all[0] != "v1") return NothingThere();
  const std::string& kind = all[1];
  const Segments rest = all.subspan(2);
  if (kind == "root") return ReadRoot(rest, target.query);
  if (kind == "blob") return ReadBlob(rest);
  if (kind == "record") return ReadRecord(rest, target.query);
  if (kind == "sessions") return ReadSession(rest);
  if (rest.empty() || !IsPlatformName(kind)) return NothingThere();
  return PresentTarget{.platform = kind, .path = Joined(rest)};
}

std::string_view MethodsOf(const DeviceTarget& target) {
  if (std::holds_alternative<SessionsTarget>(target)) return "POST";
  if (std::holds_alternative<SessionTarget>(target)) return "GET, HEAD, DELETE";
  return "GET, HEAD";
}

bool HasMethod(const DeviceTarget& target, HttpMethod method) {
  const bool is_list = std::holds_alternative<SessionsTarget>(target);
  switch (method) {
    case HttpMethod::kGet:
    case HttpMethod::kHead:
      return !is_list;
    case HttpMethod::kPost:
      return is_list;
    case HttpMethod::kDelete:
      return std::holds_alternative<SessionTarget>(target);
  }
  return false;
}

}  // namespace galley::director
