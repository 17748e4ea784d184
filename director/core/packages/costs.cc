#include "director/core/packages/costs.h"

#include <algorithm>
#include <limits>

namespace galley::director {
namespace {

// A job's fixed part, as if its source were larger by these bytes.
constexpr double kFixedBytes = 4096;
// Before anything was measured.
constexpr absl::Duration kCostOfByte = absl::Microseconds(1);

// A process takes this memory by itself, as if each source were larger by these bytes.
constexpr double kFixedMemoryBytes = 16 << 20;
// A single outlier is forgotten after some hundred jobs.
constexpr double kMemoryDecay = 0.99;

double MemoryWeightOf(const CostTraits& traits) { return kFixedMemoryBytes + traits.source_bytes; }

double WeightOf(const CostTraits& traits) { return kFixedBytes + traits.source_bytes; }

}  // namespace

std::string Costs::NameOf(uint32_t cooker) const {
  for (const auto& [name, number] : cookers_) {
    if (number == cooker) return name;
  }
  return "";
}

CostTraits Costs::TraitsOf(std::string_view cooker, uint64_t source_bytes) {
  const auto [at, is_new] =
      cookers_.try_emplace(std::string(cooker), static_cast<uint32_t>(measured_.size()));
  if (is_new) measured_.emplace_back();
  return {.cooker = at->second,
          .source_bytes = static_cast<uint32_t>(
              std::min<uint64_t>(source_bytes, std::numeric_limits<uint32_t>::max()))};
}

absl::Duration Costs::Guess(const CostTraits& traits) const {
  const double weight = WeightOf(traits);
  if (traits.cooker >= measured_.size() || measured_[traits.cooker].weight == 0)
    return kCostOfByte * weight;
  const Sums& sums = measured_[traits.cooker];
  return (sums.time + sums.running) * (weight / (sums.weight + sums.running_weight));
}

void Costs::ClearRunning() {
  for (Sums& sums : measured_) {
    sums.running = absl::ZeroDuration();
    sums.running_weight = 0;
  }
}

void Costs::AddRunning(const CostTraits& traits, absl::Duration ran) {
  if (traits.cooker >= measured_.size()) return;
  Sums& sums = measured_[traits.cooker];
  const double weight = WeightOf(traits);
  if (sums.weight == 0 || ran <= sums.time * (weight / sums.weight)) return;
  sums.running += ran;
  sums.running_weight += weight;
}

void Costs::AddMeasurement(const CostTraits& traits, absl::Duration time) {
  if (traits.cooker >= measured_.size()) return;
  measured_[traits.cooker].time += time;
  measured_[traits.cooker].weight += WeightOf(traits);
}

uint64_t Costs::GuessMemory(const CostTraits& traits) const {
  if (traits.cooker >= measured_.size()) return 0;
  return static_cast<uint64_t>(measured_[traits.cooker].memory_ratio * MemoryWeightOf(traits));
}

void Costs::MeasuredMemory(const CostTraits& traits, uint64_t bytes) {
  if (traits.cooker >= measured_.size() || bytes == 0) return;
  double& ratio = measured_[traits.cooker].memory_ratio;
  ratio = std::max(ratio * kMemoryDecay, static_cast<double>(bytes) / MemoryWeightOf(traits));
}

}  // namespace galley::director
