#include "director/shell/commit_group.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "common/base/status_macros.h"
#include "common/record/recipe.h"
#include "common/store/interface/named_blobs.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

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
  return update;
}

// Says which parts of the recipe differ, because digests alone tell nobody anything.
void ExplainRecipe(const PlatformRecord& old, const PlatformRecord& now,
                   std::vector<ChangedObservation>& changed) {
  const auto before = record::DecodeRecipe(old.recipe_bytes);
  const auto after = record::DecodeRecipe(now.recipe_bytes);
  const size_t count = changed.size();
  if (before.ok() && after.ok()) {
    const auto compare = [&](const std::string& part, const std::string& was,
                             const std::string& is) {
      if (was != is) changed.push_back({"recipe " + part, was, is});
    };
    compare("cooker", before->cooker, after->cooker);
    compare("identity", before->identity, after->identity);
    const nlohmann::json was = nlohmann::json::parse(before->settings, nullptr, false);
    const nlohmann::json is = nlohmann::json::parse(after->settings, nullptr, false);
    if (was.is_object() && is.is_object()) {
      std::set<std::string> names;
      for (const auto& [name, value] : was.items()) names.insert(name);
      for (const auto& [name, value] : is.items()) names.insert(name);
      const auto text = [](const nlohmann::json& settings, const std::string& name) {
        const auto found = settings.find(name);
        return found == settings.end() ? std::string(record::kUnset) : found->dump();
      };
      for (const std::string& name : names)
        compare("setting " + name, text(was, name), text(is, name));
    }
  }
  if (changed.size() == count)
    changed.push_back({"recipe", old.recipe.ToString(), now.recipe.ToString()});
}

// Says why this result differs from the record before: the source, the recipe, or the observations
// whose values differ.
void ExplainChange(const std::optional<PackageRecord>& before, bool was_cooked,
                   JournalUpdate& update) {
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
  update.record.published_in = old->published_in;
  if (!was_cooked && old->action_key == update.record.action_key) {
    last = old->last_cook;  // the same outcome was found again: its history goes on
    return;
  }
  if (old->source != update.record.source) {
    last.changed.push_back({"source", old->source.ToString(), update.record.source.ToString()});
  }
  if (old->recipe != update.record.recipe) {
    ExplainRecipe(*old, update.record, last.changed);
  }
  // Both lists are sorted by the observed path.
  auto seen = update.record.observed.begin();
  for (const record::Observed& was : old->observed) {
    while (seen != update.record.observed.end() && seen->what < was.what) ++seen;
    if (seen != update.record.observed.end() && seen->what == was.what &&
        seen->value != was.value) {
      last.changed.push_back({was.what.ToString(), was.value, seen->value});
    }
  }
}

// A result that was cooked, and its place in the group.
struct CookedItem {
  size_t place = 0;
  StoredResultPtr stored;
};

// Stores the details of results (out/details), which a result names like any output, so that other
// servers and readers find the details as a blob. Many results have the same details.
absl::Status PutDetails(store::Store& store, std::span<const CookedItem> cooked) {
  std::map<std::string, Digest> details;
  for (const auto& [place, stored] : cooked) {
    if (stored->result.is_verdict) continue;
    const auto [at, is_new] = details.try_emplace(record::EncodeDetails(stored->result.details));
    if (is_new) at->second = Digest::Of(at->first);
  }
  std::vector<store::BlobView> blobs;
  for (const auto& [bytes, digest] : details) blobs.push_back({.digest = digest, .bytes = bytes});
  for (const absl::Status& put : store.PutMany(blobs)) RETURN_IF_ERROR(put);
  return absl::OkStatus();
}

// Collects the blobs, observation sets and results of cooks. REQUIRES: all other blobs were Put.
absl::StatusOr<store::CommitBatch> BatchOf(store::Store& store,
                                           std::span<const CookedItem> cooked) {
  RETURN_IF_ERROR(PutDetails(store, cooked));
  store::CommitBatch batch;
  for (const auto& [place, stored] : cooked) {
    batch.blobs.insert(batch.blobs.end(), stored->blobs.begin(), stored->blobs.end());
    batch.results.push_back({.weak_key = stored->weak_key,
                             .observation_set = record::EncodeSetOf(stored->observed),
                             .action_key = stored->action_key,
                             .result = stored->encoded});
  }
  return batch;
}

CommitOutcome::Alarm AlarmOf(const StoredResult& made) {
  return {made.package, made.platform_name,
          fmt::format("came out otherwise than an earlier cook of the very same inputs (action key "
                      "{}): its cooker is not deterministic; the earlier outcome stands",
                      made.action_key.ToString())};
}

// The store refused to replace the results that it holds for some keys: the stored results stand
// instead. Results that a look-up found are left alone, because the core goes on with them.
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
    if (made[i] == nullptr || !held[i].has_value() || !outcome.event.items[i].refused.empty())
      continue;
    ASSIGN_OR_RETURN(record::Result decoded, record::DecodeResult(*held[i]));
    if (record::SameOutcome(decoded, made[i]->result)) continue;
    if (decoded.is_disputed) {
      results.Dispute(made[i]->action_key);  // the failure will say so
    } else {
      outcome.alarms.push_back(AlarmOf(*made[i]));
    }
    auto stands = std::make_shared<StoredResult>(*made[i]);
    stands->result = std::move(decoded);
    stands->encoded = *held[i];
    stands->blobs.clear();
    outcome.event.items[i].instead = results.Add(std::move(stands));
  }
  return absl::OkStatus();
}

std::vector<CookedItem> CookedOf(const ResultTable& results, const Persist& persist) {
  std::vector<CookedItem> cooked;
  for (size_t i = 0; i < persist.items.size(); ++i) {
    if (!persist.items[i].was_cooked) continue;
    if (StoredResultPtr stored = results.Get(persist.items[i].result))
      cooked.push_back({i, std::move(stored)});
  }
  return cooked;
}

void LeaveOutRefused(const CommitOutcome& outcome, std::vector<CookedItem>& cooked) {
  std::erase_if(cooked, [&](const CookedItem& item) {
    return !outcome.event.items[item.place].refused.empty();
  });
}

// Counts bytes for the summary only: bytes that cannot be counted are left out.
void CountBytes(store::Store& store, std::span<const CookedItem> cooked, const Persist& persist,
                CommitOutcome& outcome) {
  std::vector<std::pair<uint64_t, Digest>> written;  // blobs that came with the cook
  std::vector<Digest> digests;
  for (const auto& [place, stored] : cooked) {
    for (const auto& blob : stored->blobs) {
      written.emplace_back(persist.items[place].cook, blob.first);
      digests.push_back(blob.first);
    }
  }
  if (digests.empty()) return;
  const absl::StatusOr<std::vector<Digest>> missing = store.FindMissing(digests);
  if (!missing.ok()) return;
  std::set<Digest> unseen(missing->begin(), missing->end());
  for (const auto& [cook, digest] : written) {
    CommitOutcome::Bytes& bytes = outcome.bytes[cook];
    (unseen.erase(digest) > 0 ? bytes.stored : bytes.deduplicated) += digest.size_bytes();
  }
}

// Says whether the store has lost something since this director looked. If so, a worker that names
// missing blobs may have been told before the loss that the store has these blobs.
bool HasLostSince(store::Store& store, const Journal& journal) {
  const absl::StatusOr<store::StoreInfo> info = store.Info();
  return info.ok() && info->loss_epoch != journal.meta().loss_epoch;
}

void MarkLosses(store::Store& store, const Journal& journal, CommitOutcome& outcome) {
  const auto is_refused = [](const Persisted::Item& item) { return !item.refused.empty(); };
  std::vector<Persisted::Item>& items = outcome.event.items;
  if (std::ranges::none_of(items, is_refused) || !HasLostSince(store, journal)) return;
  for (Persisted::Item& item : items) item.is_loss = is_refused(item);
}

// Refuses the result when it names bytes that are neither among `written` nor in the store.
absl::Status RefuseIfIncomplete(store::Store& store, const StoredResult& stored,
                                const std::set<Digest>& written, Persisted::Item& item) {
  std::vector<Digest> named;
  store::AppendNamedBlobs(stored.result, named);
  std::erase_if(named, [&](const Digest& digest) { return written.contains(digest); });
  if (named.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(named));
  if (missing.empty()) return absl::OkStatus();
  item.refused =
      fmt::format("its worker did not write blob {}, which it names", missing[0].ToString());
  return absl::OkStatus();
}

absl::Status RefuseIncomplete(store::Store& store, std::span<const CookedItem> cooked,
                              CommitOutcome& outcome) {
  std::set<Digest> written;
  for (const auto& [place, stored] : cooked) {
    for (const auto& blob : stored->blobs) written.insert(blob.first);
  }
  for (const auto& [place, stored] : cooked)
    RETURN_IF_ERROR(RefuseIfIncomplete(store, *stored, written, outcome.event.items[place]));
  return absl::OkStatus();
}

// Commits each result alone, so that only the results that differ from what their worker said are
// refused.
absl::Status CommitOneByOne(store::Store& store, std::span<const CookedItem> cooked,
                            CommitOutcome& outcome) {
  absl::Status last;
  for (const CookedItem& cooked_one : cooked) {
    const auto& [place, stored] = cooked_one;
    // A refused result may take along bytes that another result of the group relies on.
    std::set<Digest> written;
    for (const auto& blob : stored->blobs) written.insert(blob.first);
    Persisted::Item& item = outcome.event.items[place];
    RETURN_IF_ERROR(RefuseIfIncomplete(store, *stored, written, item));
    if (!item.refused.empty()) continue;
    ASSIGN_OR_RETURN(const store::CommitBatch one, BatchOf(store, std::span(&cooked_one, 1)));
    const absl::Status committed = store.Commit(one);
    if (absl::IsInvalidArgument(committed)) {
      outcome.event.items[place].refused = MessageOf(committed);
    } else if (absl::IsAlreadyExists(committed)) {
      last = committed;
    } else if (!committed.ok()) {
      return committed;
    }
  }
  return last;
}

// Finds results that an earlier director may have stored. An action that cannot be looked up counts
// as new.
void FindStored(store::Store& store, std::span<const CookedItem> cooked, const Persist& persist,
                CommitOutcome& outcome) {
  std::vector<const CookedItem*> asked;
  std::vector<Digest> keys;
  for (const CookedItem& one : cooked) {
    if (!persist.items[one.place].may_be_stored) continue;
    asked.push_back(&one);
    keys.push_back(one.stored->action_key);
  }
  if (asked.empty()) return;
  const auto held = store.Results(keys);
  if (!held.ok()) return;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!(*held)[i].has_value()) continue;
    const absl::StatusOr<record::Result> before = record::DecodeResult(*(*held)[i]);
    outcome.event.items[asked[i]->place].was_stored =
        before.ok() && record::SameOutcome(*before, asked[i]->stored->result);
  }
}

absl::Status CommitToStore(store::Store& store, ResultTable& results, const Persist& persist,
                           CommitOutcome& outcome) {
  std::vector<CookedItem> cooked = CookedOf(results, persist);
  RETURN_IF_ERROR(RefuseIncomplete(store, cooked, outcome));
  LeaveOutRefused(outcome, cooked);
  if (cooked.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const store::CommitBatch batch, BatchOf(store, cooked));
  CountBytes(store, cooked, persist, outcome);
  FindStored(store, cooked, persist, outcome);
  absl::Status committed = store.Commit(batch);
  if (absl::IsInvalidArgument(committed)) committed = CommitOneByOne(store, cooked, outcome);
  return absl::IsAlreadyExists(committed) ? TakeWhatStands(store, results, persist, outcome)
                                          : committed;
}

absl::Status RecordInJournal(Journal& journal, const ResultTable& results, const Persist& persist,
                             bool is_sent_back,
                             const std::function<bool(const StoredResult&)>& holds, absl::Time wall,
                             const CommitOutcome& outcome) {
  std::vector<JournalUpdate> updates;
  bool has_cooked = false;
  for (size_t i = 0; i < persist.items.size(); ++i) {
    if (!outcome.event.items[i].refused.empty()) continue;
    const ResultViewPtr& instead = outcome.event.items[i].instead;
    const ResultId id = instead != nullptr ? instead->id : persist.items[i].result;
    const StoredResultPtr stored = results.Get(id);
    const bool was_cooked = persist.items[i].was_cooked;
    if (stored == nullptr || (stored->is_in_journal && !was_cooked)) continue;
    if (results.IsDisputed(id, *stored)) continue;
    has_cooked |= was_cooked;
    if (!holds(*stored)) continue;
    JournalUpdate update = UpdateOf(*stored);
    LastCook& last = update.record.last_cook;
    last.time = wall;
    last.cook = static_cast<uint32_t>(persist.items[i].cook);
    last.is_forced = persist.items[i].is_forced && was_cooked;
    const Waited& waited = persist.items[i].waited;
    last.request_time = waited.request;
    last.queue_time = waited.queue;
    last.in_hand_time = waited.in_hand;
    last.attempts = waited.attempts;
    if (auto before = journal.Find(stored->package); before.ok())
      ExplainChange(*before, was_cooked && !outcome.event.items[i].was_stored, update);
    update.is_unsent = is_sent_back && was_cooked && IsSentBack(*stored, instead != nullptr);
    update.is_dispute = stored->result.is_disputed;
    updates.push_back(std::move(update));
  }
  return updates.empty() ? absl::OkStatus() : journal.Record(updates, has_cooked);
}

}  // namespace

CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist, bool is_sent_back,
                          const std::function<bool(const StoredResult&)>& holds, absl::Time wall) {
  CommitOutcome outcome;
  for (const Persist::Item& item : persist.items)
    outcome.event.items.push_back({item.package, item.platform, item.result, nullptr, ""});
  if (const absl::Status stored = CommitToStore(store, results, persist, outcome); !stored.ok()) {
    outcome.event.error = fmt::format("committing results to the store: {}", MessageOf(stored));
  } else if (const absl::Status recorded =
                 RecordInJournal(journal, results, persist, is_sent_back, holds, wall, outcome);
             !recorded.ok()) {
    outcome.event.error = fmt::format("writing the journal: {}", MessageOf(recorded));
  }
  MarkLosses(store, journal, outcome);
  return outcome;
}

}  // namespace galley::director
