// Eligibility: which workers can do which jobs. A worker of another build *lacks* some cookers. A
// worker on a machine without the project may have other tools than the director, and notices that
// only with a job that needs them: it *refuses* the job, and gets no job of the same programs until
// its process ends or a cook begins. A job whose program failed on such a machine is tried again
// where the project's files are (Work::needs_files). After kNeedFilesMax such jobs of the same
// programs, without a result from such a machine between them, all jobs of these programs are
// cooked where the files are, until a cook begins.
//
// Rules may *demand* labels and resources of a job's machine (common/record/worker_offer.h). A
// worker without the label, or whose machine never has enough of the resource (grants.h), gets no
// such job. The offer of launched workers is known in advance, so none is asked for if the offer
// does not meet the demand.
//
// Jobs are of one *kind* if a worker that can do one of them can do all. They have the same demand
// and the same cooker and, for a cooker that starts programs, the same programs. All jobs that need
// files and have the same demand are one kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "director/core/catalog.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/worker_table.h"
#include "director/core/workers/held_results.h"

namespace galley::director {

class Eligibility : JobPart {
 public:
  static constexpr uint32_t kNeedFilesMax = 2;

  Eligibility(const JobGround& ground, Grants& grants, Attempts& attempts,
              PackageProgress& package_progress, HeldResults& held_results);

  // `group`: the group of the entry's resources (Grants).
  uint32_t KindOf(const CatalogEntry& entry, uint32_t group);
  void SetLacks(WorkerId worker, const std::vector<std::string>& cookers);
  // Sets the offer of a worker that attaches.
  void SetOffer(WorkerId worker, const std::string& machine, const record::WorkerOffer& offer);
  // The worker refused a job of the package. Jobs of the same programs that wait there go to other
  // workers.
  void Refuse(WorkerId worker, PackageId package, const std::string& error);
  // A program of the package failed on a machine without the project. False: no worker has the
  // project's files, or could have them.
  bool NeedFiles(PackageId package, const std::string& error);
  // A worker made a result of the package.
  void NoteMade(WorkerId worker, PackageId package);
  // A cook begins. If no package is in the works, all kinds of programs are forgotten as well.
  void ForgetRefusals();
  // The number of kinds that are in use.
  size_t kinds() const { return kinds_.size() - free_.size(); }
  bool Has(WorkerId id, const Worker& worker, PackageId package) const;
  // True: some worker cannot do some kind, or could not before.
  bool has_lacking() const { return has_lacking_; }
  // The kind demands something of its worker's machine.
  bool IsDemanding(uint32_t kind) const { return kinds_[kind].demand != 0; }
  // Workers started on this machine meet the demand of the kind.
  bool IsOfLocal(uint32_t kind) const { return DemandOf(kind).is_of_local; }
  // The kind of the package's jobs now. REQUIRES: the package is in the works.
  uint32_t KindOf(PackageId package) const;
  bool Lacks(WorkerId id, const Worker& worker, uint32_t kind) const;
  // HasAttached: an attached worker can do the kind. HasElsewhere: one outside Pool::kLocal can.
  bool HasAttached(uint32_t kind) const;
  bool HasElsewhere(uint32_t kind) const;
  // A launcher may start a worker that can do the kind.
  bool MayBeLaunched(uint32_t kind) const;
  // Launched workers are known to be unable to do the kind.
  bool FleetLacks(uint32_t kind) const;
  // True: a worker that can do the kind is attached, or may come.
  bool IsOffered(uint32_t kind) const;
  // Texts for people: what the kind demands; what the workers offer; why no worker can do the kind.
  std::string WantedText(uint32_t kind) const;
  std::string OfferedText() const;
  std::string WhyUnoffered(uint32_t kind) const;
  // CHECKs that all jobs are at workers that meet their demands, and hold no more than is offered.
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kNeedsFiles = 0;
  struct Demand {
    std::vector<std::string> labels;  // sorted
    uint32_t group = 0;               // Grants
    bool is_of_local = true;          // workers started on this machine meet it
    bool is_of_fleet = true;          // launched workers meet it
  };
  struct Kind {
    uint32_t of_cooker = 0;  // the kind of its cooker
    uint32_t of_all = 0;     // the same kind without a demand
    uint32_t demand = 0;
    std::string name;  // the key in numbers_; empty: not in use, or with a demand
    std::string cooker;
    std::string refusal;        // the reason of the last refusal
    uint32_t needed_files = 0;  // since the last result without files
  };

  uint32_t NewNumber();
  uint32_t Number(std::string_view name, std::string_view cooker);
  uint32_t DemandOf(const std::vector<std::string>& labels, uint32_t group);
  uint32_t Demanding(uint32_t kind, uint32_t demand);
  bool Meets(const record::WorkerOffer& offer, const Demand& demand) const;
  const Demand& DemandOf(uint32_t kind) const { return demands_[kinds_[kind].demand]; }
  bool MayBeLocal(uint32_t kind) const;
  bool NeedsFiles(uint32_t kind) const { return kinds_[kind].needed_files >= kNeedFilesMax; }
  // True also for jobs that were parked before the need became known.
  bool WantsFiles(const Kind& of) const {
    return of.of_all == kNeedsFiles || NeedsFiles(of.of_all);
  }
  void ForgetPrograms();
  void Free(uint32_t kind);

  std::vector<Kind> kinds_;                             // by number
  std::vector<uint32_t> free_;                          // numbers that are not in use
  absl::flat_hash_map<std::string, uint32_t> numbers_;  // look-up only
  std::vector<Demand> demands_;                         // by number; 0: nothing
  absl::btree_map<std::pair<uint32_t, uint32_t>, uint32_t> demanding_;  // kind, demand -> kind
  bool has_lacking_ = false;                                            // never false again
  // fleet_lacks_: the kinds that the last launched worker lacks. fleet_refuses_: the kinds that any
  // launched worker refused.
  absl::btree_set<uint32_t> fleet_lacks_, fleet_refuses_;

  Grants& grants_;
  Attempts& attempts_;
  PackageProgress& package_progress_;
  HeldResults& held_results_;
};

}  // namespace galley::director
