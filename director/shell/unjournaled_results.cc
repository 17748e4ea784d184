#include "director/shell/unjournaled_results.h"

namespace galley::director {

void UnjournaledResults::Add(const Persist& persist) {
  for (const Persist::Item& item : persist.items) {
    const StoredResultPtr stored = results_->Get(item.result);
    if (stored != nullptr && !stored->is_in_journal) ids_.insert(item.result);
  }
}

void UnjournaledResults::Remove(const Persisted& persisted) {
  for (const Persisted::Item& item : persisted.items) ids_.erase(item.result);
}

std::vector<std::string> UnjournaledResults::Outdated(
    const std::function<bool(const StoredResult&)>& holds) const {
  std::vector<std::string> packages;
  for (const ResultId id : ids_) {
    const StoredResultPtr stored = results_->Get(id);
    if (!holds(*stored)) packages.push_back(stored->package);
  }
  return packages;
}

}  // namespace galley::director
