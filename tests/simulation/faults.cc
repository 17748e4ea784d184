#include "tests/simulation/faults.h"

#include <string>

#include "common/base/digest.h"

namespace galley::simulation {

std::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kMessageLost:
      return "message lost";
    case Fault::kMessageDoubled:
      return "message doubled";
    case Fault::kMessageReordered:
      return "message reordered";
    case Fault::kMessageDelayed:
      return "message delayed";
    case Fault::kStreamBroken:
      return "stream broken";
    case Fault::kWorkerCrashed:
      return "worker crashed";
    case Fault::kWorkerHung:
      return "worker hung";
    case Fault::kWorkerSlow:
      return "worker slow";
    case Fault::kWorkerLied:
      return "worker lied";
    case Fault::kWorkerCameBack:
      return "worker came back under its name";
    case Fault::kWorkerSurvived:
      return "worker outlived its director";
    case Fault::kExecutorCrashed:
      return "executor killed";
    case Fault::kInputUnreadable:
      return "worker's machine failed";
    case Fault::kWorkerUnfit:
      return "worker unfit";
    case Fault::kLauncherFailed:
      return "worker not started";
    case Fault::kDirectorCrashed:
      return "director crashed";
    case Fault::kCrashedWriting:
      return "director crashed at a write";
    case Fault::kCrashedStarting:
      return "director crashed in recovery";
    case Fault::kDirectorStopped:
      return "director stopped and overtaken";
    case Fault::kPowerCut:
      return "power cut";
    case Fault::kCommitFailed:
      return "commit failed";
    case Fault::kSyncFailed:
      return "sync failed";
    case Fault::kBlobEvicted:
      return "blob evicted";
    case Fault::kBlobCollected:
      return "blob collected in mid-cook";
    case Fault::kBitsRotten:
      return "bits rotten";
    case Fault::kClockJumped:
      return "wall clock jumped";
    case Fault::kPoison:
      return "poison package";
    case Fault::kFileEdited:
      return "file edited in mid-cook";
    case Fault::kFileRenamed:
      return "files renamed in mid-cook";
    case Fault::kCookCancelled:
      return "cook cancelled";
    case Fault::kPlatformsChanged:
      return "platforms changed";
    case Fault::kPackagesCleared:
      return "packages cleared in mid-cook";
    case Fault::kPackagesDiscovered:
      return "packages discovered in mid-cook";
    case Fault::kProgramWaited:
      return "program waited";
    case Fault::kMemoryShort:
      return "memory short";
    case Fault::kUrgentAsked:
      return "packages asked for urgently";
    case Fault::kQuestionAsked:
      return "questions asked";
    case Fault::kFailedFast:
      return "cook failed fast";
    case Fault::kStoreFailed:
      return "store or journal failed once";
    case Fault::kStaleMet:
      return "overtaken director met";
    case Fault::kMachinePaused:
      return "machine paused";
    case Fault::kWorkerRenamed:
      return "worker came back under another name";
    case Fault::kUnaskedCollected:
      return "what only the journal knew collected";
    case Fault::kCookedOtherwise:
      return "package cooked otherwise";
    case Fault::kFilesDeleted:
      return "store's files deleted";
    case Fault::kSegmentLost:
      return "segment deleted or cut";
    case Fault::kIndexLost:
      return "index lost";
    case Fault::kLaunchQueued:
      return "launched worker queued";
    case Fault::kLaunchFailed:
      return "launch failed";
    case Fault::kLaunchLost:
      return "launched worker never came";
    case Fault::kLaunchRequeued:
      return "launched worker queued again";
    case Fault::kLauncherLied:
      return "launcher lied of an end";
    case Fault::kUploadBroken:
      return "upload broken off";
    case Fault::kFetchBroken:
      return "fetch broken off";
    case Fault::kCacheLost:
      return "cache of a remote machine lost";
    case Fault::kWorkerOlder:
      return "remote worker of another version";
    case Fault::kToolDiffers:
      return "another tool on a machine of the farm";
    case Fault::kFilesNeeded:
      return "program failed for want of files";
    case Fault::kWorkerWrong:
      return "worker made something else";
    case Fault::kCount:
      break;
  }
  return "";
}

bool IsLateOn(uint64_t seed, std::string_view name) {
  if (name == FaultName(Fault::kProgramWaited)) return seed % 2 == 1;
  return seed % 4 >= 2 &&
         Digest::Of(std::to_string(seed) + " " + std::string(name)).hash()[0] % 2 == 0;
}

Faults::Faults(bool are_any, uint64_t seed, Random& random)
    : random_(random), is_calm_(!are_any), are_none_(!are_any) {
  for (size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    on_[i] = fault < kFirstLate ? random.Percent(50) : IsLateOn(seed, FaultName(fault));
  }
  // It takes a farm, proofs, and this.
  on_[static_cast<size_t>(Fault::kWorkerWrong)] |= IsLateOn(seed, "and once more");
}

bool Faults::Happens(Fault fault, uint64_t percent) {
  const bool happens = IsOn(fault) && random_.Percent(percent);
  if (happens) Count(fault);
  return happens;
}

}  // namespace galley::simulation
