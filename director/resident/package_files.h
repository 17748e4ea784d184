// PackageFiles: what a package's cook made on one platform, and CookedTable: what is known to be
// cooked on a platform in the present world.
//
// Threads: PackageFiles are immutable; CookedTable: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
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
#include "director/core/packages/package_data.h"

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
    lost_.erase(package);
  }
  // The packages differ. Returns those that were known to be cooked.
  std::vector<std::string> Drop(std::span<const std::string> packages) {
    std::vector<std::string> dropped;
    base::MutexLock lock(mutex_);
    ++version_;
    for (const std::string& package : packages) {
      lost_.erase(package);
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
      if (found == outputs.end()) continue;
      lost_.insert_or_assign(here->first, here->second);
      packages_.erase(here);
    }
  }
  void Clear() {
    base::MutexLock lock(mutex_);
    ++version_;
    packages_.clear();
    lost_.clear();
  }
  // Rises when packages are dropped, or one gets other files than it had: as long as it stands,
  // what Find said of a package holds.
  uint64_t version() const {
    base::MutexLock lock(mutex_);
    return version_;
  }
  // Adds what these packages generate, and what that generates, as far as it is known.
  // `name_of`: (generator, stage path) -> the name of the package that is staged there.
  template <typename NameOf>
  void AddGenerated(std::vector<std::string>& packages, const NameOf& name_of) const {
    base::MutexLock lock(mutex_);
    for (size_t i = 0; i < packages.size(); ++i) {
      for (const auto* known : {&packages_, &lost_}) {
        const auto found = known->find(packages[i]);
        if (found == known->end()) continue;
        for (const std::string& staged : found->second->generated)
          packages.push_back(name_of(packages[i], staged));
      }
    }
  }
  // The packages that refer to one of these files, or to a package that one of them generates,
  // sorted. `files`: sorted. Cost: linear in the table and its references.
  std::vector<std::string> ReferringTo(const std::vector<std::string>& files) const {
    const auto is_among = [&](std::string_view name) {
      for (; !name.empty(); name = GeneratorName(name)) {
        if (std::ranges::binary_search(files, name, std::less<>())) return true;
      }
      return false;
    };
    std::vector<std::string> referring;
    base::MutexLock lock(mutex_);
    for (const auto* packages : {&packages_, &lost_}) {
      for (const auto& [package, made] : *packages) {
        if (std::ranges::any_of(made->needed, is_among) ||
            std::ranges::any_of(made->soft, is_among))
          referring.push_back(package);
      }
    }
    std::ranges::sort(referring);
    return referring;
  }
  // In no order.
  CookedPackages All() const {
    base::MutexLock lock(mutex_);
    return CookedPackages(packages_.begin(), packages_.end());
  }

 private:
  mutable base::Mutex mutex_;
  uint64_t version_ GALLEY_GUARDED_BY(mutex_) = 0;
  using Packages = absl::flat_hash_map<std::string, PackageFilesPtr>;
  Packages packages_ GALLEY_GUARDED_BY(mutex_);
  Packages lost_ GALLEY_GUARDED_BY(mutex_);  // DropWith; trees may have their nodes
};

}  // namespace galley::director
