#include "director/host/unsent_results.h"

#include <algorithm>
#include <span>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/known_result.h"

namespace galley::director {
namespace {

// Returns the recorded result, and no other result of its package; null: it no longer exists.
absl::StatusOr<StoredResultPtr> RecordOf(Journal& journal, const UnsentResult& unsent) {
  ASSIGN_OR_RETURN(const auto record, journal.Find(unsent.package));
  if (!record.has_value()) return nullptr;
  const auto at = record->platforms.find(unsent.platform);
  if (at == record->platforms.end() || at->second.action_key != unsent.action_key) return nullptr;
  StoredResultPtr stored = StoredOf(at->second, unsent.package, unsent.platform);
  if (stored == nullptr || stored->result.is_disputed != unsent.is_dispute ||
      (stored->result.is_verdict && !stored->result.is_disputed))
    return nullptr;
  return stored;
}

}  // namespace

absl::StatusOr<std::vector<StoredResultPtr>> FindUnsent(Journal& journal, store::Store& store) {
  ASSIGN_OR_RETURN(const std::vector<UnsentResult> unsent, journal.Unsent());
  std::vector<StoredResultPtr> found;
  std::vector<UnsentResult> gone;
  for (const UnsentResult& one : unsent) {
    ASSIGN_OR_RETURN(StoredResultPtr stored, RecordOf(journal, one));
    if (stored == nullptr) {
      gone.push_back(one);
    } else {
      found.push_back(std::move(stored));
    }
  }
  std::vector<Digest> keys;
  for (const StoredResultPtr& stored : found) keys.push_back(stored->action_key);
  ASSIGN_OR_RETURN(const auto held, store.Results(keys));
  std::vector<StoredResultPtr> standing;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto result = held[i].has_value()
                            ? record::DecodeResult(*held[i])
                            : absl::StatusOr<record::Result>(absl::NotFoundError("forgotten"));
    if (result.ok() && record::SameOutcome(*result, found[i]->result)) {
      standing.push_back(std::move(found[i]));
    } else {
      gone.push_back({found[i]->package, found[i]->platform_name, found[i]->action_key,
                      found[i]->result.is_disputed});
    }
  }
  RETURN_IF_ERROR(journal.ForgetUnsent(gone));
  return standing;
}

void ForgetSent(Journal& journal, const StoredResult& stored) {
  const UnsentResult sent{stored.package, stored.platform_name, stored.action_key,
                          stored.result.is_disputed};
  const absl::Status forgotten = journal.ForgetUnsent(std::span(&sent, 1));
  if (!forgotten.ok()) LogWarning("journal: {}", MessageOf(forgotten));
}

}  // namespace galley::director
