// Accessors: reads a glTF's accessors. Every offset, stride and count is checked before a byte is
// read.
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
// The number of elements that have bytes in the file: all, or only the sparse part. Other elements
// are zeros, and a file may claim any number of zeros. REQUIRES: CheckElements is OK.
uint64_t StoredElements(const Document& document, size_t index, const AccessorHead& head);
// INVALID_ARGUMENT: `count` is too large for `stored`, the number of elements with bytes.
absl::Status CheckStored(uint64_t count, uint64_t stored);

// The elements of accessor `index`, sparse values put in. Infinite and not-a-number values are an
// error, since nothing can be computed with them.
absl::StatusOr<Stream> ReadAccessor(Document& document, size_t index);
// Reads only the listed elements. REQUIRES: `elements` rise strictly and lie below the count.
absl::StatusOr<Stream> ReadElements(Document& document, size_t index,
                                    std::span<const uint32_t> elements);

}  // namespace galley::worker::mesh
