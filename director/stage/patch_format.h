// PatchFormat: the format `galley-patch 1` of patches, which make the files of one cooked tree from
// the files of another. docs/store.md has the layout. Pure.
//
// A patch begins with literals: zstd frames of bytes that the old files do not hold. Then the index
// lists the differing files, and the pieces of old files and literals of each new content. The
// trailer has the place of the index and the SHA-256 of all bytes before the hash, so that nothing
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
inline constexpr uint64_t kLiteralFrameBytesMax = 1 << 20;  // unpacked
inline constexpr uint64_t kPatchIndexBytesMax = 1 << 30;

// PatchSource: a file of the old tree from which pieces are taken.
struct PatchSource {
  std::string path;
  Digest digest;
  bool operator==(const PatchSource&) const = default;
};

struct PatchPiece {
  // 0: the unpacked literals of all frames, joined; i: sources[i - 1].
  uint64_t source = 0;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // at least 1
  bool operator==(const PatchPiece&) const = default;
};

// PatchRecipe: the pieces of a new content, in order.
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
  std::vector<LiteralFrame> frames;           // one after the other, from kPatchHeaderBytes on
  std::vector<PatchSource> sources;           // in any order
  std::vector<PatchRecipe> recipes;           // by digest; one for each new content, no others
  std::vector<tree::Difference> differences;  // by path
  bool operator==(const PatchIndex&) const = default;
};

std::string EncodePatchIndex(const PatchIndex& index);
// INVALID_ARGUMENT: EncodePatchIndex does not write such bytes; a path is not plain, is a name of
// applying or staging, or cannot be in one tree; a piece lies outside of its source, or the pieces
// do not add up; a new content has no recipe.
absl::StatusOr<PatchIndex> DecodePatchIndex(std::string_view bytes);

std::string EncodePatchHeader();
// INVALID_ARGUMENT: no patch, or an unknown version or flag.
absl::Status CheckPatchHeader(std::string_view bytes);

struct PatchTrailer {
  uint64_t index_packed_bytes = 0;
  uint64_t index_bytes = 0;
  std::string hash;  // of all bytes before the hash, 32 bytes
};
// Returns the trailer without the hash, which also covers these bytes.
std::string EncodePatchSizes(const PatchTrailer& trailer);
// `file_bytes`: size of the whole patch. INVALID_ARGUMENT: impossible sizes.
absl::StatusOr<PatchTrailer> DecodePatchTrailer(std::string_view bytes, uint64_t file_bytes);

}  // namespace galley::director
