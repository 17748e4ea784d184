// PackageTable: every package that the director has heard of, by id and by name.
//
// A PackageData never moves, so pointers to it and to its name are valid until Clear. State that
// only a package in a cook needs is freed when the cook is over (slots) or the package is idle
// (work). An idle package takes 184 bytes, besides its name, edges and results. Ids are dense, from
// 0, in the order of FindOrAdd, which uses the ids of forgotten packages first.
//
// Cost: Find, FindOrAdd O(1).
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_state.h"
#include "director/core/packages/rare_vector.h"

namespace galley::director {

// Slot: the state of one platform of a package in a cook.
struct Slot {
  Phase phase = Phase::kUnwanted;
  ResultSource source = ResultSource::kCached;
  bool is_leading = false;              // in EqualWork
  bool has_followed = false;            // it has followed, and does not follow again
  uint32_t asked = 0;                   // EqualWork::results_noted at its last look-up
  WorkId work = 0;                      // from a look-up that missed; 0: none
  absl::Duration last_load, last_save;  // of the last cook; zero: unknown
  // From kCommitting on.
  ResultViewPtr result;
  ResultViewPtr explored;  // the result whose references are in Edges and `problems`
};

// Problem: a reference that leads to no package, or whose name is spelled otherwise.
struct Problem {
  // Hard: the package fails; soft: a warning.
  record::ReferenceKind kind = record::ReferenceKind::kHard;
  PlatformMask platforms = 0;
  std::string text;
  bool is_remark = false;  // only a warning: the reference leads to a package
};

// Wait: a package waits for the result of the package `on`.
struct Wait {
  PackageId on;
  PlatformIndex platform = 0;
  // True: a worker's cook asked for the result. False: a look-up asked, to check an old observation
  // set that may be outdated. If there is no such result, the platform is cooked instead.
  bool is_certain = false;
};

// Work: the state of a package in the works; exists while state != kIdle.
struct Work {
  std::vector<Wait> waits;
  // Sorted: the packages that wait for this package's results or list of generated packages.
  std::vector<PackageId> waiters;
  bool has_begun = false;  // found in the catalog and fit to be cooked
  bool waits_for_generator = false;
  bool wakes = false;                            // a wake of this package is on the agenda
  std::string stale_path;                        // not empty: waits for FilesChanged of this file
  absl::Time not_before = absl::InfinitePast();  // back-off
  // Since when the package is overtaken: no worker had the memory or the resources for it.
  absl::Time aside_since = absl::InfiniteFuture();
  std::optional<uint32_t> parked;  // the parking queue (Lifecycle::Park)
  uint32_t job_kind = 0;           // Eligibility::KindOf
  bool needs_files = false;        // a program of it failed on a machine without the project
  AttemptId attempt = 0;           // the current one
  // Current attempts beside `attempt` (stragglers.cc, job_splitting.cc).
  RareVector<AttemptId> others;
  bool is_loaded = false;          // by a current attempt
  bool runs_alone = false;         // the next attempt runs alone (exclusive_run.h)
  uint32_t backups = 0;            // handed over so far
  uint64_t memory_last = 0;        // peak in the last cook; 0: unknown
  uint64_t memory_max = 0;         // the limit of the package's rule; 0: none
  RareVector<uint64_t> last_read;  // LookedUp::Miss; all platforms together
  uint32_t needs = 0;              // waits for cooked inputs so far
  // When the package entered the works, was found to need a cook, and was last handed over.
  absl::Time asked, ready, handed;
  absl::Time in_line;        // since when the package waits for a worker (ReadyLine)
  bool is_aside = false;     // PackageQueues::SetAside; keeps its place in line
  uint32_t attempts = 0;     // hand-overs, without those that SpareJobs took back
  bool is_expected = false;  // the Monitor counts `expected` among the work to be done
  absl::Duration expected;
  absl::Duration chain;  // expected time of the longest chain of waiting packages
};

// PackageInCook: the state of a package in all cooks that want it; reset when no cook wants it.
struct PackageInCook {
  Outcome outcome = Outcome::kNone;
  Urgency urgency = Urgency::kLow;
  CookMask cooks = 0;        // who wants the package: cooks, some of which may be over, and asks
  CookMask selected_by = 0;  // cooks whose requests select the package, and direct asks
  CookMask named_by = 0;     // cooks that select the package by its own name, and direct asks
  // Cooks for which its generator was asked again (WaitEvaluation::Unlisted).
  CookMask asked_generator = 0;
  // Platforms on which somebody asks for the package, or for a package that needs it (asks.h).
  PlatformMask asked = 0;
  PlatformMask asked_now = 0;    // `asked` without the platforms of which nobody waits yet
  bool is_cooked_input = false;  // some package's cook reads its output
  bool was_loaded = false;       // by some attempt
  // The package is not attempted: its generator failed, or its cooks ended before.
  bool is_skipped = false;
  bool is_listing_final = false;  // a result, not only a load, listed `generates`
  // The inputs changed, or may have changed, while no active cook wanted the package: it begins
  // again when one does.
  bool is_outdated = false;
  bool was_told = false;        // cooks were told that it is done or failed
  uint32_t on_agenda = 0;       // items of the package on the agenda
  uint32_t explored_epoch = 0;  // epoch of the catalog by which the package was explored
  RareVector<Slot> slots;       // by platform; empty: not in a cook
  RareVector<Problem> problems;
  RareVector<PackageId> cooked_inputs;           // sorted; as far as known
  RareVector<PackageId> generates;               // sorted
  std::unique_ptr<record::Generated> generated;  // null: not generated

  bool is_in_cook() const { return cooks != 0; }
};

struct PackageData : PackageInCook {
  std::string name;
  State state = State::kIdle;
  uint32_t resource_group = 0;  // see Grants
  uint32_t generation = 0;      // raised when older look-ups become void
  uint32_t content = 0;         // the generation of the last change of its inputs
  CostTraits cost_traits;
  absl::Duration cost;  // expected time of the platforms to be cooked
  std::unique_ptr<Work> work;

  // REQUIRES: the package is not in the works.
  void BeginCook();
  // The package's inputs changed: older look-ups and the results of older attempts are void.
  void NoteNewContent() { content = ++generation; }
};

// The platforms of the package that are in this phase; and the platforms that some cook wants.
PlatformMask InPhase(const PackageData& package, Phase phase);
PlatformMask WantedPlatforms(const PackageData& package);
// True: all wanted platforms are done or have failed.
bool IsAllSettled(const PackageData& package);

// "Save", "Idle, cooked": for dumps and why.
std::string StateText(const PackageData& package);

// "/Game/a.level" for "/Game/a.level/_gen/cell.level"; empty for a package that is not generated.
std::string_view GeneratorName(std::string_view name);

class PackageTable {
 public:
  PackageTable() = default;
  PackageTable(const PackageTable&) = delete;
  PackageTable& operator=(const PackageTable&) = delete;

  PackageId FindOrAdd(std::string_view name);
  // Forgets all packages. Their ids are used again, with higher generations, so that answers about
  // the old packages are void.
  void Clear();
  // Forgets this package. A later package gets its id, with a higher generation, so that answers
  // about this one are void. REQUIRES: nothing names the id.
  void Forget(PackageId id);
  // Invalid when unknown.
  PackageId Find(std::string_view name) const;
  PackageData& operator[](PackageId id) {
    return chunks_[id.index() / kChunkSize][id.index() % kChunkSize];
  }
  const PackageData& operator[](PackageId id) const {
    return chunks_[id.index() / kChunkSize][id.index() % kChunkSize];
  }
  const std::string& NameOf(PackageId id) const { return (*this)[id].name; }
  // Ids are below this number. An id may be of a forgotten package: without a name, in no cook.
  uint32_t size() const { return size_; }
  size_t known() const { return size_ - free_.size(); }
  // The bytes of the table, without what its packages have on the heap.
  size_t bytes() const;
  bool Has(PackageId id) const {
    return id.valid() && id.value() < size_ && !(*this)[id].name.empty();
  }

 private:
  static constexpr size_t kChunkSize = 1024;
  std::vector<std::unique_ptr<PackageData[]>> chunks_;
  uint32_t size_ = 0;
  std::vector<PackageId> free_;  // ids of forgotten packages
  uint32_t generation_ = 0;      // of packages with new ids
  // Ids by name; look-up only. The names are in the chunks.
  struct NameHash {
    using is_transparent = void;
    size_t operator()(PackageId id) const { return (*this)(std::string_view((*table)[id].name)); }
    size_t operator()(std::string_view name) const;
    const PackageTable* table;
  };
  struct NameEqual {
    using is_transparent = void;
    bool operator()(PackageId a, PackageId b) const { return a == b; }
    bool operator()(PackageId a, std::string_view b) const { return (*table)[a].name == b; }
    bool operator()(std::string_view a, PackageId b) const { return (*table)[b].name == a; }
    const PackageTable* table;
  };
  absl::flat_hash_set<PackageId, NameHash, NameEqual> by_name_{0, NameHash{this}, NameEqual{this}};
};

}  // namespace galley::director
