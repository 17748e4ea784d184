// Faults: the classes of faults that a seed has, and how often each fired. The seed switches each
// class on or off (swarm testing: Groce et al., ISSTA 2012), because a mixture of all classes would
// hide bugs that need the absence of a fault. A run counts for a class only if the fault fired.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/simulation/schedule.h"

namespace galley::simulation {

// The meaning of faults whose names do not tell everything:
//
//   kWorkerCameBack    under its name, with nothing in its hands and its reports numbered anew
//   kWorkerSurvived    outlived its director; attaches to the next
//   kExecutorCrashed   killed by nobody known
//   kInputUnreadable   or other trouble of a worker's machine
//   kCrashedWriting    the director crashed at a write of journal or store
//   kCrashedStarting   the director crashed again, before it was up
//   kDirectorStopped   SIGSTOP; it wakes when another director has the project
//   kBlobEvicted       between two directors
//   kBlobCollected     while a director runs: blobs that its cook does not need
//   kProgramWaited     a job's program, and the job left its slot to another
//   kMemoryShort       on the machine, for jobs that wait
//   kUrgentAsked       Blocking packages, in mid-cook
//   kQuestionAsked     why packages are in the cook
//   kFailedFast        a cook that was asked to
//   kStoreFailed       reading a blob of the director's own, or a new segment; the journal, too
//   kStaleMet          workers meet an overtaken director
//   kMachinePaused     with everything that runs on it, for minutes
//   kWorkerRenamed     came back under another name, with its jobs and reports
//   kUnaskedCollected  while a director runs: blobs that its journal knows but did not ask for
//   kCookedOtherwise   a package gives another output than last time for the same inputs
//   kFilesDeleted      somebody deletes files of the store while a director runs
//   kSegmentLost       somebody deletes a segment, or its end, while a director runs
//   kIndexLost         while a director runs: made anew from the segments
//   kLaunchQueued      a worker waits long for the farm's machines
//   kLaunchFailed      for all workers that were asked for together
//   kLaunchLost        a worker waits, or is about to attach, and is never heard of again
//   kLaunchRequeued    a worker was about to attach, and waits again
//   kLauncherLied      says that a worker is gone which is attached
//   kUploadBroken      of a remote worker's blobs, when some have come, or all
//   kFetchBroken       of a blob, to a remote worker
//   kCacheLost         of the remote workers' machines; or damaged, which they find out
//   kWorkerOlder       a remote worker has a different cooker
//   kToolDiffers       on some of the farm's machines, for some programs
//   kFilesNeeded       by a program, which fails on the farm's machines
//   kWorkerWrong       a launched worker makes other results than the others
//
// The faults from kProgramWaited on are late faults.
#define GALLEY_SIM_FAULTS(FAULT)                                   \
  FAULT(kMessageLost, "message lost")                              \
  FAULT(kMessageDoubled, "message doubled")                        \
  FAULT(kMessageReordered, "message reordered")                    \
  FAULT(kMessageDelayed, "message delayed")                        \
  FAULT(kStreamBroken, "stream broken")                            \
  FAULT(kWorkerCrashed, "worker crashed")                          \
  FAULT(kWorkerHung, "worker hung")                                \
  FAULT(kWorkerSlow, "worker slow")                                \
  FAULT(kWorkerLied, "worker lied")                                \
  FAULT(kWorkerCameBack, "worker came back under its name")        \
  FAULT(kWorkerSurvived, "worker outlived its director")           \
  FAULT(kExecutorCrashed, "executor killed")                       \
  FAULT(kInputUnreadable, "worker's machine failed")               \
  FAULT(kWorkerUnfit, "worker unfit")                              \
  FAULT(kLauncherFailed, "worker not started")                     \
  FAULT(kDirectorCrashed, "director crashed")                      \
  FAULT(kCrashedWriting, "director crashed at a write")            \
  FAULT(kCrashedStarting, "director crashed in recovery")          \
  FAULT(kDirectorStopped, "director stopped and overtaken")        \
  FAULT(kPowerCut, "power cut")                                    \
  FAULT(kCommitFailed, "commit failed")                            \
  FAULT(kSyncFailed, "sync failed")                                \
  FAULT(kBlobEvicted, "blob evicted")                              \
  FAULT(kBlobCollected, "blob collected in mid-cook")              \
  FAULT(kBitsRotten, "bits rotten")                                \
  FAULT(kClockJumped, "wall clock jumped")                         \
  FAULT(kPoison, "poison package")                                 \
  FAULT(kFileEdited, "file edited in mid-cook")                    \
  FAULT(kFileRenamed, "files renamed in mid-cook")                 \
  FAULT(kCookCancelled, "cook cancelled")                          \
  FAULT(kPlatformsChanged, "platforms changed")                    \
  FAULT(kPackagesCleared, "packages cleared in mid-cook")          \
  FAULT(kPackagesDiscovered, "packages discovered in mid-cook")    \
  FAULT(kProgramWaited, "program waited")                          \
  FAULT(kMemoryShort, "memory short")                              \
  FAULT(kUrgentAsked, "packages asked for urgently")               \
  FAULT(kQuestionAsked, "questions asked")                         \
  FAULT(kFailedFast, "cook failed fast")                           \
  FAULT(kStoreFailed, "store or journal failed once")              \
  FAULT(kStaleMet, "overtaken director met")                       \
  FAULT(kMachinePaused, "machine paused")                          \
  FAULT(kWorkerRenamed, "worker came back under another name")     \
  FAULT(kUnaskedCollected, "what only the journal knew collected") \
  FAULT(kCookedOtherwise, "package cooked otherwise")              \
  FAULT(kFilesDeleted, "store's files deleted")                    \
  FAULT(kSegmentLost, "segment deleted or cut")                    \
  FAULT(kIndexLost, "index lost")                                  \
  FAULT(kLaunchQueued, "launched worker queued")                   \
  FAULT(kLaunchFailed, "launch failed")                            \
  FAULT(kLaunchLost, "launched worker never came")                 \
  FAULT(kLaunchRequeued, "launched worker queued again")           \
  FAULT(kLauncherLied, "launcher lied of an end")                  \
  FAULT(kUploadBroken, "upload broken off")                        \
  FAULT(kFetchBroken, "fetch broken off")                          \
  FAULT(kCacheLost, "cache of a remote machine lost")              \
  FAULT(kWorkerOlder, "remote worker of another version")          \
  FAULT(kToolDiffers, "another tool on a machine of the farm")     \
  FAULT(kFilesNeeded, "program failed for want of files")          \
  FAULT(kWorkerWrong, "worker made something else")

enum class Fault : uint8_t {
#define GALLEY_FAULT(name, text) name,
  GALLEY_SIM_FAULTS(GALLEY_FAULT) kCount,
#undef GALLEY_FAULT
};
inline constexpr size_t kFaultCount = static_cast<size_t>(Fault::kCount);
inline constexpr Fault kFirstLate = Fault::kProgramWaited;
std::string_view FaultName(Fault fault);

// Late faults and options were added when seeds were known already. They are not drawn in turn but
// follow from the seed and their names, so that a seed without them stays the same. Half of the
// seeds have none but waiting programs.
bool IsLateOn(uint64_t seed, std::string_view name);

// Options of a seed's cooks, with faults and without; the options are late, too. kOnAFarm and
// kProven are only for cooks with faults: the fault-free cook has one worker.
inline constexpr std::string_view kSoftNotFollowed = "soft references not followed";
inline constexpr std::string_view kNeverCooked = "packages never cooked";
inline constexpr std::string_view kCultures = "variants for cultures";
inline constexpr std::string_view kCopies = "equal files in several places";
inline constexpr std::string_view kNotStaged = "roots not staged";
inline constexpr std::string_view kOnAFarm = "workers launched on a farm";
inline constexpr std::string_view kProven = "all that launched workers make is proven";
inline constexpr std::string_view kPlaced = "jobs placed by labels and resources";
inline constexpr std::array kCookOptions = {kSoftNotFollowed, kNeverCooked, kCultures, kCopies,
                                            kNotStaged,       kOnAFarm,     kProven,   kPlaced};

using FaultCounts = std::array<uint64_t, kFaultCount>;

class Faults {
 public:
  // `are_any`: false for the fault-free run.
  Faults(bool are_any, uint64_t seed, Random& random);
  // `faults` alone are on.
  Faults(const std::vector<Fault>& faults, Random& random)
      : random_(random), is_calm_(false), are_none_(faults.size() == 0) {
    for (const Fault fault : faults) on_[Index(fault)] = true;
  }

  // Whether the seed has the fault, and the calm has not begun.
  bool IsOn(Fault fault) const { return !is_calm_ && on_[Index(fault)]; }
  // Draws whether the fault happens; counts it when it fires.
  bool Happens(Fault fault, uint64_t percent);
  void Count(Fault fault) { ++counts_[Index(fault)]; }
  void Calm() { is_calm_ = true; }
  // Whether the seed has the fault, in the calm, too; for late faults also in the fault-free run.
  bool Has(Fault fault) const { return on_[Index(fault)]; }
  bool is_calm() const { return is_calm_; }
  bool are_none() const { return are_none_; }  // the fault-free run
  const FaultCounts& counts() const { return counts_; }

 private:
  static constexpr size_t Index(Fault fault) { return static_cast<size_t>(fault); }
  Random& random_;
  bool is_calm_;
  const bool are_none_;
  std::array<bool, kFaultCount> on_{};
  FaultCounts counts_{};
};

}  // namespace galley::simulation
