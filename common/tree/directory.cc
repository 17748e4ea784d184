#include <fmt/format.h>

#include <optional>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/plain_name.h"
#include "common/tree/tree.h"
#include "common/tree/wire_fields.h"

namespace galley::tree {
namespace {

std::string EncodeNode(std::string_view name, const Digest& digest, bool is_executable) {
  WireWriter writer;
  writer.Bytes(1, name);
  writer.Element(2, EncodeDigest(digest));
  writer.Bool(4, is_executable);
  return writer.Take();
}

// FileNode, and DirectoryNode, which is one without is_executable.
absl::StatusOr<FileNode> DecodeNode(std::string_view bytes, bool is_file) {
  FileNode node;
  std::optional<Digest> digest;
  const FieldTo name(1, "name", node.name);
  const FieldTo of(2, "digest", digest);
  RETURN_IF_ERROR(is_file ? ReadAllFields(bytes, "FileNode here", name, of,
                                          FieldTo(4, "is_executable", node.is_executable))
                          : ReadAllFields(bytes, "DirectoryNode here", name, of));
  if (!IsPlainSegment(node.name)) {
    return absl::InvalidArgumentError("a name is not a single plain segment");
  }
  if (!digest) return InvalidArgumentError("{} has no digest", node.name);
  node.digest = *digest;
  return node;
}

absl::Status CheckNames(const Directory& directory) {
  size_t file = 0, folder = 0;
  std::string_view last;
  const auto& files = directory.files;
  const auto& folders = directory.directories;
  while (file < files.size() || folder < folders.size()) {
    const bool takes_file = folder == folders.size() ||
                            (file < files.size() && files[file].name <= folders[folder].name);
    const std::string_view name = takes_file ? files[file++].name : folders[folder++].name;
    if (!last.empty() && name <= last) {
      return InvalidArgumentError("{} is not after {}", name, last);
    }
    last = name;
  }
  return absl::OkStatus();
}

}  // namespace

std::string EncodeDirectory(const Directory& directory) {
  WireWriter writer;
  for (const FileNode& file : directory.files) {
    writer.Element(1, EncodeNode(file.name, file.digest, file.is_executable));
  }
  for (const DirectoryNode& folder : directory.directories) {
    writer.Element(2, EncodeNode(folder.name, folder.digest, false));
  }
  return writer.Take();
}

absl::StatusOr<Directory> DecodeDirectory(std::string_view bytes) {
  Directory directory;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 1 && field.number != 2) return UnknownField(field, "Directory here");
    const bool is_file = field.number == 1;
    ASSIGN_OR_RETURN(const std::string_view element,
                     BytesOf(field, is_file ? "files" : "directories"));
    ASSIGN_OR_RETURN(FileNode node, DecodeNode(element, is_file));
    if (is_file) {
      directory.files.push_back(std::move(node));
    } else if (node.digest == Digest()) {
      return InvalidArgumentError("{} is an empty folder", node.name);
    } else {
      directory.directories.push_back({std::move(node.name), node.digest});
    }
  }
  RETURN_IF_ERROR(CheckNames(directory));
  // Faults that are left: fields out of order or doubled, numbers in a longer form, defaults
  // written out.
  if (EncodeDirectory(directory) != bytes) {
    return absl::InvalidArgumentError("Directory is not in canonical form");
  }
  return directory;
}

}  // namespace galley::tree
