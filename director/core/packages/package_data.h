// PackageTable: every package that the director has heard of, by id and by name.
//
// A PackageData is made once and never moves (chunks), so pointers to its name hold for the table's
// life. State that only a package in a cook needs goes when the cook is over (slots) or when the
// package is idle (work). An idle package is small: 160 bytes in all, besides its name, edges and
// results. Ids are dense, from 0, in the order of FindOrAdd.
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

// Slot: the state of one platform of a package in the cook.
struct Slot {
  Phase phase = Phase::kUnwanted;
  ResultSource source = ResultSource::kCached;
  bool is_leading = false;    // in EqualWork
  bool has_followed = false;  // it followed equal work that is over: it does not follow another
  uint32_t asked = 0;         // EqualWork::results_noted at its last look-up
  WorkId work = 0;            // from a look-up that missed
  absl::Duration last_load, last_save;  // of the last cook, when they are known
  // From kCommitting on.
  ResultViewPtr result;
  ResultViewPtr explored;  // the result whose references are in Edges and `problems`
};

// A reference that leads nowhere, or somewhere other than its text says.
struct Problem {
  // Hard: the package fails; soft: a warning.
  record::ReferenceKind kind = record::ReferenceKind::kHard;
  PlatformMask platforms = 0;
  std::string text;
  bool is_remark = false;  // a warning, though the reference leads somewhere
};

// Wait: a package waits for the result of another package.
struct Wait {
  PackageId on;
  PlatformIndex platform = 0;
  // A worker's cook asked for the result. Otherwise a look-up asked for the sake of an old
  // observation set that may no longer be the right one: when the result cannot be had, the
  // platform is cooked instead.
  bool is_certain = false;
};

// The state of a package in the works; exists while state != kIdle.
struct Work {
  std::vector<Wait> waits;
  // Sorted: the packages that wait for this package's results or list of generated packages.
  std::vector<PackageId> waiters;
  bool has_begun = false;  // found in the catalog and fit to be cooked
  bool waits_for_generator = false;
  bool is_held = false;                          // PendingChanges::IsHeld
  bool wakes = false;                            // a wake of this package is on the agenda
  std::string stale_path;                        // not empty: waits for FilesChanged of this file
  absl::Time not_before = absl::InfinitePast();  // back-off
  // No worker had the memory for the package; or its resources were taken, or too little was free.
  absl::Time aside_since = absl::InfiniteFuture();
  std::optional<uint32_t> parked;  // in this queue: Lifecycle::Park
  uint32_t job_kind = 0;           // Eligibility::KindOf
  bool needs_files = false;  // a program of the package failed where the project's files are not
  AttemptId attempt = 0;     // the current one
  // Current attempts beside `attempt` (stragglers.cc, job_splitting.cc).
  RareVector<AttemptId> others;
  bool is_loaded = false;          // by a current attempt
  bool runs_alone = false;         // next time: its attempts outgrew limits (exclusive_run.h)
  uint32_t backups = 0;            // handed over so far
  uint64_t memory_last = 0;        // peak in the last cook; 0: unknown
  uint64_t memory_max = 0;         // that the package's rule allows; 0: the rule says nothing
  RareVector<uint64_t> last_read;  // LookedUp::Miss, of all platforms together
  uint32_t needs = 0;              // waits for cooked inputs so far
  // Asked: entered the works; ready: was found to need a cook; handed: last hand-over.
  absl::Time asked, ready, handed;
  absl::Time in_line;        // since when the package waits for a worker (ReadyLine)
  bool is_aside = false;     // PackageQueues::SetAside: the package keeps its place in line
  uint32_t attempts = 0;     // hand-overs
  bool is_expected = false;  // the Monitor counts `expected` among the work to be done
  absl::Duration expected;
  absl::Duration chain;  // expected cost of the longest chain of packages that waits for this one
};

// PackageInCook: the state of a package in the cooks that want it; begins anew when no cook does.
struct PackageInCook {
  Outcome outcome = Outcome::kNone;
  Urgency urgency = Urgency::kLow;
  CookMask cooks = 0;        // cooks that want the package; some may be over (CookMasks::running)
  CookMask selected_by = 0;  // cooks whose requests name the package: its closure is published
  CookMask named_by = 0;     // cooks that name the package by itself, not by a folder
  // Cooks that had come when its generator was over (WaitEvaluation::Unlisted).
  CookMask asked_generator = 0;
  bool is_cooked_input = false;  // some cook reads its output
  bool was_loaded = false;       // in this cook
  // The package is not attempted: its generator failed, or the cook ended before.
  bool is_skipped = false;
  bool is_listing_final = false;  // a result has listed what it generates
  bool was_told = false;          // cooks heard that it is done, or failed
  uint32_t on_agenda = 0;         // items of the package on the agenda
  uint32_t explored_epoch = 0;    // epoch of the catalog by which the package was explored
  RareVector<Slot> slots;         // by platform; empty: not in a cook
  RareVector<Problem> problems;
  RareVector<PackageId> cooked_inputs;           // sorted: the cooked inputs that are known so far
  RareVector<PackageId> generates;               // sorted by id: the packages that it lists now
  std::unique_ptr<record::Generated> generated;  // how the package's generator lists it

  bool is_in_cook() const { return cooks != 0; }
};

struct PackageData : PackageInCook {
  std::string name;
  State state = State::kIdle;
  uint32_t resource_group = 0;  // see Grants
  uint32_t generation = 0;      // of look-ups; raised when older answers are void
  uint32_t content = 0;         // the generation in which the package's inputs changed last
  CostTraits cost_traits;
  absl::Duration cost;  // expected for all platforms when the package began
  std::unique_ptr<Work> work;

  // REQUIRES: the package is not in the works.
  void BeginCook();
  // The package's inputs changed: answers to older questions are void, and so are the results of
  // attempts that were handed over before.
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
  // Forgets all packages. Answers to questions about the old packages are void for new packages.
  void Clear();
  // Invalid when unknown.
  PackageId Find(std::string_view name) const;
  PackageData& operator[](PackageId id) {
    return chunks_[id.index() / kChunkSize][id.index() % kChunkSize];
  }
  const PackageData& operator[](PackageId id) const {
    return chunks_[id.index() / kChunkSize][id.index() % kChunkSize];
  }
  const std::string& NameOf(PackageId id) const { return (*this)[id].name; }
  uint32_t size() const { return size_; }
  // The bytes of the table, without the heap of its packages: long names, slots, work.
  size_t bytes() const;
  bool Has(PackageId id) const { return id.valid() && id.value() < size_; }

 private:
  static constexpr size_t kChunkSize = 1024;
  std::vector<std::unique_ptr<PackageData[]>> chunks_;
  uint32_t size_ = 0;
  uint32_t generation_ = 0;  // of a package that is new
  // By name; look-up only. The ids alone: names are found through the chunks.
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
