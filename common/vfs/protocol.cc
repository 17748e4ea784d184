#include "common/vfs/protocol.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/vfs/folder.h"
#include "nlohmann/json.hpp"

namespace galley::vfs {
namespace {

using Json = nlohmann::json;

constexpr int kJsonDepthMax = 4;

// A discarded value where the text is no JSON object.
Json ParseObject(std::string_view text) {
  // No answer has lists within lists of objects: what goes deeper costs no memory.
  const auto is_shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= kJsonDepthMax;
  };
  Json json = Json::parse(text, is_shallow, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json(Json::value_t::discarded);
}

const Json* Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string Text(const Json& object, const char* name) {
  const Json* const member = Member(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : "";
}

bool Flag(const Json& object, const char* name) {
  const Json* const member = Member(object, name);
  return member != nullptr && member->is_boolean() && member->get<bool>();
}

std::optional<BlobId> Blob(const Json& object, const char* name) {
  return BlobId::Parse(Text(object, name));
}

// Calls `take` with each element of a list; an absent list is empty.
template <typename Take>
void ForEach(const Json& object, const char* name, const Take& take) {
  const Json* const list = Member(object, name);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& one : *list) take(one);
}

// The texts of a list, or the members `path` of its objects.
std::vector<std::string> Paths(const Json& object, const char* name) {
  std::vector<std::string> paths;
  ForEach(object, name, [&](const Json& one) {
    std::string path = one.is_object() ? Text(one, "path") : "";
    if (one.is_string()) path = one.get<std::string>();
    if (!path.empty()) paths.push_back(std::move(path));
  });
  return paths;
}

std::vector<RootDifference::File> Files(const Json& object, const char* name) {
  std::vector<RootDifference::File> files;
  ForEach(object, name, [&](const Json& one) {
    if (one.is_object()) files.push_back({.path = Text(one, "path"), .after = Blob(one, "after")});
  });
  return files;
}

// The value of a character of base 64; nullopt: it is none. Source: RFC 4648, 4.
std::optional<uint32_t> Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a' + 26);
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0' + 52);
  if (c == '+') return 62;
  if (c == '/') return 63;
  return std::nullopt;
}

}  // namespace

std::optional<SessionState> ParseSession(std::string_view text) {
  const Json json = ParseObject(text);
  if (json.is_discarded()) return std::nullopt;
  SessionState state{.id = Text(json, "session")};
  const std::optional<BlobId> root = Blob(json, "root");
  constexpr size_t kIdBytesMax = 128;
  if (!root || state.id.empty() || state.id.size() > kIdBytesMax) return std::nullopt;
  for (const char c : state.id) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
    if (!is_plain) return std::nullopt;
  }
  state.root = *root;
  state.newest_root = Blob(json, "newest_root");
  state.is_frozen = Flag(json, "frozen");
  return state;
}

std::string ToJson(const SessionRequest& request) {
  Json json = {{"platform", request.platform}, {"cultures", request.cultures}};
  if (request.takes_last_good) json["last_good"] = true;
  if (request.root) json["root"] = request.root->ToText();
  if (!request.succeeds.empty()) json["succeeds"] = request.succeeds;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Problem ParseProblem(const ResponseHead& head, std::string_view text) {
  Problem problem;
  if (const Json json = ParseObject(text); !json.is_discarded()) {
    problem = {Text(json, "text"), Text(json, "package"), Text(json, "log"), Blob(json, "root")};
  }
  if (problem.text.empty()) problem.text = "the answer is " + std::to_string(head.status);
  return problem;
}

std::optional<ChangeEvent> ParseChange(std::string_view text) {
  const Json json = ParseObject(text);
  if (json.is_discarded()) return std::nullopt;
  const Json* const world = Member(json, "world");
  if (world == nullptr || !world->is_number_unsigned()) return std::nullopt;
  ChangeEvent change{.root = Blob(json, "root"),
                     .added = Paths(json, "added"),
                     .modified = Paths(json, "modified"),
                     .removed = Paths(json, "removed"),
                     .stale = Paths(json, "stale"),
                     .healed = Paths(json, "healed"),
                     .failures = {},
                     .is_cut = Flag(json, "cut")};
  ForEach(json, "failures", [&](const Json& one) {
    if (one.is_object()) change.failures.push_back({Text(one, "package"), Text(one, "text")});
  });
  return change;
}

std::optional<RootDifference> ParseDifference(std::string_view text) {
  const Json json = ParseObject(text);
  if (json.is_discarded()) return std::nullopt;
  RootDifference difference{.added = Files(json, "added"),
                            .modified = Files(json, "modified"),
                            .removed = Paths(json, "removed"),
                            .stale = Paths(json, "stale"),
                            .is_cut = Flag(json, "cut")};
  const auto has_plain_path = [](const RootDifference::File& file) {
    return IsPlainPath(file.path);
  };
  const bool are_plain = std::ranges::all_of(difference.added, has_plain_path) &&
                         std::ranges::all_of(difference.modified, has_plain_path) &&
                         std::ranges::all_of(difference.removed, IsPlainPath) &&
                         std::ranges::all_of(difference.stale, IsPlainPath);
  return are_plain ? std::optional(std::move(difference)) : std::nullopt;
}

std::optional<Hash> ParseReprDigest(std::string_view field) {
  constexpr std::string_view kName = "sha-256=:";
  const size_t at = field.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = field.substr(at + kName.size());
  constexpr size_t kTextSize = 44;  // of 32 bytes, with one '='
  if (text.size() <= kTextSize || text[kTextSize] != ':' || text[kTextSize - 1] != '=')
    return std::nullopt;
  Hash hash;
  uint32_t bits = 0;
  size_t bit_count = 0, done = 0;
  for (const char c : text.substr(0, kTextSize - 1)) {
    const std::optional<uint32_t> value = Base64Value(c);
    if (!value) return std::nullopt;
    bits = bits << 6 | *value;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    hash[done++] = static_cast<uint8_t>(bits >> bit_count);
  }
  return done == hash.size() ? std::optional(hash) : std::nullopt;
}

}  // namespace galley::vfs
