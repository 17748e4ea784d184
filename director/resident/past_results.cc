#include "director/resident/past_results.h"

#include <utility>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/core/ids.h"
#include "director/shell/lookup.h"

namespace galley::director {
namespace {

// The keys that the package's results would have, each once.
std::vector<Digest> KeysOf(store::Store& store, Journal& journal, const PastQuestion& question) {
  ResultTable unused;
  LookUpRunner runner({.sources = [&] { return question.sources; },
                       .store = &store,
                       .journal = &journal,
                       .results = &unused,
                       .alarm = [](const std::string&) {}},
                      {.trust_domain = question.trust_domain, .read_trust = question.read_trust});
  std::vector<LookUpItem> items(1);
  items[0].name = question.package;
  items[0].platforms = MaskOf(question.platform);
  items[0].generated_source = question.generated_source;
  items[0].recipes = question.recipes;
  std::vector<Digest> keys;
  for (const LookUpRunner::Wanted& wanted : runner.WantedOf(items, {}))
    keys.push_back(wanted.action_key);
  SortUnique(keys);
  return keys;
}

}  // namespace

absl::StatusOr<std::optional<PastResult>> FindPastResult(store::Store& store, Journal& journal,
                                                         const PastQuestion& question) {
  std::optional<PastResult> found;
  if (question.recipes == nullptr) return found;
  const std::vector<Digest> keys = KeysOf(store, journal, question);
  ASSIGN_OR_RETURN(const std::vector<std::optional<std::string>> encoded,
                   store.RecordedResults(keys));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!encoded[i]) continue;
    auto result = record::DecodeResult(*encoded[i]);
    if (!result.ok() || result->is_verdict || result->is_disputed) continue;
    if (found && !record::SameOutcome(found->result, *result)) return std::optional<PastResult>();
    found = PastResult{.action_key = keys[i], .result = *std::move(result)};
  }
  return found;
}

}  // namespace galley::director
