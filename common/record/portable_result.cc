#include "common/record/portable_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/record/action.h"
#include "common/tree/wire_fields.h"

namespace galley::record {
namespace {

using tree::FieldTo;

const std::string kFolder = std::string(kOutputStem) + ".d";

std::string EncodeTree(const tree::BuiltTree& built) {
  const std::vector<Digest> order = tree::ChildrenFirst(built);
  WireWriter writer;
  for (auto digest = order.rbegin(); digest != order.rend(); ++digest)
    writer.Element(digest == order.rbegin() ? 1 : 2, built.directories.at(*digest));
  return writer.Take();
}

std::string EncodeOutputDirectory(const Digest& tree_digest, const Digest& root) {
  WireWriter writer;
  writer.Bytes(1, kFolder);
  writer.Element(3, tree::EncodeDigest(tree_digest));
  writer.Bool(4, true);
  writer.Element(5, tree::EncodeDigest(root));
  return writer.Take();
}

// The outputs below ".d/" as one tree; nothing when they make none (a file against a folder).
std::optional<tree::BuiltTree> TreeOf(const std::vector<Output>& outputs) {
  std::vector<tree::TreeFile> files;
  for (const Output& output : outputs)
    files.push_back(
        {output.suffix.substr(kFurtherOutputs.size()), output.digest, output.is_executable});
  tree::BuiltTree built =
      tree::BuildTree(files, [](std::string_view name) { return std::string(name); });
  if (files.empty() || !built.conflicts.empty()) return std::nullopt;
  return built;
}

// The files of a Tree, as output_files of an ActionResult.
class TreeReader {
 public:
  explicit TreeReader(WireWriter& files) : files_(files) {}

  absl::Status Read(std::string_view tree_bytes) {
    std::optional<Digest> root;
    for (WireReader reader(tree_bytes); !reader.AtEnd();) {
      ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
      if (field.number != 1 && field.number != 2) continue;
      ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "a Directory of a tree"));
      const Digest digest = Digest::Of(bytes);
      if (field.number == 1) root = digest;
      encoded_.emplace(digest, bytes);
    }
    if (!root) return absl::InvalidArgumentError("a tree without a root");
    return Walk(*root, kFolder, 1);
  }

 private:
  absl::Status Walk(const Digest& digest, const std::string& path, size_t depth) {
    if (depth > tree::kTreeDepthMax)
      return absl::InvalidArgumentError("a tree is deeper than " +
                                        std::to_string(tree::kTreeDepthMax));
    const auto at = encoded_.find(digest);
    if (at == encoded_.end()) {
      return InvalidArgumentError("a tree lacks its Directory {}", digest.ToString());
    }
    ASSIGN_OR_RETURN(const tree::Directory directory, tree::DecodeDirectory(at->second));
    // Folders count, too: a tree of nothing but folders is work without end.
    count_ += directory.files.size() + directory.directories.size();
    if (count_ > kPortableOutputsMax) {
      return ResourceExhaustedError("a tree names more than {} outputs", kPortableOutputsMax);
    }
    for (const tree::FileNode& file : directory.files) {
      WireWriter output;
      output.Bytes(1, path + "/" + file.name);
      output.Element(2, tree::EncodeDigest(file.digest));
      output.Bool(4, file.is_executable);
      files_.Element(2, output.bytes());
    }
    for (const tree::DirectoryNode& child : directory.directories)
      RETURN_IF_ERROR(Walk(child.digest, path + "/" + child.name, depth + 1));
    return absl::OkStatus();
  }

  WireWriter& files_;
  std::map<Digest, std::string_view> encoded_;
  size_t count_ = 0;
};

absl::Status FlattenDirectory(std::string_view bytes, const tree::ReadBlob& read,
                              WireWriter& flat) {
  std::string_view path;
  std::optional<Digest> tree_digest;
  RETURN_IF_ERROR(
      tree::ReadFields(bytes, FieldTo(1, "path", path), FieldTo(3, "tree_digest", tree_digest)));
  if (path != kFolder || !tree_digest) {
    return InvalidArgumentError("output directory \"{}\": expected {} and its tree", path, kFolder);
  }
  if (tree_digest->size_bytes() > kResultBytesMax)
    return InvalidArgumentError("a tree of {} bytes, at most {} are allowed",
                                tree_digest->size_bytes(), kResultBytesMax);
  ASSIGN_OR_RETURN(const Blob blob, read(*tree_digest));
  return TreeReader(flat).Read(*blob);
}

// Details that a server keeps as a blob only come back inline; any other output as it is.
absl::StatusOr<std::string> WithDetailsInline(std::string_view file, const tree::ReadBlob& read) {
  std::string_view path, contents;
  std::optional<Digest> digest;
  RETURN_IF_ERROR(tree::ReadFields(file, FieldTo(1, "path", path), FieldTo(2, "digest", digest),
                                   FieldTo(5, "contents", contents)));
  if (path != kDetailsPath || !contents.empty() || !digest) return std::string(file);
  if (digest->size_bytes() > kDetailsBytesMax)
    return InvalidArgumentError("details of {} bytes", digest->size_bytes());
  ASSIGN_OR_RETURN(const Blob blob, read(*digest));
  WireWriter writer;
  writer.Bytes(1, path);
  writer.Element(2, tree::EncodeDigest(*digest));
  writer.Bytes(5, *blob);
  return writer.Take();
}

}  // namespace

PortableResult EncodePortable(const Result& result) {
  PortableResult portable;
  std::string details = EncodeDetails(result.details);
  portable.blobs.emplace_back(Digest::Of(details), std::move(details));
  Result rest = result;
  const auto further = std::stable_partition(
      rest.outputs.begin(), rest.outputs.end(),
      [](const Output& output) { return !output.suffix.starts_with(kFurtherOutputs); });
  const std::vector<Output> in_tree(further, rest.outputs.end());
  const std::optional<tree::BuiltTree> built =
      result.outputs.size() > kOutputFilesMax ? TreeOf(in_tree) : std::nullopt;
  if (!built) {
    portable.bytes = EncodeResult(result);
    return portable;
  }
  rest.outputs.erase(further, rest.outputs.end());
  std::string tree_bytes = EncodeTree(*built);
  const Digest tree_digest = Digest::Of(tree_bytes);
  WireWriter directory;
  directory.Element(3, EncodeOutputDirectory(tree_digest, built->root));
  portable.bytes = EncodeResult(rest) + directory.bytes();
  portable.blobs.emplace_back(tree_digest, std::move(tree_bytes));
  portable.blobs.insert(portable.blobs.end(), built->directories.begin(), built->directories.end());
  return portable;
}

absl::StatusOr<Result> DecodePortable(std::string_view bytes, const tree::ReadBlob& read) {
  if (bytes.size() > kResultBytesMax) return DecodeResult(bytes);  // says that it is too large
  WireWriter flat;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number == 2 && field.type == WireReader::Type::kBytes) {
      ASSIGN_OR_RETURN(const std::string file, WithDetailsInline(field.bytes, read));
      flat.Element(2, file);
    } else if (field.number == 3 && field.type == WireReader::Type::kBytes) {
      RETURN_IF_ERROR(FlattenDirectory(field.bytes, read, flat));
    } else if (field.type == WireReader::Type::kBytes) {
      flat.Element(field.number, field.bytes);
    } else if (field.type == WireReader::Type::kVarint) {
      flat.Varint(field.number, field.value);
    }
    // Fixed-width fields: an ActionResult has none that is known here.
  }
  return DecodeResult(flat.bytes());
}

}  // namespace galley::record
