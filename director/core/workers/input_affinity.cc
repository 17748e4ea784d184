#include "director/core/workers/input_affinity.h"

#include <algorithm>

namespace galley::director {

void InputAffinity::Note(WorkerId worker, std::span<const uint64_t> inputs) {
  std::vector<uint64_t>& known = inputs_[worker];
  for (const uint64_t input : inputs) {
    std::erase(known, input);
    known.push_back(input);
    std::vector<WorkerId>& holders = holders_[input];
    std::erase(holders, worker);
    holders.push_back(worker);
    if (holders.size() > kHoldersMax) holders.erase(holders.begin());
    if (known.size() <= kInputsMax) continue;
    Unhold(worker, known.front());
    known.erase(known.begin());
  }
}

void InputAffinity::Unhold(WorkerId worker, uint64_t input) {
  const auto holders = holders_.find(input);
  if (holders == holders_.end()) return;
  std::erase(holders->second, worker);
  if (holders->second.empty()) holders_.erase(holders);
}

void InputAffinity::Forget(WorkerId worker) {
  const auto known = inputs_.find(worker);
  if (known == inputs_.end()) return;
  for (const uint64_t input : known->second) Unhold(worker, input);
  inputs_.erase(known);
}

std::vector<InputAffinity::Holder> InputAffinity::Holders(std::span<const uint64_t> inputs) const {
  std::vector<WorkerId> found;  // once for each input
  for (const uint64_t input : inputs) {
    const auto holders = holders_.find(input);
    if (holders != holders_.end())
      found.insert(found.end(), holders->second.begin(), holders->second.end());
  }
  std::ranges::sort(found);
  std::vector<Holder> all;
  for (auto at = found.begin(); at != found.end();) {
    const auto end = std::upper_bound(at, found.end(), *at);
    all.push_back({*at, static_cast<double>(end - at) / static_cast<double>(inputs.size())});
    at = end;
  }
  std::ranges::stable_sort(all, [](const Holder& a, const Holder& b) { return a.share > b.share; });
  return all;
}

}  // namespace galley::director
