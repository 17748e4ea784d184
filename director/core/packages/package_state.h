// State and Outcome of a package, and the legal changes of state.
//
//        asked for          not up to date        loaded         every platform done
//   Idle ---------> Request -------------> Load ----------> Save -------------------> Idle, cooked
//                    |   ^                  |               |  ^
//   Idle <-----------+   +------------------+---------------+  | grant (SaveStalled)
//         up to date       attempt lost, stale, needs(P)
//
// Only Lifecycle::SetState changes a state.
#pragma once

#include <cstdint>
#include <string_view>

namespace galley::director {

enum class State : uint8_t {
  kIdle,         // not in the works; Outcome says how it ended
  kRequest,      // being looked up, or waiting: for a generator, cooked inputs, a new snapshot,
                 // equal work
  kLoad,         // some platform must be cooked; unassigned (then in the LoadQueue or backing off),
                 // or in a worker's hands and not yet loaded
  kSave,         // loaded by the worker that has it, or its last results are being committed
  kSaveStalled,  // must be cooked, and waits in the SaveQueue for a grant of a resource class
};
inline constexpr size_t kStateCount = 5;

enum class Outcome : uint8_t { kNone, kCooked, kFailed };

std::string_view StateName(State state);        // "Idle", "Request", ...
std::string_view OutcomeName(Outcome outcome);  // "none", "cooked", "failed"

bool IsLegalEdge(State from, State to);

// The phase of one platform of a package. The state of the package follows from the phases
// (PackageProgress::Advance).
enum class Phase : uint8_t {
  kUnwanted,    // this platform is not cooked
  kToLookUp,    // to be looked up
  kLookingUp,   // a look-up is on its way
  kWaiting,     // the look-up wants results of cooked inputs first
  kFollowing,   // must be cooked as far as is known, but another package's equal work is being
                // cooked: when that is over, this platform is looked up again
  kToCook,      // must be cooked
  kInHand,      // in a current attempt
  kCommitting,  // its result is being made durable
  kDone,        // has a durable result
  kFailed,
};

// True: a platform in this phase may lead equal work, since it waits for no other package.
inline bool CanLead(Phase phase) {
  return phase == Phase::kToCook || phase == Phase::kInHand || phase == Phase::kCommitting;
}

inline bool IsSettled(Phase phase) { return phase == Phase::kDone || phase == Phase::kFailed; }

}  // namespace galley::director
