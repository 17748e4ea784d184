// StandingBase: the base of a cook that looks only at a difference: the outcome of the last cook of
// the same ask (director/standing), and the journal's earlier records of the packages that are
// looked at again.
//
// Threads: any. Constant once the cook is requested.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/digest.h"
#include "director/core/catalog.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/standing/members.h"

namespace galley::director {

class StandingBase final : public StandingPackages {
 public:
  std::shared_ptr<const Members> members;
  std::map<std::string, Digest> roots;  // the last published roots, by platform
  // The records of the packages that are looked at again, and of all packages that they generated.
  std::map<std::string, PackageRecord, std::less<>> before;
  // The packages of `before` that the project no longer has.
  std::set<std::string, std::less<>> gone;
  // The failures of the last cook: package and platform; an empty platform: all.
  std::set<std::pair<std::string, std::string>> failed;
  uint64_t loss_epoch = 0;                 // of the store; nothing was lost since
  std::shared_ptr<const Catalog> catalog;  // of the world in which the difference was found

  // Says whether all roots hold the package, and nothing that it observed has changed.
  bool Has(std::string_view package) const override {
    return !before.contains(package) && members->RootsOf(package) == all_roots();
  }
  bool WasInCook(std::string_view package) const override {
    const auto first = failed.lower_bound({std::string(package), ""});
    return (first != failed.end() && first->first == package) || members->Find(package).has_value();
  }
  // Returns Member::roots of a package that is in all roots.
  uint32_t all_roots() const {
    return static_cast<uint32_t>((uint64_t{1} << members->platforms().size()) - 1);
  }
  // Says whether the package failed on the platform.
  bool HasFailed(const std::string& package, const std::string& platform) const {
    return failed.contains({package, platform}) || failed.contains({package, ""});
  }
};

}  // namespace galley::director
