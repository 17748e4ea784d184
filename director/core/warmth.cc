#include "director/core/warmth.h"

#include <algorithm>

namespace galley::director {

void Warmth::Note(WorkerId worker, std::span<const uint64_t> inputs) {
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

void Warmth::Unhold(WorkerId worker, uint64_t input) {
  const auto holders = holders_.find(input);
  if (holders == holders_.end()) return;
  std::erase(holders->second, worker);
  if (holders->second.empty()) holders_.erase(holders);
}

void Warmth::Forget(WorkerId worker) {
  const auto known = inputs_.find(worker);
  if (known == inputs_.end()) return;
  for (const uint64_t input : known->second) Unhold(worker, input);
  inputs_.erase(known);
}

std::vector<WorkerId> Warmth::Holders(std::span<const uint64_t> inputs) const {
  std::vector<WorkerId> found;
  for (const uint64_t input : inputs) {
    const auto holders = holders_.find(input);
    if (holders == holders_.end()) continue;
    for (const WorkerId worker : holders->second) {
      if (std::find(found.begin(), found.end(), worker) == found.end()) found.push_back(worker);
    }
  }
  return found;
}

bool Warmth::IsHeld(WorkerId worker, uint64_t input) const {
  const auto holders = holders_.find(input);
  return holders != holders_.end() &&
         std::find(holders->second.begin(), holders->second.end(), worker) != holders->second.end();
}

double Warmth::ShareAt(WorkerId worker, std::span<const uint64_t> inputs) const {
  if (inputs.empty()) return 0;
  const auto warm = std::count_if(inputs.begin(), inputs.end(),
                                  [&](uint64_t input) { return IsHeld(worker, input); });
  return static_cast<double>(warm) / static_cast<double>(inputs.size());
}

}  // namespace galley::director
