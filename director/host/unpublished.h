// UnpublishedText: the message about a platform without outputs, for which a cook by the book
// published nothing.
#pragma once

#include <cstdint>
#include <string>

namespace galley::director {

// Returns "nothing was published: all 3 packages failed; the last good tree stays". `failed`:
// packages that failed on the platform. `in_cook`: packages in the cook. `has_last`: a root was
// published before.
std::string UnpublishedText(uint64_t failed, uint64_t in_cook, bool has_last);

}  // namespace galley::director
