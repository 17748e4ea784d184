// PackageTable: every package that the director has heard of, by id and by name.
//
// A PackageData is made once and never moves (chunks), so its name can be pointed at for the
// table's life. What only a package in a cook needs hangs on it and goes when the cook is over
// (slots) or when it is idle (work); an idle package is small: 160 bytes in all, its name, edges
// and results apart. Ids are dense, from 0, in the order of FindOrAdd.
//
// Cost: Find, FindOrAdd O(1).
// Threads: none; owned by the core.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_state.h"
#include "director/core/packages/rare_vector.h"

namespace galley::director {

// One platform of a package in the cook.
struct Slot {
  Phase phase = Phase::kUnwanted;
  ResultSource source = ResultSource::kCached;
  bool is_leading = false;              // in EqualWork
  bool has_followed = false;            // equal work that is over: it does not follow another
  uint32_t asked = 0;                   // EqualWork::results_noted at its last look-up
  WorkId work = 0;                      // from a look-up that missed
  absl::Duration last_load, last_save;  // of the last cook, when they are known
  // From kCommitting on.
  ResultViewPtr result;
  ResultViewPtr explored;  // whose references are in Edges and `problems`
};

// A reference that leads nowhere, or somewhere else than it says.
struct Problem {
  // Hard: the package fails; soft: a warning.
  record::ReferenceKind kind = record::ReferenceKind::kHard;
  PlatformMask platforms = 0;
  std::string text;
  bool is_remark = false;  // a warning, though the reference leads somewhere
};

// A package waits for the result of another.
struct Wait {
  PackageId on;
  PlatformIndex platform = 0;
  // A worker's cook asked for it. Otherwise a look-up did, for the sake of an old observation set
  // that may no longer be the right one: when that cannot be had, the platform is cooked instead.
  bool is_certain = false;
};

// While state != kIdle.
struct Work {
  std::vector<Wait> waits;
  // Sorted: who waits for this one's results or list of generated packages.
  std::vector<PackageId> waiters;
  bool has_begun = false;  // found in the catalog and fit to be cooked
  bool waits_for_generator = false;
  bool is_held = false;                          // PendingChanges::IsHeld
  bool wakes = false;                            // a wake of this package is on the agenda
  std::string stale_path;                        // not empty: waits for FilesChanged of this file
  absl::Time not_before = absl::InfinitePast();  // back-off
  // No worker had the memory for it; or what it asks for was taken, or too little of it was free.
  absl::Time aside_since = absl::InfiniteFuture();
  std::optional<uint32_t> parked;   // in that queue: Lifecycle::Park
  uint32_t job_kind = 0;            // Eligibility::KindOf
  bool needs_files = false;         // a program of it failed where the project's files are not
  AttemptId attempt = 0;            // the current one
  RareVector<AttemptId> others;     // current ones beside it (stragglers.cc, splitting.cc)
  bool is_loaded = false;           // by a current attempt
  bool runs_alone = false;          // next time: its attempts outgrew limits (exclusive_run.h)
  uint32_t backups = 0;             // so far
  uint64_t memory_last = 0;         // peak in the last cook; 0: unknown
  uint64_t memory_max = 0;          // what its rule allows; 0: says nothing
  RareVector<uint64_t> last_read;   // LookedUp::Miss, of all platforms together
  uint32_t needs = 0;               // waits for cooked inputs so far
  absl::Time asked, ready, handed;  // entered the works; was to be cooked; last hand-over
  absl::Time in_line;               // since when it waits for a worker (ReadyLine)
  bool is_aside = false;            // Lifecycle::SetAside: it keeps that place
  uint32_t attempts = 0;            // hand-overs
  bool is_expected = false;         // the Monitor counts it among what is to be cooked,
  absl::Duration expected;          // for so much
  absl::Duration chain;  // expected cost of the longest chain of packages that waits for this one
};

// How a package is in the cooks that want it; begins anew when none does.
struct PackageInCook {
  Outcome outcome = Outcome::kNone;
  Urgency urgency = Urgency::kLow;
  CookMask cooks = 0;        // that want it; some may be over (Claimants::running)
  CookMask selected_by = 0;  // whose requests name it: its closure is published
  CookMask named_by = 0;     // by itself, not by a folder
  CookMask asked_generator =
      0;  // that had come when its generator was over (WaitEvaluation::Unlisted)
  bool is_cooked_input = false;   // some cook reads its output
  bool was_loaded = false;        // in this cook
  bool is_skipped = false;        // not attempted: its generator failed, or the cook ended before
  bool is_listing_final = false;  // a result has listed what it generates
  bool was_told = false;          // cooks heard that it is done, or failed
  uint32_t on_agenda = 0;         // items of it
  uint32_t explored_epoch = 0;    // of the catalog
  RareVector<Slot> slots;         // by platform; empty: not in a cook
  RareVector<Problem> problems;
  RareVector<PackageId> cooked_inputs;           // sorted: known so far
  RareVector<PackageId> generates;               // sorted by id: listed now
  std::unique_ptr<record::Generated> generated;  // how its generator lists it

  bool is_in_cook() const { return cooks != 0; }
};

struct PackageData : PackageInCook {
  std::string name;
  State state = State::kIdle;
  uint32_t resource_group = 0;  // see Grants
  uint32_t generation = 0;      // of look-ups; raised when older answers are void
  uint32_t content = 0;         // that generation in which what it is made of changed last
  CostTraits cost_traits;
  absl::Duration cost;  // expected, all platforms, when it began
  std::unique_ptr<Work> work;

  // REQUIRES: it is in no works.
  void BeginCook();
  // What it is made of changed: answers to older questions are void, and so is what attempts bring
  // that were given before.
  void NoteNewContent() { content = ++generation; }
};

// The platforms of the package that are in this phase; those that some cook wants.
PlatformMask InPhase(const PackageData& package, Phase phase);
PlatformMask WantedPlatforms(const PackageData& package);
// All wanted platforms are done or have failed.
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
  // Answers to questions about packages that were in it are void for those that come.
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
  // Without what hangs on the packages: names that are long, slots, work.
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
