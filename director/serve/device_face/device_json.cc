#include "director/serve/device_face/device_json.h"

#include <optional>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

using nlohmann::json;

std::string TextOfJson(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json DigestJson(const std::optional<Digest>& digest) {
  return digest ? json(digest->ToString()) : json();
}

// ---------------- what is asked

absl::Status WrongField(std::string_view name, std::string_view expected) {
  return InvalidArgumentError("The field \"{}\" is wrong: expected {}.", name, expected);
}

absl::Status ReadText(const json& value, std::string_view name, std::string& into) {
  const auto* const text = value.get_ptr<const std::string*>();
  if (text == nullptr || text->empty() || text->size() > kAskedTextBytesMax)
    return WrongField(name, "a text of 1 to 255 bytes");
  into = *text;
  return absl::OkStatus();
}

absl::Status ReadFlag(const json& value, std::string_view name, bool& into) {
  if (!value.is_boolean()) return WrongField(name, "true or false");
  into = value.get<bool>();
  return absl::OkStatus();
}

absl::Status ReadRoot(const json& value, std::optional<Digest>& into) {
  std::string text;
  RETURN_IF_ERROR(ReadText(value, "root", text));
  absl::StatusOr<Digest> root = Digest::Parse(text);
  if (!root.ok()) return WrongField("root", "a digest, \"<64 hex digits>/<size>\"");
  into = *root;
  return absl::OkStatus();
}

absl::Status ReadCultures(const json& value, std::vector<std::string>& into) {
  if (!value.is_array() || value.size() > kCulturesAskedMax)
    return WrongField("cultures", "a list of at most 1000 texts");
  for (const json& one : value) RETURN_IF_ERROR(ReadText(one, "cultures", into.emplace_back()));
  return absl::OkStatus();
}

absl::Status ReadField(const std::string& name, const json& value, SessionAsk& ask) {
  if (name == "platform") return ReadText(value, name, ask.platform);
  if (name == "cultures") return ReadCultures(value, ask.cultures);
  if (name == "root") return ReadRoot(value, ask.root);
  if (name == "last_good") return ReadFlag(value, name, ask.last_good);
  if (name == "succeeds") return ReadText(value, name, ask.succeeds);
  return InvalidArgumentError(
      "The body has a field \"{}\" that nobody knows: expected platform, cultures, root, "
      "last_good, succeeds.",
      name.substr(0, kAskedTextBytesMax));
}

// ---------------- what is answered

json ChangesJson(const std::vector<devices::ChangedPath>& changes) {
  json list = json::array();
  for (const devices::ChangedPath& change : changes) {
    list.push_back({{"path", change.path},
                    {"before", DigestJson(change.before)},
                    {"after", DigestJson(change.after)}});
  }
  return list;
}

json AfterJson(const std::vector<devices::ChangedPath>& changes) {
  json list = json::array();
  for (const devices::ChangedPath& change : changes)
    list.push_back({{"path", change.path}, {"after", DigestJson(change.after)}});
  return list;
}

json FailuresJson(const std::vector<devices::PackageFailure>& failures) {
  json list = json::array();
  for (const devices::PackageFailure& failure : failures) {
    json one = {{"package", failure.package}, {"text", failure.error}};
    if (!failure.log.empty()) one["log"] = failure.log;
    list.push_back(std::move(one));
  }
  return list;
}

json ConflictsJson(const std::vector<devices::PathConflict>& conflicts) {
  json list = json::array();
  for (const devices::PathConflict& conflict : conflicts)
    list.push_back({{"path", conflict.path}, {"packages", conflict.packages}});
  return list;
}

void AddUnlessEmpty(const char* name, json list, json& into) {
  if (!list.empty()) into[name] = std::move(list);
}

}  // namespace

absl::StatusOr<SessionAsk> ReadSessionAsk(std::string_view text) {
  const json body = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!body.is_object())
    return absl::InvalidArgumentError(
        "The body is no JSON object: expected one such as {\"platform\": \"linux\"}.");
  SessionAsk ask;
  for (const auto& [name, value] : body.items()) RETURN_IF_ERROR(ReadField(name, value, ask));
  if (ask.platform.empty())
    return absl::InvalidArgumentError("The body has no field \"platform\".");
  return ask;
}

std::string SessionJson(const DeviceSessionState& session) {
  return TextOfJson({{"session", session.id},
                     {"platform", session.platform},
                     {"cultures", session.cultures},
                     {"root", session.root.ToString()},
                     {"newest_root", DigestJson(session.newest_root)},
                     {"frozen", session.is_frozen},
                     {"last_good", session.last_good}});
}

std::string RecordJson(const DeviceRecord& record) {
  json outputs = json::array();
  for (const RecordOutput& output : record.outputs) {
    outputs.push_back({{"suffix", output.suffix},
                       {"digest", output.digest.ToString()},
                       {"executable", output.is_executable}});
  }
  json object = {{"action_key", record.action_key.ToString()}, {"outputs", std::move(outputs)}};
  if (!record.error.empty()) object["error"] = record.error;
  if (!record.log.empty()) object["log"] = record.log;
  return TextOfJson(object);
}

std::string DifferenceJson(const RootDifference& difference) {
  json object = json::object();
  AddUnlessEmpty("added", AfterJson(difference.added), object);
  AddUnlessEmpty("modified", AfterJson(difference.modified), object);
  AddUnlessEmpty("removed", difference.removed, object);
  AddUnlessEmpty("stale", difference.stale, object);
  if (difference.is_cut) object["cut"] = true;
  return TextOfJson(object);
}

std::string EventJson(const devices::ChangeEvent& event) {
  json object = {{"world", event.world}};
  if (event.root != Digest()) object["root"] = event.root.ToString();
  AddUnlessEmpty("added", ChangesJson(event.added), object);
  AddUnlessEmpty("modified", ChangesJson(event.modified), object);
  AddUnlessEmpty("removed", ChangesJson(event.removed), object);
  AddUnlessEmpty("stale", event.stale, object);
  AddUnlessEmpty("failures", FailuresJson(event.failures), object);
  AddUnlessEmpty("healed", event.healed, object);
  AddUnlessEmpty("conflicts", ConflictsJson(event.conflicts), object);
  if (event.is_cut) object["cut"] = true;
  return TextOfJson(object);
}

}  // namespace galley::director
