#include "tests/simulation/cooks_store.h"

#include <algorithm>
#include <memory>

namespace galley::simulation {

using namespace director;  // NOLINT: a store of it

ResultViewPtr CooksStore::Add(Result result, ResultView view) {
  view.id = ResultId(static_cast<uint32_t>(results_.size()));
  result.view = std::make_shared<ResultView>(std::move(view));
  return results_.emplace(result.view->id, result).first->second.view;
}

void CooksStore::Persist(ResultId id) {
  if (IsDropped(id)) return;  // it was found by a look-up, and is lost since
  const Result& result = results_.at(id);
  std::vector<ResultId>& known = known_[{result.name, result.platform}];
  if (std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
}

const std::vector<ResultId>& CooksStore::Known(const std::string& name,
                                               PlatformIndex platform) const {
  static const std::vector<ResultId>& none = *new std::vector<ResultId>();
  const auto found = known_.find({name, platform});
  return found == known_.end() ? none : found->second;
}

void CooksStore::LoseSome(Random& random) {
  for (const auto& [of, known] : known_) {
    for (const ResultId id : known) {
      if (random.Percent(20)) gone_.insert(id);
    }
  }
}

bool CooksStore::LookAt(ResultId id) {
  if (IsThere(id)) return true;
  dropped_.insert(id);
  const Result& result = results_.at(id);
  std::erase(known_[{result.name, result.platform}], id);
  return false;
}

}  // namespace galley::simulation
