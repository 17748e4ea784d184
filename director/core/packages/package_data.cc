#include "director/core/packages/package_data.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"

namespace galley::director {

void PackageData::BeginCook() {
  GALLEY_CHECK(work == nullptr);
  static_cast<PackageInCook&>(*this) = PackageInCook();
  ++generation;
}

PlatformMask InPhase(const PackageData& package, Phase phase) {
  PlatformMask mask = 0;
  const RareVector<Slot>& slots = package.slots;
  for (PlatformIndex p = 0; p < slots.size(); ++p) mask |= slots[p].phase == phase ? MaskOf(p) : 0;
  return mask;
}

PlatformMask WantedPlatforms(const PackageData& package) {
  PlatformMask mask = 0;
  const RareVector<Slot>& slots = package.slots;
  for (PlatformIndex p = 0; p < slots.size(); ++p)
    mask |= slots[p].phase != Phase::kUnwanted ? MaskOf(p) : 0;
  return mask;
}

bool IsAllSettled(const PackageData& package) {
  return (InPhase(package, Phase::kDone) | InPhase(package, Phase::kFailed)) ==
         WantedPlatforms(package);
}

std::string StateText(const PackageData& package) {
  std::string text(StateName(package.state));
  if (package.state != State::kIdle) return text;
  if (package.is_skipped) return text + ", skipped";
  if (package.outcome != Outcome::kNone)
    return text + ", " + std::string(OutcomeName(package.outcome));
  return text;
}

std::string_view GeneratorName(std::string_view name) {
  const size_t at = name.rfind("/_gen/");
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

size_t PackageTable::NameHash::operator()(std::string_view name) const {
  return absl::Hash<absl::string_view>()(absl::string_view(name.data(), name.size()));
}

void PackageTable::Clear() {
  for (uint32_t i = 0; i < size_; ++i)
    generation_ = std::max(generation_, (*this)[PackageId(i)].generation + 1);
  by_name_ = decltype(by_name_)(0, NameHash{this}, NameEqual{this});
  chunks_ = decltype(chunks_)();
  free_ = {};
  size_ = 0;
}

void PackageTable::Forget(PackageId id) {
  PackageData& package = (*this)[id];
  GALLEY_CHECK(!package.name.empty() && package.work == nullptr && !package.is_in_cook());
  by_name_.erase(id);  // by its name, which is there for the last time
  const uint32_t generation = package.generation + 1;
  package = PackageData();
  package.generation = package.content = generation;
  free_.push_back(id);
}

PackageId PackageTable::FindOrAdd(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found;
  if (!free_.empty()) {
    const PackageId again = free_.back();
    free_.pop_back();
    (*this)[again].name = std::string(name);
    by_name_.insert(again);
    return again;
  }
  if (size_ % kChunkSize == 0) chunks_.push_back(std::make_unique<PackageData[]>(kChunkSize));
  const PackageId id(size_++);
  PackageData& package = (*this)[id];
  package.name = std::string(name);
  package.generation = package.content = generation_;
  by_name_.insert(id);
  return id;
}

size_t PackageTable::bytes() const {
  return chunks_.size() * kChunkSize * sizeof(PackageData) +
         by_name_.capacity() * (sizeof(PackageId) + 1);
}

PackageId PackageTable::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? PackageId() : *found;
}

}  // namespace galley::director
