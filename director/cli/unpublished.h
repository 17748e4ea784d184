// UnpublishedText: the message about a platform of which a cook by the book published nothing,
// since no package has an output there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "director/cli/report.h"

namespace galley::cli {

// "nothing was published: all 3 packages failed; the last good tree stays". `in_cook`: packages
// that were asked for. `has_last`: a root was published before.
std::string UnpublishedText(const std::vector<SummaryFailure>& failures,
                            const std::string& platform, uint64_t in_cook, bool has_last);

}  // namespace galley::cli
