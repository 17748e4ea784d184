#include "director/cli/unsent_results.h"

#include <unistd.h>

#include <cerrno>
#include <memory>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/known_result.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

constexpr size_t kBytesMax = 256 << 20;

std::string PathOf(const std::string& state_directory) {
  return JoinPath(state_directory, "unsent.json");
}

}  // namespace

UnsentResults ReadUnsent(const std::string& state_directory) {
  const std::string path = PathOf(state_directory);
  const auto text = ReadFile(path, kBytesMax);
  if (absl::IsNotFound(text.status())) return {};
  if (text.ok()) {
    const nlohmann::json list = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    UnsentResults unsent;
    for (const nlohmann::json& one : list) {
      if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_string())
        continue;
      unsent.emplace_back(one[0].get<std::string>(), one[1].get<std::string>());
    }
    if (list.is_array() && unsent.size() == list.size()) return unsent;
  }
  LogWarning("{} is not read: {}; what it names is sent when it is cooked again", path,
             text.ok() ? "it is no list of packages and platforms" : MessageOf(text.status()));
  return {};
}

absl::Status WriteUnsent(const std::string& state_directory, const UnsentResults& unsent) {
  const std::string path = PathOf(state_directory);
  if (!unsent.empty()) return WriteFileAtomic(path, nlohmann::json(unsent).dump() + "\n");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "remove", path);
  return absl::OkStatus();
}

std::vector<director::StoredResultPtr> FindUnsent(director::Journal& journal, store::Store& store,
                                                  const UnsentResults& unsent) {
  std::vector<director::StoredResultPtr> found;
  for (const auto& [package, platform] : unsent) {
    const auto record = journal.Find(package);
    if (!record.ok() || !record->has_value()) continue;
    const auto at = (*record)->platforms.find(platform);
    if (at == (*record)->platforms.end()) continue;
    auto stored = director::StoredOf(at->second, package, platform);
    if (stored == nullptr || (stored->result.is_verdict && !stored->result.is_disputed)) continue;
    found.push_back(std::move(stored));
  }
  std::vector<Digest> keys;
  for (const director::StoredResultPtr& stored : found) keys.push_back(stored->action_key);
  const auto held = store.Results(keys);
  if (!held.ok()) {
    LogWarning("what was not sent is not sent now: {}", MessageOf(held.status()));
    return {};
  }
  std::vector<director::StoredResultPtr> standing;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!(*held)[i].has_value()) continue;
    const auto result = record::DecodeResult(*(*held)[i]);
    if (result.ok() && record::SameOutcome(*result, found[i]->result))
      standing.push_back(std::move(found[i]));
  }
  return standing;
}

}  // namespace galley::cli
