#include "director/shell/remote_look_up.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/record/portable_result.h"
#include "common/record/revocation.h"
#include "common/record/set_list.h"
#include "common/store/interface/named_blobs.h"

namespace galley::director {

struct RemoteLookUp::Found {
  LookUpRunner::Wanted wanted;
  record::Result result;
};

tree::ReadBlob RemoteLookUp::Reader() {
  return [this](const Digest& digest) { return deps_.remote->Get(digest, limits()); };
}

LookUpRunner::MoreSets RemoteLookUp::BringSets(const std::vector<LookUpItem>& items) {
  std::vector<Digest> keys = deps_.look_ups->WeakKeysOf(items);
  SortUnique(keys);
  const auto answers = deps_.remote->ActionResults(keys, limits());
  LookUpRunner::MoreSets sets;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!answers[i]) continue;
    auto list = record::DecodeSetList(*answers[i], Reader());
    if (list.ok()) {
      sets[keys[i]] = *std::move(list);
    } else {
      LogDebug("remote: weak key {}: {}", keys[i].ToString(), MessageOf(list.status()));
    }
  }
  return sets;
}

// Asks the remote for the results that would hold today and that our own store lacks.
std::vector<RemoteLookUp::Found> RemoteLookUp::FindResults(const std::vector<LookUpItem>& items,
                                                           const LookUpRunner::MoreSets& sets) {
  std::vector<LookUpRunner::Wanted> wanted = deps_.look_ups->WantedOf(items, sets);
  SortUnique(wanted);
  std::vector<Digest> keys;
  for (const LookUpRunner::Wanted& one : wanted) keys.push_back(one.action_key);
  const auto ours = deps_.store->Results(keys);
  std::vector<LookUpRunner::Wanted> asked;
  keys.clear();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (ours.ok() && (*ours)[i].has_value()) continue;
    keys.push_back(wanted[i].action_key);
    asked.push_back(std::move(wanted[i]));
  }
  const auto answers = deps_.remote->ActionResults(keys, limits());
  const auto revocations = deps_.store->Revocations();
  if (!revocations.ok()) {
    LogWarning("remote: not read from, since it is not known whose results are revoked: {}",
               MessageOf(revocations.status()));
    return {};
  }
  std::vector<Found> found;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!answers[i]) continue;
    absl::StatusOr<record::Result> result = record::DecodePortable(*answers[i], Reader());
    if (!result.ok()) {
      LogDebug("remote: result {}: {}", asked[i].action_key.ToString(), MessageOf(result.status()));
    } else if (record::IsRevoked(result->provenance, *revocations)) {
      LogWarning("remote: result {} was made by {} on {}, which is revoked: it is not used",
                 asked[i].action_key.ToString(), result->provenance.worker,
                 result->provenance.machine);
    } else if (!result->is_verdict) {
      found.push_back({std::move(asked[i]), *std::move(result)});
    }
  }
  return found;
}

// Fetches the blobs that the results name, and drops a result when a blob could not be had.
absl::Status RemoteLookUp::KeepComplete(std::vector<Found>& found) {
  std::vector<Digest> named;
  for (const Found& one : found) store::AppendNamedBlobs(one.result, named);
  SortUnique(named);
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, deps_.store->FindMissing(named));
  ASSIGN_OR_RETURN(const std::vector<Digest> fetched_not,
                   deps_.remote->Fetch(missing, *deps_.store, limits()));
  const std::set<Digest> lacking(fetched_not.begin(), fetched_not.end());
  std::erase_if(found, [&](const Found& one) {
    std::vector<Digest> blobs;
    store::AppendNamedBlobs(one.result, blobs);
    return std::ranges::any_of(blobs,
                               [&](const Digest& digest) { return lacking.contains(digest); });
  });
  return absl::OkStatus();
}

bool RemoteLookUp::Bring(const std::vector<LookUpItem>& items) {
  if (deps_.cancellation->is_cancelled() ||
      deps_.remote->State().given_up != store::RemoteState::GivenUp::kNo)
    return false;
  const LookUpRunner::MoreSets sets = BringSets(items);
  std::vector<Found> found = FindResults(items, sets);
  absl::Status kept = KeepComplete(found);
  const std::string from = deps_.remote->State().url;
  store::CommitBatch batch;
  if (kept.ok()) {
    for (const Found& one : found) {
      const std::string details = record::EncodeDetails(one.result.details);
      kept = deps_.store->Put(Digest::Of(details), details);
      if (!kept.ok()) break;
      // The result is encoded anew: another server may order fields differently, and a log that is
      // not here helps nobody.
      record::Result result = one.result;
      result.log.reset();
      result.provenance.received_from = from;
      result.provenance.weak_key = one.wanted.weak_key;
      batch.results.push_back({.weak_key = one.wanted.weak_key,
                               .observation_set = one.wanted.observation_set,
                               .action_key = one.wanted.action_key,
                               .result = record::EncodeResult(result)});
    }
  }
  // The sets are kept as well: from a set our own store learns which cooked inputs must be known
  // first.
  for (const auto& [weak_key, list] : sets) {
    for (auto set = list.rbegin(); set != list.rend(); ++set)
      batch.sets.push_back({.weak_key = weak_key, .observation_set = *set});
  }
  if (kept.ok() && batch.results.empty() && batch.sets.empty()) return false;
  if (kept.ok()) kept = deps_.store->Commit(batch);
  if (absl::IsAlreadyExists(kept)) return true;  // the next look-up finds the stored result
  if (!kept.ok()) LogWarning("keeping what the remote store had: {}", MessageOf(kept));
  return kept.ok();
}

}  // namespace galley::director
