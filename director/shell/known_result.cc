#include "director/shell/known_result.h"

#include <algorithm>
#include <utility>

#include "common/base/fnv.h"
#include "common/base/sort_unique.h"
#include "common/content/name.h"
#include "director/shell/sources.h"

namespace galley::director {

JournalAnswer AskJournal(const PlatformRecord& record, const JournalQuestion& question) {
  if (!record.is_trusted || record.recipe != question.recipe) return {};
  if (question.generated_source && record.source != *question.generated_source) return {};
  LookedUp::NeedsCooked needs;
  for (const record::Observed& seen : record.observed) {
    if (IsOfFiles(seen.what.kind)) continue;
    std::string needed;
    const absl::StatusOr<std::string> value = question.value_of(seen.what, &needed);
    if (!value.ok()) return {};
    if (!needed.empty()) {
      needs.packages.push_back(std::move(needed));
    } else if (*value != seen.value) {
      return {};
    }
  }
  if (!needs.packages.empty()) {
    SortUnique(needs.packages);
    return needs;
  }
  std::shared_ptr<StoredResult> stored = StoredOf(record, question.package, question.platform_name);
  // In a dispute the store is asked instead: another user of the store may have ended the dispute.
  if (stored == nullptr || stored->result.is_disputed) return {};
  stored->platform = question.platform;
  stored->last_cook = record.last_cook;
  stored->is_in_journal = true;
  stored->is_published = record.published_key == record.action_key;
  return stored;
}

std::shared_ptr<StoredResult> StoredOf(const PlatformRecord& record, std::string package,
                                       std::string platform_name) {
  absl::StatusOr<record::Result> result = record::DecodeResult(record.result);
  if (!result.ok()) return nullptr;
  auto stored = std::make_shared<StoredResult>();
  stored->package = std::move(package);
  stored->platform_name = std::move(platform_name);
  stored->result = *std::move(result);
  stored->encoded = record.result;
  stored->recipe_bytes = record.recipe_bytes;
  stored->recipe = record.recipe;
  stored->source = record.source;
  stored->weak_key = record.weak_key;
  stored->action_key = record.action_key;
  stored->observed = record.observed;
  return stored;
}

LookedUp::Miss MissOf(std::string_view package, const PlatformRecord* record) {
  LookedUp::Miss miss;
  if (record == nullptr) return miss;
  miss.last_read = FilesRead(package, record->observed);
  if (record->last_cook.source != "cooked") return miss;
  miss.last_load = record->last_cook.load_time;
  miss.last_save = record->last_cook.save_time;
  if (const auto result = record::DecodeResult(record->result); result.ok())
    miss.last_memory_bytes = result->provenance.memory_peak_bytes;
  return miss;
}

std::vector<uint64_t> FilesRead(std::string_view package,
                                const std::vector<record::Observed>& observed) {
  std::vector<uint64_t> ids;
  for (const record::Observed& seen : observed) {
    if (seen.what.kind != record::ObservationKind::kFile || seen.value == record::kAbsent ||
        seen.value == record::kFolder)
      continue;
    if (const auto path = content::ResolveAsked(package, seen.what.subject); path.ok())
      ids.push_back(Fnv1a(*path));
  }
  SortUnique(ids);
  if (ids.size() > LookedUp::kLastReadMax) ids.resize(LookedUp::kLastReadMax);
  return ids;
}

WorkId WorkOf(const Digest& weak_key, const std::map<std::string, std::string>& parameters) {
  WorkId work = Fnv1a(weak_key.hash());
  for (const auto& [name, value] : parameters) {
    for (const std::string* part : {&name, &value})
      work = Fnv1a(*part, Fnv1a(std::to_string(part->size()) + ":", work));
  }
  return work == 0 ? 1 : work;
}

}  // namespace galley::director
