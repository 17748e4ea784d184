#include "director/core/cooks/resolved_reference.h"

#include <optional>

#include "director/core/packages/failure_texts.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

ReferenceTarget ResolveReference(const Catalog& catalog, const std::string& from,
                                 const record::Reference& reference) {
  ReferenceTarget target;
  if (reference.path.starts_with("_gen/")) {
    target.name = from + "/" + reference.path;
  } else {
    target = catalog.Resolve(from, reference.path);
  }
  if (!target.error.empty() || !GeneratorName(target.name).empty()) return target;
  const std::optional<CatalogEntry> entry = catalog.Find(target.name);
  if (!entry.has_value()) target.error = "no such package";
  if (entry.has_value() && entry->never_cook) target.error = kIsNeverCooked;
  return target;
}

std::string NowhereText(const record::Reference& reference, const ReferenceTarget& target) {
  std::string text = "refers to '" + reference.path + "' (" +
                     std::string(record::ReferenceKindName(reference.kind)) + ")";
  if (!target.name.empty() && target.name != reference.path) text += ", that is " + target.name;
  return text + ": expected a package: " + target.error;
}

}  // namespace galley::director
