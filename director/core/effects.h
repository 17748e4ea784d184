// Effects: all that CookCore wants done after a step, and what it tells people. The events that
// CookCore is told are in events.h. See docs/core.md.
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
  };
  std::vector<Item> items;
};

// Differences for one worker.
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
    bool runs_alone = false;  // memory that other jobs left in its executor must not count
  };
  WorkerId worker;
  std::vector<Start> start;
  std::vector<AttemptId> cancel;   // running attempts are ended
  std::vector<AttemptId> retract;  // running attempts go on
  struct Part {
    AttemptId attempt = 0;
    PlatformMask platforms = 0;
  };
  // Platforms that others cook now; a platform that is begun goes on.
  std::vector<Part> retract_part;
  std::vector<ReportId> persisted;
  bool resend_all = false;  // the worker is to send the reports that it keeps once more
  bool drain = false;
  // With drain: the worker's starter is to start another, since the core cannot.
  bool start_another = false;
};

struct Spawn {
  WorkerId worker;  // its id is given here; the launcher starts a process that attaches under it
  absl::Duration delay;  // back-off
};

// The worker has not been heard of for too long: its process must not live on. The core counts the
// worker as lost already; WorkerLost may follow.
struct Stop {
  WorkerId worker;
};

// Waited: the times that a package waited before its result was there, for `galley why`.
struct Waited {
  absl::Duration request;  // from being asked for until it was found to need a cook
  absl::Duration queue;    // until it was handed over, lost attempts included
  absl::Duration in_hand;  // until its worker reported the result: the worker's queue, load, saves
  uint32_t attempts = 0;   // hand-overs in this cook
};

struct Persist {
  struct Item {
    PackageId package;
    PlatformIndex platform = 0;
    ResultId result;
    bool was_cooked = false;  // otherwise: found by look-up; only the journal learns of it
    Waited waited;            // set when it was cooked
    // The cook for which the result came: the most urgent cook that wants the package, and among
    // equals the cook that was asked for first. 0: none, the result only feeds the cache.
    uint64_t cook = 0;
    bool is_forced = false;  // the cook cooks whatever is known
    // The result was cooked for an earlier director, which may have stored it without telling its
    // worker: Persisted says whether the store had it.
    bool may_be_stored = false;
  };
  std::vector<Item> items;  // may be empty when it is urgent
  // Some package waits for one of these results, or for an earlier result that is not committed
  // yet.
  bool is_urgent = false;
};

// Look again at these files; FilesChanged answers.
struct Rescan {
  std::vector<std::string> paths;
};

struct BuildRoot {
  PlatformIndex platform = 0;
  std::vector<std::pair<PackageId, ResultId>> packages;  // sorted by package name
  uint32_t platform_set = 0;   // how many PlatformsChanged came before: `platform` is of that set
  uint32_t round = 0;          // how often the store had lost some of what this cook's roots name
  uint64_t request = 0;        // of the cook
  bool is_difference = false;  // `packages` were looked at: the others are as in the last root
};

struct PublishRoot {
  PlatformIndex platform = 0;
  Digest root;
  bool by_the_book = false;
  uint32_t platform_set = 0;  // as in BuildRoot
  uint32_t round = 0;         // likewise
  uint64_t request = 0;       // of the cook
};

// Every root is published. The cook is over when the roots lie in their sandboxes.
struct StageRoots {
  uint32_t round = 0;    // as in BuildRoot
  uint64_t request = 0;  // of the cook
};

// Looks at the disk, in one pass, for the results whose bytes are gone. The store forgets these
// bytes, so that look-ups find them no more.
struct LookForLost {
  uint64_t look = 0;
  std::vector<std::pair<PackageId, ResultId>> packages;  // all that are done, each result once
  uint64_t request = 0;                                  // of the cook
};

// The cause that a failure is put down to.
enum class FailureCause : uint8_t {
  kProject,   // its rule, references, cooked inputs or outputs do not fit with other packages
  kVerdict,   // its cooker's own judgement of its inputs
  kPackage,   // crashes, memory, time
  kLimit,     // outgrew a limit in each of its attempts, the last of them alone on its machine, or
              // did so in an earlier cook; such a failure is kept for some days
  kRefused,   // its job cannot be done as it is (a tool that fails or is not there): not kept
  kMachine,   // too many faults that no package explains
  kUnread,    // what it is made of, or what is known of it, could not be read now
  kUnproven,  // made again on other machines it came out different (proofs.h): not kept
};
inline constexpr FailureCause kLastFailureCause = FailureCause::kUnproven;
std::string_view FailureCauseName(FailureCause cause);  // "project"

// For people and the summary.
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
  // The message is about what this cook did: another cook of the same may not have it.
  bool is_passing = false;
};
enum class ResultSource : uint8_t { kCooked, kCached, kUpToDate };
struct PackageDone {
  PackageId package;
  PlatformIndex platform = 0;
  ResultId result;
  ResultSource source = ResultSource::kCached;
};
// The package is in the cook no more: its file is gone, or no package lists it; or it is not tried,
// since its generator failed. Its earlier notices are taken back.
struct PackageLeft {
  PackageId package;
};
// An attempt at the package ended through its own fault. When `own_faults` is less than before and
// nothing else is set, faults are forgiven: what the package is made of changed, or it was cleared.
struct PackageBlamed {
  PackageId package;
  uint32_t own_faults = 0;  // in this cook, and in the one that it goes on with
  std::string what;         // "crashed its executor"
  std::string error;        // why, in detail
  std::string log;          // digest text, or empty
};
// The worker made something else than two other machines: it gets no more jobs, and nothing that it
// says is believed any more.
struct WorkerQuarantined {
  WorkerId worker;
  PackageId package;  // where that was found
  PlatformIndex platform = 0;
  std::string others;  // the machines, for people
  // Packages of the cooks that run for which results of this worker were committed unproven, by the
  // time of the commits, some more than once; at most HeldResults::kUnprovenNamed.
  std::vector<PackageId> unproven;
};
// The worker, or each worker of the machine, gets no jobs for now (Breakers): too many failed there
// for the machine's sake. A cook is told once.
struct WorkerHeld {
  WorkerId worker;       // invalid: all of the machine
  std::string machine;   // for people; empty where a worker is named
  std::string why;       // the last fault
  bool is_over = false;  // a job succeeded there: it is used again. Told to no cook
};
// The worker's process broke the protocol too often: it counts as lost, and nothing that it says is
// taken any more. Another process may take its name.
struct WorkerViolated {
  WorkerId worker;
  uint64_t session = 0;  // the process
  std::string why;
};
// The cook's turn has come. It is in the slot until CookEnded, which is the last notice to it.
struct CookBegan {
  uint64_t request = 0;
  CookSlot slot = 0;
};
struct CookEnded {
  uint64_t request = 0;
  bool is_interrupted = false;
  bool is_fail_fast = false;
  std::string infrastructure_error;  // exit 3
  // Nothing that was asked for is there (any more): the cook has no roots, whatever it published
  // before others had it begin again.
  bool is_empty = false;
};
using Notice = std::variant<PackageFailed, PackageWarned, PackageDone, PackageLeft, PackageBlamed,
                            WorkerQuarantined, WorkerHeld, WorkerViolated, CookBegan, CookEnded>;
struct Notify {
  Notice notice;
  CookMask cooks = 0;  // that it is for, by slot; none: of a cook that does not run
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
    WorkerId worker;        // the one that has it
    uint32_t attempts = 0;  // hand-overs, while it is in the works
    uint32_t own_faults = 0;
    uint32_t infrastructure_faults = 0;
  };
  uint64_t query = 0;
  std::string error;  // not empty: an unknown package, or a cursor of another cook
  std::optional<Package> package;
  std::vector<Reason> reasons;
  std::optional<QueryAsked::Cursor> next;  // nullopt: that was all
};

using Effect = std::variant<Reply, LookUp, Desire, Spawn, Stop, Persist, Rescan, BuildRoot,
                            PublishRoot, StageRoots, LookForLost, Notify>;

}  // namespace galley::director
