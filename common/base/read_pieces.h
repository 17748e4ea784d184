// Files that are too large to be held in memory, in pieces.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

inline constexpr size_t kPieceBytesMax = 256 << 10;

// Valid during the call only. An error ends what hands them out, and is its error.
using TakePiece = std::function<absl::Status(std::string_view piece)>;
// Hands out all bytes of something, each once.
using PieceStream = std::function<absl::Status(const TakePiece& take)>;

// The bytes of a file as they are read. Errors as ReadFile (file.h).
absl::Status ReadInPieces(const std::string& path, const TakePiece& take);
absl::StatusOr<Digest> DigestOfFile(const std::string& path);
// A file of what `stream` hands out, and its digest. An error leaves a part of it.
absl::StatusOr<Digest> WriteInPieces(const std::string& path, const PieceStream& stream);

}  // namespace galley
