// Faults: which classes of faults a seed has, and how often each fired. A class is on or off by the
// seed (swarm testing: Groce et al., ISSTA 2012), because a mixture of all would hide those bugs
// that need the absence of a fault. A run counts for a class only if the fault fired.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tests/simulation/schedule.h"

namespace galley::simulation {

enum class Fault : uint8_t {
  kMessageLost,
  kMessageDoubled,
  kMessageReordered,
  kMessageDelayed,
  kStreamBroken,
  kWorkerCrashed,
  kWorkerHung,
  kWorkerSlow,
  kWorkerLied,
  kWorkerCameBack,   // under its name, with nothing in its hands and its reports numbered anew
  kWorkerSurvived,   // its director; attaches to the next
  kExecutorCrashed,  // killed by nobody known
  kInputUnreadable,  // and other trouble of a worker's machine
  kWorkerUnfit,
  kLauncherFailed,
  kDirectorCrashed,
  kCrashedWriting,   // at a write of journal or store
  kCrashedStarting,  // again, before it was up
  kDirectorStopped,  // SIGSTOP; it wakes when another has the project
  kPowerCut,
  kCommitFailed,
  kSyncFailed,
  kBlobEvicted,    // between two directors
  kBlobCollected,  // under a director: what its cook does not need
  kBitsRotten,
  kClockJumped,
  kPoison,
  kFileEdited,
  kFileRenamed,
  kCookCancelled,
  kPlatformsChanged,
  kPackagesCleared,
  kPackagesDiscovered,
  kProgramWaited,  // a job's, and left its slot to another
  kCount,
};
inline constexpr size_t kFaultCount = static_cast<size_t>(Fault::kCount);
std::string_view FaultName(Fault fault);

using FaultCounts = std::array<uint64_t, kFaultCount>;

class Faults {
 public:
  // `are_any`: false for the fault-free run. `do_programs_wait`: kProgramWaited is on, which is not
  // drawn, so that where it is off a seed is what it was before there was such a class.
  Faults(bool are_any, bool do_programs_wait, Random& random);

  // For the seed, before the calm.
  bool IsOn(Fault fault) const { return !is_calm_ && on_[Index(fault)]; }
  // Drawn; counted when it fires.
  bool Happens(Fault fault, uint64_t percent);
  void Count(Fault fault) { ++counts_[Index(fault)]; }
  void Calm() { is_calm_ = true; }
  // For the seed, in the calm too.
  bool do_programs_wait() const { return on_.back(); }
  bool is_calm() const { return is_calm_; }
  const FaultCounts& counts() const { return counts_; }

 private:
  static constexpr size_t Index(Fault fault) { return static_cast<size_t>(fault); }
  Random& random_;
  bool is_calm_;
  std::array<bool, kFaultCount> on_{};
  FaultCounts counts_{};
};

}  // namespace galley::simulation
