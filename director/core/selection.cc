#include "director/core/selection.h"

#include "director/core/core.h"

namespace galley::director {

bool Selection::IsAllSelected() const { return selected_next_ == cook_.request().selected.size(); }

size_t Selection::SelectSome(size_t units_max) {
  if (cook_.is_over() || cook_.is_ending()) return 0;
  size_t units = 0;
  for (; selected_next_ < cook_.request().selected.size() && units < units_max; ++units) {
    const SelectedPackage& selected = cook_.request().selected[selected_next_++];
    const PackageId package = graph().claims.FindOrAdd(selected.name);
    packages_[package].selected_by |= cook_.bit();
    if (selected.category == InstigatorCategory::kCommandLinePackage)
      packages_[package].named_by |= cook_.bit();
    graph().claims.Join(package, selected.category, PackageId(), cook_.bit());
  }
  return units;
}

}  // namespace galley::director
