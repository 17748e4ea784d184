// Sabotage: deliberate bugs, which the simulation must find (tests/simulation/sabotage_test.cc). In
// the product IsSabotaged is a constant; in a second library, compiled for that test alone with
// GALLEY_SABOTAGE, the function reads a variable.
//
// The list has the faults that systems of this kind are known for, and past faults of this one.
#pragma once

#include <cstdint>

namespace galley {

enum class Sabotage : uint8_t {
  kNone,
  kSkipEpochCheck,       // an answer for an older generation of a package is accepted
  kBumpEpochAtDispatch,  // a change begins a new generation only at the next look-up
  kAckBeforeSync,        // a commit succeeds before the log is synced
  kNoFolderSync,         // the folder of a renamed file is not synced
  kSkipHashCheck,        // bytes are returned without a check of their digest
  kSkipClosureCheck,     // a result is served although a blob that it names is gone
  kEvictLeasedBlob,      // the simulation's collector removes blobs that a director relies on
  kRetrySync,            // a failed sync is retried, and its success is believed
  kForgetFailedSync,     // the next owner retries a failed sync, and believes its success
  kForgetInFlight,       // the attempts that a worker reports in hand are ignored
  kEndWithPending,       // a cook ends with one package unfinished
  kAcceptStaleTerm,      // a director goes on writing after another has taken over
  kWelcomeStaleTerm,     // a worker goes back to a director that another has replaced
  kRetryPoisonForEver,   // faults are not counted, so that no package is quarantined
  kHideDispute,          // the simulation's store raises no epoch for a dispute
  kForgetFollowers,      // followers of equal work stay when its leader ends without a result
  kMakeAgainOnce,        // a package whose blobs are lost twice in a cook is not made again
  kBelieveIndex,         // after a loss, the disk is not searched for other lost blobs
  kHideLoss,             // lost blobs are dropped without a new epoch
  kKeepClaims,           // the claims of an ended cook stay
  kTellWrongCook,        // a result is told to the cooks that do not want it
  kTakeAnyVariant,       // a cook takes the variants of the cultures of all cooks
  kStarveClass,          // lower classes of cooks get no turn while a higher class has jobs
  kHoldUpNow,            // a job of a lower class goes before a Blocking job
  kForgetLaunch,         // a launched worker that will never come still counts as starting
  kForgetRefusal,        // a worker with other tools is offered a refused job again and again
  kForgetAttempt,        // a retracted job is forgotten, although it may have begun
  kReportEarly,          // a remote worker reports before its blobs are uploaded
  kTrustUploaded,        // a blob that was uploaded once is assumed to stay for ever
  kOfferToAll,           // a worker gets jobs of cookers that it lacks
  kPlaceAnywhere,        // a worker gets jobs whose labels it lacks
  kOverfillMachine,      // a machine's resources are granted beyond its limits
  kProveOnSameMachine,   // a job is cooked again by the machine that cooked it first
  kCommitBeforeProof,    // a result that must be proven is committed without a second cook
  kPublishEmptyRoot,     // a root without files becomes the platform's last root
  kPublishTwice,         // a root that equals the platform's last root is published again
  kStageUnpublished,     // roots are staged before they are published
  kTellClosedCook,       // a cook gets events after its end
  kKeepAsks,             // what an ask wanted stays wanted when the ask is over
  kBelieveLastCook,      // an ask believes what a cook left, though files have changed since
  kAskInTurn,            // a package that is asked for is no more urgent than others
  kAnswerWithdrawn,      // an ask that was withdrawn is answered
  kServeLaterWorld,      // a session is answered by what is known of the present world
  kChangeOldNode,        // a growth takes away a node that a growth before it added
  kForgetSessionLease,   // the root of a session is not leased
  kTellUnleased,         // roots are told that are not leased yet
  kKeepAheadJobs,        // a job ahead of need goes on though another job needs its slot
  kCount,
};

// Separate namespaces, so that code compiled with one never links to the other's functions.
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
