#include "director/shell/cooked_inputs.h"

#include <utility>

#include "common/base/sort_unique.h"
#include "director/shell/sources.h"

namespace galley::director {

std::vector<std::string> CookedInputsOf(std::string_view package,
                                        const std::vector<record::Observed>& observed) {
  std::vector<std::string> inputs;
  for (const record::Observed& one : observed) {
    if (one.what.kind != record::ObservationKind::kCooked) continue;
    if (auto name = AskedName(package, one.what.subject); name.ok())
      inputs.push_back(*std::move(name));
  }
  SortUnique(inputs);
  return inputs;
}

}  // namespace galley::director
