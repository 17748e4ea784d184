// ResolveReference: the package to which a reference of a result leads, by the present catalog.
// Threads: none.
#pragma once

#include <string>

#include "common/record/result.h"
#include "director/core/catalog.h"

namespace galley::director {

// An error of the target says why the reference leads to no package in any cook: there is none, or
// the project never cooks it. A generated package is returned without error: the list of its
// generator decides.
ReferenceTarget ResolveReference(const Catalog& catalog, const std::string& from,
                                 const record::Reference& reference);
// The text of a reference that leads to no package. REQUIRES: the target has an error.
std::string NowhereText(const record::Reference& reference, const ReferenceTarget& target);

}  // namespace galley::director
