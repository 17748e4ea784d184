#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/directory_codec.h"
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

std::string EncodeLink(const LinkNode& link) {
  WireWriter writer;
  writer.Bytes(1, link.name);
  writer.Bytes(2, link.target);
  return writer.Take();
}

absl::StatusOr<LinkNode> DecodeLink(std::string_view bytes) {
  LinkNode link;
  RETURN_IF_ERROR(ReadAllFields(bytes, "SymlinkNode here", FieldTo(1, "name", link.name),
                                FieldTo(2, "target", link.target)));
  if (!IsPlainSegment(link.name)) {
    return absl::InvalidArgumentError("a name is not a single plain segment");
  }
  if (!IsLinkTarget(link.target)) {
    return InvalidArgumentError("{} has a target that is not a plain relative path", link.name);
  }
  return link;
}

absl::Status DecodeElement(const WireReader::Field& field, LinkedDirectory& directory) {
  constexpr std::string_view kNames[] = {"", "files", "directories", "symlinks"};
  ASSIGN_OR_RETURN(const std::string_view element, BytesOf(field, kNames[field.number]));
  if (field.number == 3) {
    ASSIGN_OR_RETURN(LinkNode link, DecodeLink(element));
    directory.links.push_back(std::move(link));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(FileNode node, DecodeNode(element, field.number == 1));
  if (field.number == 1) {
    directory.files.push_back(std::move(node));
  } else if (node.digest == Digest()) {
    return InvalidArgumentError("{} is an empty folder", node.name);
  } else {
    directory.directories.push_back({std::move(node.name), node.digest});
  }
  return absl::OkStatus();
}

// The names of the three lists, merged, must ascend.
absl::Status CheckNames(const LinkedDirectory& directory) {
  size_t file = 0, folder = 0, link = 0;
  std::string_view last;
  while (true) {
    const std::string* next = nullptr;
    size_t* position = nullptr;
    const auto consider = [&](const auto& nodes, size_t& at) {
      if (at == nodes.size() || (next != nullptr && *next <= nodes[at].name)) return;
      next = &nodes[at].name;
      position = &at;
    };
    consider(directory.files, file);
    consider(directory.directories, folder);
    consider(directory.links, link);
    if (next == nullptr) return absl::OkStatus();
    if (!last.empty() && *next <= last) {
      return InvalidArgumentError("{} is not after {}", *next, last);
    }
    last = *next;
    ++*position;
  }
}

}  // namespace

std::string EncodeNodes(const std::vector<FileNode>& files,
                        const std::vector<DirectoryNode>& directories,
                        const std::vector<LinkNode>& links) {
  WireWriter writer;
  for (const FileNode& file : files) {
    writer.Element(1, EncodeNode(file.name, file.digest, file.is_executable));
  }
  for (const DirectoryNode& folder : directories) {
    writer.Element(2, EncodeNode(folder.name, folder.digest, false));
  }
  for (const LinkNode& link : links) writer.Element(3, EncodeLink(link));
  return writer.Take();
}

absl::StatusOr<LinkedDirectory> DecodeNodes(std::string_view bytes, Links links) {
  const uint32_t last_field = links == Links::kAllowed ? 3 : 2;
  LinkedDirectory directory;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const WireReader::Field& field) {
    if (field.number < 1 || field.number > last_field) {
      return UnknownField(field, "Directory here");
    }
    return DecodeElement(field, directory);
  }));
  RETURN_IF_ERROR(CheckNames(directory));
  // Faults that are left: fields out of order or doubled, numbers in a longer form, defaults
  // written out.
  if (EncodeNodes(directory.files, directory.directories, directory.links) != bytes) {
    return absl::InvalidArgumentError("Directory is not in canonical form");
  }
  return directory;
}

std::string EncodeDirectory(const Directory& directory) {
  return EncodeNodes(directory.files, directory.directories, {});
}

absl::StatusOr<Directory> DecodeDirectory(std::string_view bytes) {
  ASSIGN_OR_RETURN(LinkedDirectory directory, DecodeNodes(bytes, Links::kRefused));
  return Directory{std::move(directory.files), std::move(directory.directories)};
}

}  // namespace galley::tree
