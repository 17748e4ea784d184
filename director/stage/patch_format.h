// The patch format, `galley-patch 1`: what makes the files of one cooked tree from those of
// another. docs/store.md has the layout. Pure.
//
// A patch is literals (zstd frames of what the old files do not hold), then the index: which files
// differ, and how each new content is put together from pieces of old files and of the literals.
// The last bytes say where the index lies and have the SHA-256 of all before them, so that nothing
// of a damaged patch is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"

namespace galley::director {

inline constexpr std::string_view kPatchMagic = "GALLEYPT";
inline constexpr uint32_t kPatchVersion = 1;
inline constexpr size_t kPatchHeaderBytes = 16;   // magic, version, flags (0)
inline constexpr size_t kPatchTrailerBytes = 48;  // packed and unpacked size of the index, SHA-256
inline constexpr uint64_t kLiteralFrameBytesMax = 1 << 20;  // inside
inline constexpr uint64_t kPatchIndexBytesMax = 1 << 30;

// A file of the old tree of which bytes are used.
struct PatchSource {
  std::string path;
  Digest digest;
  bool operator==(const PatchSource&) const = default;
};

struct PatchPiece {
  // 0: the literals, as if all frames were unpacked into one; i: sources[i - 1].
  uint64_t source = 0;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // at least 1
  bool operator==(const PatchPiece&) const = default;
};

// How a content is put together: its pieces, in order.
struct PatchRecipe {
  Digest digest;
  std::vector<PatchPiece> pieces;
  bool operator==(const PatchRecipe&) const = default;
};

struct LiteralFrame {
  uint64_t packed_bytes = 0;
  uint64_t size_bytes = 0;
  bool operator==(const LiteralFrame&) const = default;
};

struct PatchIndex {
  Digest from;  // roots
  Digest to;
  std::vector<LiteralFrame> frames;  // one after the other, from kPatchHeaderBytes on
  std::vector<PatchSource> sources;  // in any order
  std::vector<PatchRecipe> recipes;  // by digest; of every content that comes, and of no other
  std::vector<tree::Difference> differences;  // by path
  bool operator==(const PatchIndex&) const = default;
};

std::string EncodePatchIndex(const PatchIndex& index);
// INVALID_ARGUMENT for anything that EncodePatchIndex would not have written; for paths that are
// not plain, that are names of applying's or staging's own, or that cannot be in one tree; for
// pieces that lie outside of what they name or do not add up; for a content that comes without a
// recipe.
absl::StatusOr<PatchIndex> DecodePatchIndex(std::string_view bytes);

std::string EncodePatchHeader();
// INVALID_ARGUMENT: no patch, or of a version or with flags that are not known here.
absl::Status CheckPatchHeader(std::string_view bytes);

struct PatchTrailer {
  uint64_t index_packed_bytes = 0;
  uint64_t index_bytes = 0;
  std::string hash;  // of all before it, 32 bytes
};
// All but the hash, which is of these bytes, too.
std::string EncodePatchSizes(const PatchTrailer& trailer);
// `file_bytes`: of the whole patch. INVALID_ARGUMENT: sizes that cannot be.
absl::StatusOr<PatchTrailer> DecodePatchTrailer(std::string_view bytes, uint64_t file_bytes);

}  // namespace galley::director
