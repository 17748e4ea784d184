// ResultTable: the full records behind the core's ResultIds, for the life of a director.
//
// Threads: any. A stored record is immutable once added.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/record/observation.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"

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
  std::vector<std::pair<Digest, store::BlobLocation>> blobs;  // written for it, not yet committed
  LastCook last_cook;
  uint64_t holds_in = 0;           // Sources::number() in which it was found to hold; 0: none
  bool is_in_journal = false;      // the journal has it as it stands
  bool has_failed_before = false;  // the journal knows of a failure of this platform
  // The root last published for this platform has its key, and the journal says so.
  bool is_published = false;
};
using StoredResultPtr = std::shared_ptr<const StoredResult>;

class ResultTable {
 public:
  ResultViewPtr Add(std::shared_ptr<StoredResult> result) {
    auto view = std::make_shared<ResultView>();
    view->references = result->result.details.references;
    view->generated = result->result.details.generated;
    view->outputs = result->result.outputs;
    view->is_verdict = result->result.is_verdict;
    view->error = result->result.error;
    if (result->result.log) view->log = result->result.log->ToString();
    base::MutexLock lock(mutex_);
    if (view->is_verdict && result->last_cook.source == "cooked")
      verdicts_.insert(result->action_key);
    view->id = ResultId(static_cast<uint32_t>(results_.size()));
    results_.push_back(std::move(result));
    return view;
  }
  StoredResultPtr Get(ResultId id) const {
    base::MutexLock lock(mutex_);
    return id.valid() && id.index() < results_.size() ? results_[id.index()] : nullptr;
  }
  // Two outcomes of an action key were found: none of those that are here by now is to be used, but
  // for the verdict that says so.
  void Dispute(const Digest& action_key) {
    base::MutexLock lock(mutex_);
    disputed_[action_key] = results_.size();
  }
  bool IsDisputed(ResultId id) const {
    base::MutexLock lock(mutex_);
    if (!id.valid() || id.index() >= results_.size()) return false;
    const StoredResult& result = *results_[id.index()];
    const auto found = disputed_.find(result.action_key);
    return found != disputed_.end() && id.index() < found->second && !result.result.is_disputed;
  }
  // Verdicts of the director's earlier cooks are judged again.
  void ForgetVerdicts() {
    base::MutexLock lock(mutex_);
    verdicts_.clear();
  }
  // True: a job of this cook reached a verdict for the key.
  bool HasVerdict(const Digest& action_key) const {
    base::MutexLock lock(mutex_);
    return verdicts_.contains(action_key);
  }
  bool WasDisputed(const Digest& action_key) const {
    base::MutexLock lock(mutex_);
    return disputed_.contains(action_key);
  }

 private:
  mutable base::Mutex mutex_;
  std::vector<StoredResultPtr> results_ GALLEY_GUARDED_BY(mutex_);
  std::set<Digest> verdicts_ GALLEY_GUARDED_BY(mutex_);          // action keys
  std::map<Digest, size_t> disputed_ GALLEY_GUARDED_BY(mutex_);  // how many were here then
};

}  // namespace galley::director
