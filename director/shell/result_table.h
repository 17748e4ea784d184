// ResultTable: the full record of each result that the core knows by its ResultId.
//
// A record exists while the core holds its view, or a commit or a root holds its pointer, so that
// the memory of a long-running director stays bounded. Ids are never reused.
// Threads: any. A stored record is immutable once added.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/record/observation.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/cooked_inputs.h"

namespace galley::director {

struct StoredResult {
  std::string package;
  PlatformIndex platform = 0;
  std::string platform_name;
  record::Result result;
  std::string encoded;
  std::string recipe_bytes;
  Digest recipe;
  Digest source;
  Digest weak_key;
  Digest action_key;
  std::vector<record::Observed> observed;
  // Blobs that were written for the result and are not committed yet.
  std::vector<std::pair<Digest, store::BlobLocation>> blobs;
  LastCook last_cook;
  uint64_t holds_in = 0;       // Sources::number() in which the result was found to hold; 0: none
  bool is_in_journal = false;  // the journal has exactly this result
  bool has_failed_before = false;  // the journal has a failure of this platform
  // By the journal, the last published root of this platform has the result's key.
  bool is_published = false;
};
using StoredResultPtr = std::shared_ptr<const StoredResult>;
using StoredResultsPtr = std::shared_ptr<const std::vector<StoredResultPtr>>;

class ResultTable {
 public:
  // Kept: the lifetime of a record.
  enum class Kept : uint8_t {
    kWhileHeld,  // while its view or a pointer from Get is held
    kAlways,
  };
  explicit ResultTable(Kept kept = Kept::kAlways) : kept_(kept) {}

  ResultViewPtr Add(std::shared_ptr<StoredResult> result) {
    auto entry = std::make_shared<Entry>();
    ResultView& view = entry->view;
    view.references = result->result.details.references;
    view.generated = result->result.details.generated;
    view.outputs = result->result.outputs;
    view.is_verdict = result->result.is_verdict;
    view.error = result->result.error;
    view.key = DigestHash()(result->action_key);
    if (const auto& warnings = result->result.details.warnings; !warnings.empty())
      view.warnings = std::make_shared<const std::vector<std::string>>(warnings);
    if (auto inputs = CookedInputsOf(result->package, result->observed); !inputs.empty())
      view.inputs = std::make_shared<const std::vector<std::string>>(std::move(inputs));
    if (result->result.log) view.log = result->result.log->ToString();
    base::MutexLock lock(state_->mutex);
    if (view.is_verdict && result->last_cook.source == "cooked")
      state_->verdicts.insert(result->action_key);
    view.id = ResultId(state_->next++);
    entry->stored = std::move(result);
    if (kept_ == Kept::kAlways) {
      state_->always.push_back(entry);
    } else {
      entry->state = state_;  // from here on its end needs the lock
    }
    state_->entries.emplace(view.id, entry);
    return ResultViewPtr(entry, &entry->view);
  }
  // Null: the record no longer exists.
  StoredResultPtr Get(ResultId id) const {
    std::shared_ptr<const Entry> entry;  // outlives the lock
    base::MutexLock lock(state_->mutex);
    const auto found = state_->entries.find(id);
    if (found == state_->entries.end()) return nullptr;
    entry = found->second.lock();
    return entry == nullptr ? nullptr : StoredResultPtr(entry, entry->stored.get());
  }
  // Notes a dispute: two outcomes of an action key differ. No present record of the key may be
  // used, except for the verdict that reports the dispute.
  void Dispute(const Digest& action_key) {
    base::MutexLock lock(state_->mutex);
    state_->disputed[action_key] = state_->next;
  }
  bool IsDisputed(ResultId id) const {
    const StoredResultPtr result = Get(id);
    return result != nullptr && IsDisputed(id, *result);
  }
  // `result`: the result that Get returns.
  bool IsDisputed(ResultId id, const StoredResult& result) const {
    base::MutexLock lock(state_->mutex);
    const auto found = state_->disputed.find(result.action_key);
    return found != state_->disputed.end() && id.value() < found->second &&
           !result.result.is_disputed;
  }
  // Forgets the verdicts of earlier cooks, so that their packages are cooked again.
  void ForgetVerdicts() {
    base::MutexLock lock(state_->mutex);
    state_->verdicts.clear();
  }
  // Says whether a job has reached a verdict for the key since ForgetVerdicts.
  bool HasVerdict(const Digest& action_key) const {
    base::MutexLock lock(state_->mutex);
    return state_->verdicts.contains(action_key);
  }
  bool WasDisputed(const Digest& action_key) const {
    base::MutexLock lock(state_->mutex);
    return state_->disputed.contains(action_key);
  }
  // Returns the number of records that exist.
  size_t size() const {
    base::MutexLock lock(state_->mutex);
    return state_->entries.size();
  }

 private:
  struct State;
  struct Entry {
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() {
      if (state == nullptr) return;
      base::MutexLock lock(state->mutex);
      state->entries.erase(view.id);
    }
    ResultView view;
    std::shared_ptr<const StoredResult> stored;
    std::shared_ptr<State> state;  // null: the record is kept always
  };
  // A held record may outlive the table.
  struct State {
    base::Mutex mutex;
    uint32_t next GALLEY_GUARDED_BY(mutex) = 0;
    absl::flat_hash_map<ResultId, std::weak_ptr<const Entry>> entries GALLEY_GUARDED_BY(mutex);
    std::vector<std::shared_ptr<const Entry>> always GALLEY_GUARDED_BY(mutex);
    std::set<Digest> verdicts GALLEY_GUARDED_BY(mutex);  // action keys
    // Action key -> `next` at the time of the dispute: records with lower ids are disputed.
    std::map<Digest, uint32_t> disputed GALLEY_GUARDED_BY(mutex);
  };

  const Kept kept_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace galley::director
