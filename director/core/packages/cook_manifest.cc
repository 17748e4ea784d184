#include "director/core/packages/cook_manifest.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

CookManifest::CookManifest(Options options)
    : options_(std::move(options)), number_of_(options_.packages, kNone) {
  for (PlatformIndex p = 0; p < 32; ++p) {
    if ((options_.platforms & MaskOf(p)) != 0) platforms_.push_back(p);
  }
}

void CookManifest::AddMember(const Member& member, const std::vector<Result>& results) {
  GALLEY_CHECK(results.size() == platforms_.size());
  number_of_[member.package.index()] = static_cast<uint32_t>(members_.size());
  members_.push_back(member);
  results_.insert(results_.end(), results.begin(), results.end());
}

void CookManifest::AddReferences(const std::vector<Reference>& references) {
  references_.insert(references_.end(), references.begin(), references.end());
  first_reference_.push_back(references_.size());
}

std::optional<uint32_t> CookManifest::Find(PackageId package) const {
  if (!package.valid() || package.index() >= number_of_.size()) return std::nullopt;
  const uint32_t number = number_of_[package.index()];
  return number == kNone ? std::nullopt : std::optional(number);
}

std::optional<size_t> CookManifest::ColumnOf(PlatformIndex platform) const {
  const auto found = std::ranges::find(platforms_, platform);
  if (found == platforms_.end()) return std::nullopt;
  return static_cast<size_t>(found - platforms_.begin());
}

ResultId CookManifest::UsableResult(PackageId package, PlatformIndex platform) const {
  const std::optional<uint32_t> member = Find(package);
  const std::optional<size_t> column = ColumnOf(platform);
  if (!member.has_value() || !column.has_value()) return ResultId();
  const Result& result = ResultOf(*member, *column);
  return IsUsable(result) ? result.id : ResultId();
}

bool CookManifest::Names(PackageId package, ResultId result) const {
  return std::ranges::any_of(platforms_, [&](PlatformIndex platform) {
    const ResultId usable = UsableResult(package, platform);
    return usable.valid() && usable == result;
  });
}

std::vector<std::pair<PackageId, ResultId>> CookManifest::RootOf(PlatformIndex platform) const {
  const std::optional<size_t> column = ColumnOf(platform);
  GALLEY_CHECK(column.has_value() && first_reference_.size() == members_.size() + 1);
  std::vector<uint32_t> found;
  std::vector<bool> is_found(members_.size(), false);
  const auto add = [&](uint32_t number) {
    if (is_found[number] || !IsUsable(ResultOf(number, *column))) return;
    const uint32_t generator = members_[number].generator;
    if (generator == Member::kNoGenerator) return;
    if (generator != Member::kNotGenerated && !IsUsable(ResultOf(generator, *column))) return;
    is_found[number] = true;
    found.push_back(number);
  };
  for (uint32_t i = 0; i < members_.size(); ++i) {
    if (members_[i].is_selected) add(i);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    ForEachReference(found[i], [&](const Reference& reference) {
      if (reference.is_generated || (reference.platforms & MaskOf(platform)) != 0)
        add(reference.target);
    });
  }
  std::vector<std::pair<PackageId, ResultId>> root;
  root.reserve(found.size());
  for (uint32_t i = 0; i < members_.size(); ++i) {
    if (is_found[i]) root.emplace_back(members_[i].package, ResultOf(i, *column).id);
  }
  return root;
}

bool CookManifest::Fail(PackageId package, PlatformIndex platform) {
  if (!UsableResult(package, platform).valid()) return false;
  const uint32_t number = *Find(package);
  Result& result = results_[number * platforms_.size() + *ColumnOf(platform)];
  result.has_failed = true;
  Counters& counters = options_.tally.counters;
  --(result.source == ResultSource::kCooked   ? counters.results_cooked
     : result.source == ResultSource::kCached ? counters.results_cached
                                              : counters.results_up_to_date);
  ++counters.results_failed;
  Member& member = members_[number];
  if (!std::exchange(member.has_failed, true)) {
    ++counters.failed;
    if (std::exchange(member.is_up_to_date, false)) --counters.up_to_date;
  }
  return true;
}

void CookManifest::CountOf(PackageId package, uint32_t content, uint64_t Counters::*counter,
                           uint64_t by) {
  const std::optional<uint32_t> member = Find(package);
  if (member.has_value() && members_[*member].content == content) Count(counter, by);
}

void CookManifest::DropReferences() {
  references_ = {};
  first_reference_ = {};
}

}  // namespace galley::director
