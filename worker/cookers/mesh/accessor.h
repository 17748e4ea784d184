// Reading of accessors: every offset, stride and count is checked before a byte is read.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/stream.h"

namespace galley::worker::mesh {

inline constexpr uint64_t kElementsMax = uint64_t{1} << 28;

// How many elements accessor `index` has; its format. INVALID_ARGUMENT: out of range values.
// REQUIRES for all of these: index < the number of accessors.
struct AccessorHead {
  Format format;
  size_t count = 0;
};
absl::StatusOr<AccessorHead> ReadAccessorHead(const Document& document, size_t index);
// INVALID_ARGUMENT unless all elements, and those of its sparse part, lie within their buffer
// views. To be asked before memory is taken for them: a count that the bytes belie is a flaw of the
// file, not want of memory.
absl::Status CheckElements(const Document& document, size_t index, const AccessorHead& head);
// How many of its elements the file has bytes for: all, or those of its sparse part; the others are
// zeros. What only says that there are many of these is no content. REQUIRES: CheckElements is OK.
uint64_t StoredElements(const Document& document, size_t index, const AccessorHead& head);
// A flaw when `stored` elements are too few to believe in `count`.
absl::Status CheckStored(uint64_t count, uint64_t stored);

// The elements of accessor `index`, sparse values put in. Infinite and not-a-number values are an
// error, since nothing can be computed with them.
absl::StatusOr<Stream> ReadAccessor(Document& document, size_t index);
// Only the elements listed. REQUIRES: `elements` rise strictly and lie below the count.
absl::StatusOr<Stream> ReadElements(Document& document, size_t index,
                                    std::span<const uint32_t> elements);

}  // namespace galley::worker::mesh
