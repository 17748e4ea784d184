// PackageFiles: what a package's cook made on one platform, and CookedTable: what is known to be
// cooked on a platform in the present world.
//
// Threads: PackageFiles are immutable; CookedTable: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/record/result.h"

namespace galley::director {

struct PackageFiles {
  std::optional<Digest> key;            // the action key; nullopt: not known, or nothing was cooked
  std::vector<record::Output> outputs;  // sorted by suffix
  std::vector<std::string> generated;   // stage paths of generated packages, sorted
  std::vector<std::string> needed;      // packages that are referred to by hard references, sorted
  std::vector<std::string> soft;        // and those by soft references that lead somewhere

  // nullptr: there is no such output.
  const record::Output* Find(std::string_view suffix) const {
    const auto found = std::ranges::find(outputs, suffix, &record::Output::suffix);
    return found == outputs.end() ? nullptr : &*found;
  }
  bool Generates(const std::string& stage_path) const {
    return std::ranges::binary_search(generated, stage_path);
  }
  bool operator==(const PackageFiles&) const = default;
};
using PackageFilesPtr = std::shared_ptr<const PackageFiles>;
using CookedPackages = std::vector<std::pair<std::string, PackageFilesPtr>>;

class CookedTable {
 public:
  // nullptr: the package is not known to be cooked.
  PackageFilesPtr Find(const std::string& package) const {
    base::MutexLock lock(mutex_);
    const auto found = packages_.find(package);
    return found == packages_.end() ? nullptr : found->second;
  }
  void Put(const std::string& package, PackageFilesPtr files) {
    base::MutexLock lock(mutex_);
    PackageFilesPtr& kept = packages_[package];
    if (kept != nullptr && *kept != *files) ++version_;
    kept = std::move(files);
  }
  // Returns those that were known to be cooked.
  std::vector<std::string> Drop(std::span<const std::string> packages) {
    std::vector<std::string> dropped;
    base::MutexLock lock(mutex_);
    ++version_;
    for (const std::string& package : packages) {
      if (packages_.erase(package) > 0) dropped.push_back(package);
    }
    return dropped;
  }
  // Drops the packages with this output: the store lacks it.
  void DropWith(const Digest& output) {
    base::MutexLock lock(mutex_);
    ++version_;
    for (auto at = packages_.begin(); at != packages_.end();) {
      const auto& outputs = at->second->outputs;
      const auto found = std::ranges::find(outputs, output, &record::Output::digest);
      const auto here = at++;
      if (found != outputs.end()) packages_.erase(here);
    }
  }
  void Clear() {
    base::MutexLock lock(mutex_);
    ++version_;
    packages_.clear();
  }
  // Rises when packages are dropped, or one gets other files than it had: as long as it stands,
  // what Find said of a package holds.
  uint64_t version() const {
    base::MutexLock lock(mutex_);
    return version_;
  }
  // The packages with a hard reference to one of `names`, sorted. Cost: linear in the table.
  std::vector<std::string> NeedingAnyOf(const std::vector<std::string>& names) const {
    std::vector<std::string> needing;
    base::MutexLock lock(mutex_);
    for (const auto& [package, files] : packages_) {
      const auto is_needed = [&](const std::string& name) {
        return std::ranges::binary_search(files->needed, name);
      };
      if (std::ranges::any_of(names, is_needed)) needing.push_back(package);
    }
    std::ranges::sort(needing);
    return needing;
  }
  // In no order.
  CookedPackages All() const {
    base::MutexLock lock(mutex_);
    return CookedPackages(packages_.begin(), packages_.end());
  }

 private:
  mutable base::Mutex mutex_;
  uint64_t version_ GALLEY_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, PackageFilesPtr> packages_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
