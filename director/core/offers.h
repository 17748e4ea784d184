// Offers: which workers can do which jobs. A worker of another build lacks some cookers; one on a
// machine without the project may have other tools than the director, and finds that out when it
// has a job that wants them: it *refuses* it, and then gets no job of the same programs, until its
// process ends or a cook begins. And a program that failed on such a machine is tried again where
// the project's files are (Work::needs_files); when kNeedFilesMax jobs of the same programs did so,
// with no result from such a machine between them, all of these are cooked where the files are,
// until a cook begins.
//
// Jobs are of one *kind* if a worker that can do one of them can do all: those of a cooker; of a
// cooker that starts programs, those that start the same; or all that need files. A package that no
// worker which can do its kind can take now is *parked*, so that it holds up nothing that others
// could do; one of each kind at a time, the first, is asked for whether some worker can take it by
// now.
//
// What launched workers are known to lack, or all refuse, is parked at once, for the helpers
// (fleet.h).
//
// Where no worker of this machine is started, and none of those that are attached can do the kind
// for `unoffered_max`, its packages fail: nobody is to wait for ever. The failure is in no cache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "director/core/part.h"
#include "director/core/workers.h"

namespace galley::director {

class Offers : Part {
 public:
  static constexpr size_t kParkedMax = 16'384;  // in a step
  static constexpr size_t kUnparkedMax = 64;    // in a step, of a kind
  static constexpr size_t kFailedMax = 256;     // likewise
  static constexpr uint32_t kNeedFilesMax = 2;

  explicit Offers(Core& core);

  // `programs`: as in CatalogEntry.
  uint32_t KindOf(std::string_view cooker, std::string_view programs);
  void SetLacks(WorkerId worker, const std::vector<std::string>& cookers);
  // The worker has other tools than the package's programs want. What waits there of the same goes
  // elsewhere.
  void Refuse(WorkerId worker, PackageId package, const std::string& error);
  // A program of the package failed where its files are not. False: nobody has them, or could.
  bool NeedFiles(PackageId package, const std::string& error);
  // A worker made a result of the package.
  void NoteMade(WorkerId worker, PackageId package);
  // A cook begins. Kinds of programs that no package has are forgotten, too.
  void ForgetRefusals();
  // Those that have a number.
  size_t kinds() const { return kinds_.size() - free_.size(); }
  bool Has(WorkerId id, const Worker& worker, PackageId package) const;
  // False: no worker with room lacks its kind, so that nobody waits in vain behind it; or so many
  // were parked in this step. REQUIRES: Placing::Place found no worker. O(workers with room) where
  // a worker lacks any.
  bool Park(PackageId package);
  // A step begins: what those elsewhere lack is put aside, as far as it comes first, so that nobody
  // is asked for there on its behalf. Then Unpark.
  void ParkForHelpers();
  // What workers can take now goes back to its queue; what nobody ever could fails.
  void Unpark();
  // The parked packages that workers on other machines cannot cook. O(workers) for each kind of
  // them.
  size_t CountForHelpers() const;

 private:
  static constexpr uint32_t kNeedsFiles = 0;
  struct Kind {
    uint32_t of_cooker = 0;  // the kind of all jobs of its cooker
    std::string name;        // in numbers_; empty: not in use
    std::string cooker;
    std::string refusal;        // what the last worker said that refused one
    uint32_t needed_files = 0;  // so many needed files, with no result between them
  };

  uint32_t Number(std::string_view name, std::string_view cooker);
  uint32_t KindOf(PackageId package) const;
  bool Lacks(WorkerId id, const Worker& worker, uint32_t kind) const;
  bool NeedsFiles(uint32_t kind) const { return kinds_[kind].needed_files >= kNeedFilesMax; }
  bool HasAttached(uint32_t kind) const;
  bool HasElsewhere(uint32_t kind) const;
  void ForgetPrograms();
  bool FleetLacks(uint32_t kind) const;
  bool IsOffered(uint32_t kind) const;
  void UnparkOf(uint32_t kind);
  void FailUnoffered(uint32_t kind);
  std::string WhyUnoffered(uint32_t kind) const;

  std::vector<Kind> kinds_;                             // by number
  std::vector<uint32_t> free_;                          // numbers that are not in use
  absl::flat_hash_map<std::string, uint32_t> numbers_;  // look-up only
  bool has_lacking_ = false;                            // some worker lacks something, or did
  size_t parked_ = 0;                                   // in this step
  // What the launched worker lacks which came last, and what launched workers refused.
  absl::btree_set<uint32_t> fleet_lacks_, fleet_refuses_;
  absl::btree_map<uint32_t, absl::Duration> unoffered_since_;  // by kind; Core::awake
};

}  // namespace galley::director
