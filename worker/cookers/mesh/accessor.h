// Accessors: reading them. Every offset, stride and count is checked before a byte is read.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/stream.h"

namespace galley::worker::mesh {

inline constexpr uint64_t kElementsMax = uint64_t{1} << 28;

// The format and the number of elements of accessor `index`. INVALID_ARGUMENT: values out of range.
// REQUIRES, here and below: `index` is below the number of accessors.
struct AccessorHead {
  Format format;
  size_t count = 0;
};
absl::StatusOr<AccessorHead> ReadAccessorHead(const Document& document, size_t index);
// INVALID_ARGUMENT: some elements, or elements of the sparse part, lie outside of their buffer
// views. Called before memory is taken for the elements, so that a count without bytes is a flaw of
// the file and not want of memory.
absl::Status CheckElements(const Document& document, size_t index, const AccessorHead& head);
// The number of elements that the file has bytes for: all, or those of the sparse part. All other
// elements are zeros: a mere claim that there are many is no content. REQUIRES: CheckElements is
// OK.
uint64_t StoredElements(const Document& document, size_t index, const AccessorHead& head);
// A flaw when too few elements are `stored` for `count` to be believed.
absl::Status CheckStored(uint64_t count, uint64_t stored);

// The elements of accessor `index`, sparse values put in. Infinite and not-a-number values are an
// error, since nothing can be computed with them.
absl::StatusOr<Stream> ReadAccessor(Document& document, size_t index);
// The listed elements only. REQUIRES: `elements` rise strictly and lie below the count.
absl::StatusOr<Stream> ReadElements(Document& document, size_t index,
                                    std::span<const uint32_t> elements);

}  // namespace galley::worker::mesh
