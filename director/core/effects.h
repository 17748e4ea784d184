// Effects: the answer of CookCore to an event: work for the shell, and notices for people. The
// events are in events.h. See docs/core.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/record/result.h"
#include "common/record/warning.h"
#include "director/core/events.h"
#include "director/core/ids.h"

namespace galley::director {

// The result of another package that a look-up or a job may need.
struct CookedResult {
  PackageId package;
  PlatformIndex platform = 0;
  ResultId result;  // invalid: that package failed or has none
};

struct LookUp {
  struct Item {
    PackageId package;
    PlatformMask platforms = 0;
    uint64_t generation = 0;
    // Results of the packages that an earlier answer named in NeedsCooked.
    std::vector<CookedResult> cooked;
    bool is_awaited = false;  // Blocking: its answer is not to wait behind those of a cook
  };
  std::vector<Item> items;
};

// Changes to the jobs of one worker, since the Desire before.
struct Desire {
  struct Start {
    AttemptId attempt = 0;
    PackageId package;
    PlatformMask platforms = 0;
    std::vector<CookedResult> cooked;
    absl::Duration expected;
    uint64_t memory_bytes = 0;           // expected, at its peak; 0: unknown
    Urgency urgency = Urgency::kNormal;  // the job goes before less urgent jobs that wait there
    bool is_awaited = false;             // a package or a person waits for the job's result
    bool runs_alone = false;             // its executor must be a fresh one
  };
  WorkerId worker;
  std::vector<Start> start;
  std::vector<AttemptId> cancel;   // also attempts that are running
  std::vector<AttemptId> retract;  // attempts that are running go on
  struct Part {
    AttemptId attempt = 0;
    PlatformMask platforms = 0;
  };
  // Platforms that other workers cook now. A platform that has begun goes on.
  std::vector<Part> retract_part;
  std::vector<ReportId> persisted;
  bool resend_all = false;  // the worker is to send all unacknowledged reports again
  bool drain = false;
  // With drain: whoever started the worker is to start another worker, since the core cannot.
  bool start_another = false;
};

struct Spawn {
  WorkerId worker;       // the new worker's id; the process attaches under this id
  absl::Duration delay;  // back-off
};

// Kill the worker's process: nothing was heard of the worker for too long. The core counts the
// worker as lost already; WorkerLost may follow.
struct Stop {
  WorkerId worker;
};

// Waited: where a package's time went before its result was there, for `galley why`.
struct Waited {
  absl::Duration request;  // from the request until the package was found to need a cook
  absl::Duration queue;    // until the last hand-over; lost attempts are included
  absl::Duration in_hand;  // until the result was reported: the worker's queue, load, saves
  uint32_t attempts = 0;   // hand-overs in this cook
};

struct Persist {
  struct Item {
    PackageId package;
    PlatformIndex platform = 0;
    ResultId result;
    bool was_cooked = false;  // false: found by a look-up, and only written to the journal
    Waited waited;            // set with was_cooked
    // The cook for which the result counts: the most urgent cook that wants the package, and among
    // equals the oldest. 0: none; the result only feeds the cache.
    uint64_t cook = 0;
    bool is_forced = false;  // the cook cooks even what is up to date
    // The result was cooked for an earlier director, which may have stored it without telling the
    // worker. Persisted::Item::was_stored answers.
    bool may_be_stored = false;
  };
  std::vector<Item> items;  // may be empty if is_urgent
  // Some package or person waits for one of these results, or for an earlier result that is not
  // committed yet.
  bool is_urgent = false;
};

// Scan these files again; FilesChanged answers.
struct Rescan {
  std::vector<std::string> paths;
};

struct BuildRoot {
  PlatformIndex platform = 0;
  std::vector<std::pair<PackageId, ResultId>> packages;  // sorted by package name
  uint32_t platform_set = 0;   // the number of PlatformsChanged so far: the set of `platform`
  uint32_t round = 0;          // how often this cook's roots had to be built again
  uint64_t request = 0;        // of the cook
  bool is_difference = false;  // all packages beside `packages` are as in the last root
};

struct PublishRoot {
  PlatformIndex platform = 0;
  Digest root;
  bool by_the_book = false;
  uint32_t platform_set = 0;  // as in BuildRoot
  uint32_t round = 0;         // likewise
  uint64_t request = 0;       // of the cook
};

// Lay the published roots out in their sandboxes; RootsStaged answers. Then the cook is over.
struct StageRoots {
  uint32_t round = 0;    // as in BuildRoot
  uint64_t request = 0;  // of the cook
};

// Check on disk, in one pass, which results' bytes are gone; LostFound answers. The store forgets
// lost bytes, so that no look-up finds them.
struct LookForLost {
  uint64_t look = 0;
  std::vector<std::pair<PackageId, ResultId>> packages;  // the results that are done
  uint64_t request = 0;                                  // of the cook
};

// FailureCause: why a package failed. A failure that is not kept is tried again by the next cook.
enum class FailureCause : uint8_t {
  kProject,   // its rule, references, inputs or outputs do not fit with other packages
  kVerdict,   // its cooker found an error in its inputs
  kPackage,   // crashes, memory, time
  kLimit,     // each attempt outgrew a limit, the last one alone on its machine, now or in an
              // earlier cook; kept for some days
  kRefused,   // its job cannot be done, since a tool fails or is missing: not kept
  kMachine,   // too many faults that no package explains
  kUnread,    // its files, or what is stored about it, could not be read
  kUnproven,  // other machines made other results (proofs.h): not kept
};
inline constexpr FailureCause kLastFailureCause = FailureCause::kUnproven;
std::string_view FailureCauseName(FailureCause cause);  // "project"

// The package failed in these cooks, for people and the summary.
struct PackageFailed {
  PackageId package;
  std::optional<PlatformIndex> platform;  // nullopt: all
  Stage stage = Stage::kRequest;
  std::string error;
  std::string log;
  FailureCause cause = FailureCause::kProject;
  AttemptId attempt = 0;  // in which it failed; 0: in none
  WorkerId worker;        // of that attempt
  uint32_t attempts = 0;  // hand-overs in this cook
  uint32_t own_faults = 0;
  uint32_t infrastructure_faults = 0;
  ResultId verdict;  // of kVerdict: the result; else invalid
};
struct PackageWarned {
  PackageId package;
  std::optional<PlatformIndex> platform;
  record::WarningKind kind;
  std::string text;
  // The warning is about what this cook did: the next cook of the same packages may not have it.
  bool is_passing = false;
};
enum class ResultSource : uint8_t { kCooked, kCached, kUpToDate };
struct PackageDone {
  PackageId package;
  PlatformIndex platform = 0;
  ResultId result;
  ResultSource source = ResultSource::kCached;
};
// The package has left the cook: its file is gone, its generator does not list it, or its generator
// failed, so that it is not tried. Its earlier notices are taken back.
struct PackageLeft {
  PackageId package;
};
// An attempt ended through the package's own fault. When `own_faults` is less than before and
// nothing else is set, faults are forgiven: the package's inputs changed, or it was cleared.
struct PackageBlamed {
  PackageId package;
  uint32_t own_faults = 0;  // in this cook, and under an earlier director
  std::string what;         // "crashed its executor"
  std::string error;        // why, in detail
  std::string log;          // digest text, or empty
};
// The worker's result differs from the equal results of two other machines. The worker gets no more
// jobs, and nothing that it says is believed any more.
struct WorkerQuarantined {
  WorkerId worker;
  PackageId package;  // whose results differed
  PlatformIndex platform = 0;
  std::string others;  // the other machines, for people
  // Packages of the running cooks for which results of this worker were committed unproven, in the
  // order of the commits, some more than once. At most HeldResults::kUnprovenNamed.
  std::vector<PackageId> unproven;
};
// The worker, or each worker of the machine, gets no jobs for now: too many jobs failed there
// through the machine's fault (Breakers). A cook is told once.
struct WorkerHeld {
  WorkerId worker;       // invalid: all of the machine
  std::string machine;   // for people; empty where a worker is named
  std::string why;       // the last fault
  bool is_over = false;  // a job succeeded there, and it gets jobs again; told to no cook
};
// The worker's process broke the protocol too often. The worker counts as lost, and no message of
// the process is taken any more. Another process may attach under the worker's id.
struct WorkerViolated {
  WorkerId worker;
  uint64_t session = 0;  // the process
  std::string why;
};
// The cook's turn has come. The cook has the slot until CookEnded, its last notice.
struct CookBegan {
  uint64_t request = 0;
  CookSlot slot = 0;
};
struct CookEnded {
  uint64_t request = 0;
  bool is_interrupted = false;
  bool is_fail_fast = false;
  std::string infrastructure_error;  // exit 3
  // No selected package exists now, so that the cook has no roots. Roots that it published before
  // it was opened again do not count.
  bool is_empty = false;
};
// The ask is over (PackageAsked).
struct AskEnded {
  uint64_t ask = 0;
  PackageId package;
  PlatformIndex platform = 0;  // as numbered now
  ResultId result = {};        // of the package on the platform; invalid: it failed
  // Holds the record of `result`, because the core may let go of the package in the same step.
  ResultViewPtr held = nullptr;
  // Some attempt made the result since the ask began. False: the result was there.
  bool was_cooked = false;
  std::optional<PackageFailed> failed = std::nullopt;
  // Not empty: neither did the package fail nor is it done: the director cannot go on.
  std::string infrastructure_error = {};
};
using Notice =
    std::variant<PackageFailed, PackageWarned, PackageDone, PackageLeft, PackageBlamed,
                 WorkerQuarantined, WorkerHeld, WorkerViolated, CookBegan, CookEnded, AskEnded>;
struct Notify {
  Notice notice;
  CookMask cooks = 0;  // the addressees, by slot, without kAsksBit; 0: no running cook
};

// Answers QueryAsked.
struct Reply {
  struct Reason {
    PackageId package;
    InstigatorView why;
    bool operator==(const Reason&) const = default;
  };
  // kPackage
  struct Package {
    PackageId package;
    std::string state;  // "Save", "Save, pending", "Idle, cooked"
    Urgency urgency = Urgency::kLow;
    AttemptId attempt = 0;  // the current one; 0: none
    WorkerId worker;        // the worker of `attempt`
    uint32_t attempts = 0;  // hand-overs; 0 when the package is idle
    uint32_t own_faults = 0;
    uint32_t infrastructure_faults = 0;
  };
  uint64_t query = 0;
  std::string error;  // not empty: an unknown package, or a void cursor
  std::optional<Package> package;
  std::vector<Reason> reasons;
  std::optional<QueryAsked::Cursor> next;  // nullopt: this is the last page
};

using Effect = std::variant<Reply, LookUp, Desire, Spawn, Stop, Persist, Rescan, BuildRoot,
                            PublishRoot, StageRoots, LookForLost, Notify>;

}  // namespace galley::director
