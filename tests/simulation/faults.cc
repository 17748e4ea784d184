#include "tests/simulation/faults.h"

#include <string>

#include "common/base/digest.h"

namespace galley::simulation {

std::string_view FaultName(Fault fault) {
#define GALLEY_FAULT(name, text) text,
  static constexpr std::string_view kNames[] = {GALLEY_SIM_FAULTS(GALLEY_FAULT)};
#undef GALLEY_FAULT
  return kNames[static_cast<size_t>(fault)];
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
  // The fault takes a farm, proofs, and this draw.
  on_[static_cast<size_t>(Fault::kWorkerWrong)] |= IsLateOn(seed, "and once more");
}

bool Faults::Happens(Fault fault, uint64_t percent) {
  const bool happens = IsOn(fault) && random_.Percent(percent);
  if (happens) Count(fault);
  return happens;
}

}  // namespace galley::simulation
