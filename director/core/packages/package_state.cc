#include "director/core/packages/package_state.h"

#include <array>

namespace galley::director {

std::string_view StateName(State state) {
  constexpr std::array<std::string_view, kStateCount> kNames = {"Idle", "Request", "Load", "Save",
                                                                "SaveStalled"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view OutcomeName(Outcome outcome) {
  constexpr std::array<std::string_view, 3> kNames = {"none", "cooked", "failed"};
  return kNames[static_cast<size_t>(outcome)];
}

bool IsLegalEdge(State from, State to) {
  if (from == to) return false;
  switch (from) {
    case State::kIdle:
      return to == State::kRequest;
    case State::kRequest:
      // To Save: a late result of an earlier attempt is being committed.
      return to != State::kSaveStalled;
    case State::kLoad:
    case State::kSave:
    case State::kSaveStalled:
      return true;
  }
  return false;
}

}  // namespace galley::director
