#include "director/core/packages/changed_names.h"

#include <string>

namespace galley::director {

NewNames NewNamesOf(const std::vector<FilesChanged::Renamed>& all) {
  NewNames new_names;
  for (const FilesChanged::Renamed& renamed : all) new_names[renamed.from] = renamed.to;
  return new_names;
}

void RenameIn(std::vector<SelectedPackage>& selected, size_t first, const NewNames& new_names) {
  if (new_names.empty()) return;
  for (size_t i = first; i < selected.size(); ++i) {
    const auto found = new_names.find(selected[i].name);
    if (found != new_names.end()) selected[i].name = std::string(found->second);
  }
}

}  // namespace galley::director
