// Bodies in memory as the pieces that a transport writes, and the boundary of bodies with parts.
// Threads: none; functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/blob.h"
#include "director/serve/http/response_plan.h"

namespace galley::director {

// Views of the head and of the parts, whose ranges are those of `bytes`; null: there are no ranges.
std::vector<std::string_view> PiecesOf(std::string_view head, const std::vector<BodyPart>& parts,
                                       const Blob& bytes);

// Drops `bytes` bytes at the front, and moves `first` to the first piece that is left. REQUIRES:
// the pieces before `first` are empty.
void DropWritten(size_t bytes, std::vector<std::string_view>& pieces, size_t& first);

// A new boundary each time. Nobody can guess the next one, so that no file can have it inside.
std::string NewBoundary();

}  // namespace galley::director
