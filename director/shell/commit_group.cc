#include "director/shell/commit_group.h"

#include <set>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

JournalUpdate UpdateOf(const StoredResult& stored) {
  JournalUpdate update{.package = stored.package, .platform = stored.platform_name};
  PlatformRecord& record = update.record;
  record.recipe = stored.recipe;
  record.source = stored.source;
  record.weak_key = stored.weak_key;
  record.action_key = stored.action_key;
  record.recipe_bytes = stored.recipe_bytes;
  record.result = stored.encoded;
  record.observed = stored.observed;
  record.last_cook = stored.last_cook;
  IndexOf(stored.package, stored.observed, update.paths, update.folders);
  return update;
}

// Why this result is not that of the record before: source, recipe, or the observations whose
// values differ.
void ExplainChange(const std::optional<PackageRecord>& before, JournalUpdate& update) {
  LastCook& last = update.record.last_cook;
  const PlatformRecord* old = nullptr;
  if (before) {
    const auto found = before->platforms.find(update.platform);
    if (found != before->platforms.end()) old = &found->second;
  }
  if (old == nullptr) {
    last.is_first = true;
    return;
  }
  update.record.published_key = old->published_key;
  if (old->source != update.record.source) {
    last.changed.push_back({"source", old->source.ToString(), update.record.source.ToString()});
  }
  if (old->recipe != update.record.recipe) {
    last.changed.push_back({"recipe", old->recipe.ToString(), update.record.recipe.ToString()});
  }
  // Both lists are sorted by what was looked at.
  auto seen = update.record.observed.begin();
  for (const record::Observed& was : old->observed) {
    while (seen != update.record.observed.end() && seen->what < was.what) ++seen;
    if (seen != update.record.observed.end() && seen->what == was.what &&
        seen->value != was.value) {
      last.changed.push_back({was.what.ToString(), was.value, seen->value});
    }
  }
}

// Appends what a cook made to `batch`. What its result names is Put first: a result names its
// details (out/details) like any output, so that other servers and readers find them as a blob.
absl::Status AddToBatch(store::Store& store, const StoredResult& stored,
                        store::CommitBatch& batch) {
  batch.blobs.insert(batch.blobs.end(), stored.blobs.begin(), stored.blobs.end());
  if (!stored.result.is_verdict) {
    const std::string details = record::EncodeDetails(stored.result.details);
    RETURN_IF_ERROR(store.Put(Digest::Of(details), details));
  }
  batch.results.push_back({.weak_key = stored.weak_key,
                           .observation_set = record::EncodeSet(record::SetOf(stored.observed)),
                           .action_key = stored.action_key,
                           .result = stored.encoded});
  return absl::OkStatus();
}

// For the summary only: what cannot be counted is not.
void CountBytes(store::Store& store, const store::CommitBatch& batch, CommitOutcome& outcome) {
  std::vector<Digest> digests;
  for (const auto& [digest, location] : batch.blobs) digests.push_back(digest);
  const absl::StatusOr<std::vector<Digest>> missing = store.FindMissing(digests);
  if (!missing.ok()) return;
  std::set<Digest> unseen(missing->begin(), missing->end());
  for (const Digest& digest : digests) {
    (unseen.erase(digest) > 0 ? outcome.bytes_stored : outcome.bytes_deduplicated) +=
        digest.size_bytes();
  }
}

// After the store refused to replace what it holds for some keys: those results stand instead.
// What was found by look-up is left alone: the core goes on with it.
absl::Status TakeWhatStands(store::Store& store, ResultTable& results, const Persist& persist,
                            CommitOutcome& outcome) {
  std::vector<StoredResultPtr> made;
  std::vector<Digest> keys;
  for (const Persist::Item& item : persist.items) {
    made.push_back(item.was_cooked ? results.Get(item.result) : nullptr);
    keys.push_back(made.back() == nullptr ? Digest() : made.back()->action_key);
  }
  ASSIGN_OR_RETURN(const auto held, store.Results(keys));
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] == nullptr || !held[i].has_value()) continue;
    ASSIGN_OR_RETURN(record::Result decoded, record::DecodeResult(*held[i]));
    if (record::SameOutcome(decoded, made[i]->result)) continue;
    outcome.alarms.push_back(
        {made[i]->package, made[i]->platform_name,
         fmt::format("came out otherwise than an earlier cook of the very same inputs (action key "
                     "{}): its cooker is not deterministic; the earlier outcome stands",
                     made[i]->action_key.ToString())});
    auto stands = std::make_shared<StoredResult>(*made[i]);
    stands->result = std::move(decoded);
    stands->encoded = *held[i];
    stands->blobs.clear();
    outcome.event.items[i].instead = results.Add(std::move(stands));
  }
  return absl::OkStatus();
}

absl::Status CommitToStore(store::Store& store, ResultTable& results, const Persist& persist,
                           CommitOutcome& outcome) {
  store::CommitBatch batch;
  for (const Persist::Item& item : persist.items) {
    const StoredResultPtr stored = results.Get(item.result);
    if (item.was_cooked && stored != nullptr) RETURN_IF_ERROR(AddToBatch(store, *stored, batch));
  }
  if (batch.results.empty()) return absl::OkStatus();
  CountBytes(store, batch, outcome);
  const absl::Status committed = store.Commit(batch);
  return absl::IsAlreadyExists(committed) ? TakeWhatStands(store, results, persist, outcome)
                                          : committed;
}

absl::Status RecordInJournal(Journal& journal, const ResultTable& results, const Persist& persist,
                             const std::function<bool(const StoredResult&)>& holds,
                             const CommitOutcome& outcome) {
  std::vector<JournalUpdate> updates;
  bool has_cooked = false;
  for (size_t i = 0; i < persist.items.size(); ++i) {
    const ResultViewPtr& instead = outcome.event.items[i].instead;
    const StoredResultPtr stored =
        results.Get(instead != nullptr ? instead->id : persist.items[i].result);
    const bool was_cooked = persist.items[i].was_cooked;
    if (stored == nullptr || (stored->is_in_journal && !was_cooked)) continue;
    has_cooked |= was_cooked;
    if (!holds(*stored)) continue;
    JournalUpdate update = UpdateOf(*stored);
    if (auto before = journal.Find(stored->package); before.ok()) ExplainChange(*before, update);
    update.record.last_cook.time = absl::Now();
    updates.push_back(std::move(update));
  }
  return updates.empty() ? absl::OkStatus() : journal.Record(updates, has_cooked);
}

}  // namespace

CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist,
                          const std::function<bool(const StoredResult&)>& holds) {
  CommitOutcome outcome;
  for (const Persist::Item& item : persist.items)
    outcome.event.items.push_back({item.package, item.platform, item.result, nullptr});
  if (const absl::Status stored = CommitToStore(store, results, persist, outcome); !stored.ok()) {
    outcome.event.error = fmt::format("committing results to the store: {}", MessageOf(stored));
  } else if (const absl::Status recorded =
                 RecordInJournal(journal, results, persist, holds, outcome);
             !recorded.ok()) {
    outcome.event.error = fmt::format("writing the journal: {}", MessageOf(recorded));
  }
  return outcome;
}

}  // namespace galley::director
