// Sabotage: bugs that are put in on purpose, to see that the simulation finds them
// (tests/simulation/sabotage_test.cc). In the product every question is answered by a constant; a
// second library, compiled for that test alone with GALLEY_SABOTAGE, asks a variable.
//
// The list has the faults that systems of this kind are known for, and those that this one had
// once.
#pragma once

#include <cstdint>

namespace galley {

enum class Sabotage : uint8_t {
  kNone,
  kSkipEpochCheck,       // an answer to an older question is taken
  kBumpEpochAtDispatch,  // a change begins a new epoch only when the question is asked again
  kAckBeforeSync,        // a commit is over before the log is synced
  kNoFolderSync,         // a renamed file's folder is not synced
  kSkipHashCheck,        // bytes are handed out as they lie there
  kSkipClosureCheck,     // a result is served though what it names is gone
  kEvictLeasedBlob,      // of the simulation's collector: the product has none yet
  kRetrySync,            // a failed sync is tried again, and believed
  kForgetFailedSync,     // the next owner syncs again what one before it could not, and believes it
  kForgetInFlight,       // what a worker says that it has in hand is not looked at
  kEndWithPending,       // a cook ends though a package is not over
  kAcceptStaleTerm,      // a director that was overtaken goes on writing
  kWelcomeStaleTerm,     // a worker goes back to a director that was overtaken
  kRetryPoisonForEver,   // nobody is quarantined
  kHideDispute,         // of the simulation's store: no epoch tells who relies on the first outcome
  kForgetFollowers,     // of equal work, when who led it ends without a result
  kMakeAgainOnce,       // what is lost a second time in a cook stays lost
  kBelieveIndex,        // when a loss was seen, the disk is not asked what else is gone
  kHideLoss,            // what is lost is dropped, and no epoch tells it
  kKeepClaims,          // the claims of a cook that is over stay
  kTellWrongCook,       // of two cooks that want a package, the wrong one is told of its result
  kStarveClass,         // lower classes of cooks never have their turn while a higher one has jobs
  kHoldUpNow,           // a job of a lower class has its turn before a Blocking one
  kForgetLaunch,        // a launched worker that will never come counts as one that is there
  kForgetRefusal,       // a worker that has other tools is offered the same job again and again
  kForgetAttempt,       // a job that is taken back is forgotten, though it may have begun
  kReportEarly,         // a report of a remote worker goes before the blobs that it names
  kTrustUploaded,       // what was uploaded once is taken to be there for ever
  kOfferToAll,          // a worker is given jobs of cookers that it lacks
  kPlaceAnywhere,       // a worker is given jobs whose labels it has not
  kOverfillMachine,     // a machine's resources are given out again and again
  kProveOnSameMachine,  // a job is made again by whoever made it first
  kCommitBeforeProof,   // what is to be proven is committed, and nobody makes it again
  kPublishEmptyRoot,    // a root without a file becomes the platform's last one
  kPublishTwice,        // a root that is the last one already is published again
  kStageUnpublished,    // the sandbox gets roots that are not published yet
  kTellClosedCook,      // a cook is told something behind its end
  kCount,
};

// Names of their own, so that what is compiled with the one never takes the other's.
#ifdef GALLEY_SABOTAGE
inline namespace sabotaged {
inline Sabotage sabotage_now = Sabotage::kNone;
inline bool IsSabotaged(Sabotage what) { return sabotage_now == what; }
}  // namespace sabotaged
#else
inline namespace sound {
constexpr bool IsSabotaged(Sabotage /*what*/) { return false; }
}  // namespace sound
#endif

}  // namespace galley
