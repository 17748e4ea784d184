#include "director/core/package_data.h"

namespace galley::director {

std::string_view GeneratorName(std::string_view name) {
  const size_t at = name.rfind("/_gen/");
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

PackageId PackageTable::FindOrAdd(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  if (size_ % kChunkSize == 0) chunks_.push_back(std::make_unique<PackageData[]>(kChunkSize));
  const PackageId id(size_++);
  PackageData& package = (*this)[id];
  package.name = std::string(name);
  by_name_.emplace(package.name, id);
  return id;
}

PackageId PackageTable::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? PackageId() : found->second;
}

}  // namespace galley::director
