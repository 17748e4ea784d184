#include "director/stage/patch_format.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/plain_name.h"
#include "common/tree/wire_fields.h"
#include "director/stage/apply_names.h"

namespace galley::director {
namespace {

using tree::FieldTo;
using tree::ForEachField;

using tree::Difference;
using Kind = Difference::Kind;

std::string EncodeFile(const tree::TreeFile& file) {
  WireWriter writer;
  writer.Bytes(1, file.path);
  writer.Element(2, tree::EncodeDigest(file.digest));
  writer.Bool(3, file.is_executable);
  return writer.Take();
}

std::string EncodePiece(const PatchPiece& piece) {
  WireWriter writer;
  writer.Varint(1, piece.source);
  writer.Varint(2, piece.offset);
  writer.Varint(3, piece.size_bytes);
  return writer.Take();
}

std::string EncodeRecipe(const PatchRecipe& recipe) {
  WireWriter writer;
  writer.Element(1, tree::EncodeDigest(recipe.digest));
  for (const PatchPiece& piece : recipe.pieces) writer.Element(2, EncodePiece(piece));
  return writer.Take();
}

std::string EncodeDifference(const Difference& difference) {
  WireWriter writer;
  if (difference.kind != Kind::kAdded) writer.Element(1, EncodeFile(difference.before));
  if (difference.kind != Kind::kRemoved) writer.Element(2, EncodeFile(difference.after));
  return writer.Take();
}

absl::StatusOr<std::vector<uint64_t>> DecodeNumbers(const WireReader::Field& field, size_t count,
                                                    std::string_view name) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, name));
  std::vector<uint64_t> numbers(count, 0);
  RETURN_IF_ERROR(ForEachField(bytes, [&](const WireReader::Field& part) -> absl::Status {
    if (part.number > count) return tree::UnknownField(part, name);
    ASSIGN_OR_RETURN(numbers[part.number - 1], tree::VarintOf(part, name));
    return absl::OkStatus();
  }));
  return numbers;
}

absl::StatusOr<tree::TreeFile> DecodeFile(const WireReader::Field& field) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "file"));
  tree::TreeFile file;
  RETURN_IF_ERROR(tree::ReadAllFields(bytes, "file", FieldTo(1, "path", file.path),
                                      FieldTo(2, "digest", file.digest),
                                      FieldTo(3, "is_executable", file.is_executable)));
  return file;
}

absl::StatusOr<PatchRecipe> DecodeRecipe(const WireReader::Field& field) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "recipe"));
  PatchRecipe recipe;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const WireReader::Field& part) -> absl::Status {
    if (part.number == 1) {
      ASSIGN_OR_RETURN(recipe.digest, tree::DigestOf(part, "digest"));
      return absl::OkStatus();
    }
    if (part.number != 2) return tree::UnknownField(part, "recipe");
    ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, DecodeNumbers(part, 3, "piece"));
    recipe.pieces.push_back({numbers[0], numbers[1], numbers[2]});
    return absl::OkStatus();
  }));
  return recipe;
}

absl::StatusOr<Difference> DecodeDifference(const WireReader::Field& field) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "difference"));
  std::optional<tree::TreeFile> before, after;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const WireReader::Field& part) -> absl::Status {
    if (part.number > 2) return tree::UnknownField(part, "difference");
    ASSIGN_OR_RETURN((part.number == 1 ? before : after), DecodeFile(part));
    return absl::OkStatus();
  }));
  if (!before && !after) return absl::InvalidArgumentError("a difference names no file");
  Difference difference;
  difference.kind = !before                       ? Kind::kAdded
                    : !after                      ? Kind::kRemoved
                    : before->path == after->path ? Kind::kChanged
                                                  : Kind::kRenamed;
  if (before) difference.before = *std::move(before);
  if (after) difference.after = *std::move(after);
  return difference;
}

absl::Status DecodeField(const WireReader::Field& field, PatchIndex& index) {
  if (field.number == 1) {
    ASSIGN_OR_RETURN(index.from, tree::DigestOf(field, "from"));
  } else if (field.number == 2) {
    ASSIGN_OR_RETURN(index.to, tree::DigestOf(field, "to"));
  } else if (field.number == 3) {
    ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, DecodeNumbers(field, 2, "frame"));
    index.frames.push_back({numbers[0], numbers[1]});
  } else if (field.number == 4) {
    ASSIGN_OR_RETURN(tree::TreeFile file, DecodeFile(field));
    index.sources.push_back({std::move(file.path), file.digest});
  } else if (field.number == 5) {
    ASSIGN_OR_RETURN(index.recipes.emplace_back(), DecodeRecipe(field));
  } else if (field.number == 6) {
    ASSIGN_OR_RETURN(index.differences.emplace_back(), DecodeDifference(field));
  } else {
    return tree::UnknownField(field, "patch");
  }
  return absl::OkStatus();
}

absl::Status CheckPath(const std::string& path) {
  if (!tree::IsPlainPath(path)) return absl::InvalidArgumentError("a path is not plain");
  if (IsOwnPath(path)) return InvalidArgumentError("{} is a name of Galley's own", path);
  return absl::OkStatus();
}

// PathsOfTree: the paths of one tree: each path once, and no path a folder of another.
class PathsOfTree {
 public:
  explicit PathsOfTree(std::string_view which) : which_(which) {}

  absl::Status Add(const std::string& path) {
    RETURN_IF_ERROR(CheckPath(path));
    if (!paths_.insert(path).second) return Refuse(path);
    return absl::OkStatus();
  }
  bool Holds(const std::string& path) const { return paths_.contains(path); }
  absl::Status Check() const {
    for (const std::string_view path : paths_) {
      for (size_t end = path.find('/'); end != std::string_view::npos;
           end = path.find('/', end + 1)) {
        if (paths_.contains(path.substr(0, end))) return Refuse(path.substr(0, end));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Refuse(std::string_view path) const {
    return InvalidArgumentError("{} is in the {} tree twice, or a file and a folder", path, which_);
  }
  std::string_view which_;
  std::set<std::string_view> paths_;
};

absl::Status CheckDifferences(const PatchIndex& index) {
  PathsOfTree old_paths("old"), new_paths("new");
  const std::string* last = nullptr;
  for (const Difference& one : index.differences) {
    if (last != nullptr && *last > one.path())
      return absl::InvalidArgumentError("differences are not in order");
    last = &one.path();
    if (one.kind != Kind::kAdded) RETURN_IF_ERROR(old_paths.Add(one.before.path));
    if (one.kind != Kind::kRemoved) RETURN_IF_ERROR(new_paths.Add(one.after.path));
    if (one.kind == Kind::kRenamed && one.before.digest != one.after.digest)
      return InvalidArgumentError("{} is renamed and changed", one.after.path);
  }
  RETURN_IF_ERROR(old_paths.Check());
  RETURN_IF_ERROR(new_paths.Check());
  // Otherwise the order would decide which paths are removed and which come.
  for (const Difference& one : index.differences) {
    if (one.kind == Kind::kChanged) continue;
    if (one.kind != Kind::kAdded && new_paths.Holds(one.before.path))
      return InvalidArgumentError("{} goes and comes", one.before.path);
    if (one.kind != Kind::kRemoved && old_paths.Holds(one.after.path))
      return InvalidArgumentError("{} goes and comes", one.after.path);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> CheckFrames(const PatchIndex& index) {
  uint64_t literal_bytes = 0;
  for (const LiteralFrame& frame : index.frames) {
    if (frame.size_bytes == 0 || frame.size_bytes > kLiteralFrameBytesMax ||
        frame.packed_bytes == 0 || frame.packed_bytes > 2 * kLiteralFrameBytesMax)
      return absl::InvalidArgumentError("a frame has no possible size");
    literal_bytes += frame.size_bytes;
  }
  return literal_bytes;
}

absl::Status CheckRecipe(const PatchRecipe& recipe, const PatchIndex& index,
                         uint64_t literal_bytes) {
  uint64_t left = recipe.digest.size_bytes();
  for (const PatchPiece& piece : recipe.pieces) {
    if (piece.source > index.sources.size())
      return absl::InvalidArgumentError("a piece is of no known file");
    const uint64_t there =
        piece.source == 0 ? literal_bytes : index.sources[piece.source - 1].digest.size_bytes();
    if (piece.offset > there || piece.size_bytes > there - piece.offset)
      return absl::InvalidArgumentError("a piece lies outside of its file");
    if (piece.size_bytes == 0 || piece.size_bytes > left)
      return absl::InvalidArgumentError("pieces are more than what they make");
    left -= piece.size_bytes;
  }
  if (left != 0) return absl::InvalidArgumentError("pieces are less than what they make");
  return absl::OkStatus();
}

absl::Status CheckRecipes(const PatchIndex& index, uint64_t literal_bytes) {
  std::set<Digest> wanted, made;
  for (const Difference& one : index.differences) {
    if (one.kind != Kind::kRemoved) wanted.insert(one.after.digest);
  }
  for (const PatchRecipe& recipe : index.recipes) {
    if (!made.empty() && !(*made.rbegin() < recipe.digest))
      return absl::InvalidArgumentError("recipes are not in order");
    made.insert(recipe.digest);
    RETURN_IF_ERROR(CheckRecipe(recipe, index, literal_bytes));
  }
  if (made != wanted)
    return absl::InvalidArgumentError("recipes are not those of the files that come");
  return absl::OkStatus();
}

void Append64(std::string& to, uint64_t value) {
  for (int i = 0; i < 8; ++i) to.push_back(static_cast<char>(value >> (8 * i)));
}
uint64_t Read64(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

std::string EncodePatchIndex(const PatchIndex& index) {
  WireWriter writer;
  writer.Element(1, tree::EncodeDigest(index.from));
  writer.Element(2, tree::EncodeDigest(index.to));
  for (const LiteralFrame& frame : index.frames) {
    WireWriter sizes;
    sizes.Varint(1, frame.packed_bytes);
    sizes.Varint(2, frame.size_bytes);
    writer.Element(3, sizes.bytes());
  }
  for (const PatchSource& source : index.sources)
    writer.Element(4, EncodeFile({source.path, source.digest}));
  for (const PatchRecipe& recipe : index.recipes) writer.Element(5, EncodeRecipe(recipe));
  for (const Difference& one : index.differences) writer.Element(6, EncodeDifference(one));
  return writer.Take();
}

absl::StatusOr<PatchIndex> DecodePatchIndex(std::string_view bytes) {
  PatchIndex index;
  RETURN_IF_ERROR(ForEachField(
      bytes, [&](const WireReader::Field& field) { return DecodeField(field, index); }));
  if (EncodePatchIndex(index) != bytes)
    return absl::InvalidArgumentError("the index is not in its one form");
  for (const PatchSource& source : index.sources) RETURN_IF_ERROR(CheckPath(source.path));
  RETURN_IF_ERROR(CheckDifferences(index));
  ASSIGN_OR_RETURN(const uint64_t literal_bytes, CheckFrames(index));
  RETURN_IF_ERROR(CheckRecipes(index, literal_bytes));
  return index;
}

std::string EncodePatchHeader() {
  std::string header(kPatchMagic);
  Append64(header, kPatchVersion);  // upper half: no flags
  return header;
}

absl::Status CheckPatchHeader(std::string_view bytes) {
  if (bytes.size() < kPatchHeaderBytes || !bytes.starts_with(kPatchMagic))
    return absl::InvalidArgumentError("it is no Galley patch");
  const uint64_t version = Read64(bytes.substr(kPatchMagic.size()));
  if (version == kPatchVersion) return absl::OkStatus();
  return InvalidArgumentError(
      "a patch of version {} with flags {}: this Galley reads version {} without",
      version & UINT32_MAX, version >> 32, kPatchVersion);
}

std::string EncodePatchSizes(const PatchTrailer& trailer) {
  std::string bytes;
  Append64(bytes, trailer.index_packed_bytes);
  Append64(bytes, trailer.index_bytes);
  return bytes;
}

absl::StatusOr<PatchTrailer> DecodePatchTrailer(std::string_view bytes, uint64_t file_bytes) {
  if (bytes.size() != kPatchTrailerBytes || file_bytes < kPatchHeaderBytes + kPatchTrailerBytes)
    return absl::InvalidArgumentError("it is cut off");
  PatchTrailer trailer{.index_packed_bytes = Read64(bytes),
                       .index_bytes = Read64(bytes.substr(8)),
                       .hash = std::string(bytes.substr(16))};
  if (trailer.index_packed_bytes > file_bytes - kPatchHeaderBytes - kPatchTrailerBytes ||
      trailer.index_bytes > kPatchIndexBytesMax)
    return absl::InvalidArgumentError("its index has no possible size");
  return trailer;
}

}  // namespace galley::director
