// StoredReads: the reads of the last cooks of packages whose look-up found no result. A list comes
// from this project's journal, or from the newest observation set in the store, which another clone
// may have put there. The next job tells a worker without files what to fetch ahead
// (likely_reads.h), without a read of the journal on the loop thread.
//
// The lists are only hints. At most kBytesMax bytes are kept; the oldest lists are dropped first.
// Threads: any.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/record/observation.h"

namespace galley::director {

class StoredReads {
 public:
  static constexpr size_t kBytesMax = 32 << 20;

  explicit StoredReads(size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // Sets the list of a package. `platform`: the name of the platform.
  void Put(const std::string& package, const std::string& platform,
           std::vector<record::Observed> observed) {
    const base::MutexLock lock(mutex_);
    Key key(package, platform);
    const auto [at, is_new] = reads_.try_emplace(key);
    if (is_new) order_.push_back(key);
    bytes_ += BytesOf(key, observed) - (is_new ? 0 : BytesOf(key, at->second));
    at->second = std::move(observed);
    for (; bytes_ > bytes_max_ && !order_.empty(); order_.pop_front()) {
      const auto oldest = reads_.find(order_.front());
      bytes_ -= BytesOf(oldest->first, oldest->second);
      reads_.erase(oldest);
    }
  }

  // nullopt: no look-up has set a list, or it was dropped.
  std::optional<std::vector<record::Observed>> Find(const std::string& package,
                                                    const std::string& platform) const {
    const base::MutexLock lock(mutex_);
    const auto found = reads_.find({package, platform});
    if (found == reads_.end()) return std::nullopt;
    return found->second;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // package, platform

  static size_t BytesOf(const Key& key, const std::vector<record::Observed>& observed) {
    size_t bytes = key.first.size() + key.second.size() + sizeof(Key);
    for (const record::Observed& one : observed)
      bytes += sizeof(one) + one.what.subject.size() + one.what.detail.size() + one.value.size();
    return bytes;
  }

  const size_t bytes_max_;
  mutable base::Mutex mutex_;
  std::map<Key, std::vector<record::Observed>> reads_ GALLEY_GUARDED_BY(mutex_);
  std::deque<Key> order_ GALLEY_GUARDED_BY(mutex_);  // oldest first
  size_t bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::director
