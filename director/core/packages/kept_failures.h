// KeptFailures: packages that used up their attempts. Asks do not try such a package again until
// its inputs change, or until the time is over; a cook tries it again as always.
//
// Otherwise a device that asks again and again for a package that kills executors would kill one
// executor after the other. The failures outlive the cook and the ask in which they happened, and
// the ids of the packages (CookCore forgets packages where memory is short): the packages are known
// by their names.
// Cost: O(log n), for Keep O(n); remembers only packages that used up their attempts.
// Threads: none; owned by its layer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "director/core/effects.h"

namespace galley::director {

class KeptFailures {
 public:
  static constexpr absl::Duration kKeptFor = absl::Minutes(10);

  // Keeps the failure if its cause says that the package used up its attempts. A failure that is
  // kept already keeps its time, because it may be the same failure, told again.
  void Keep(const std::string& package, const PackageFailed& failed, absl::Time now);
  // nullptr: the package may be tried. The failure's id of the package may be an old one. Valid
  // until the next Keep or Forget.
  const PackageFailed* Find(std::string_view package, absl::Time now) const;
  // The package's inputs changed, or a person cleared the package.
  void Forget(std::string_view package);
  bool empty() const { return failures_.empty(); }
  // visit(const std::string& name) for each package with a failure; its time may be over.
  template <typename Visit>
  void ForEachPackage(Visit visit) const {
    for (const auto& [package, kept] : failures_) visit(package);
  }

 private:
  struct Kept {
    PackageFailed failed;
    absl::Time until;
  };
  absl::btree_map<std::string, Kept, std::less<>> failures_;
};

}  // namespace galley::director
