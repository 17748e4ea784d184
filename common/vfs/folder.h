// Folder: an encoded folder of a cooked tree or of a session's tree (a Directory message of REAPI
// v2), read where it lies, without a copy of its entries.
//
// The bytes have been verified by their digest; what is refused here is what Galley does not write,
// so that a hostile server cannot name a file outside the tree: names that are no plain segments,
// targets that lead anywhere but into the tree, unknown fields, entries that are not sorted.
//
// Source: docs/formats.md; build.bazel.remote.execution.v2.Directory. Threads: any.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "common/vfs/blob_id.h"

namespace galley::vfs {

struct FolderEntry {
  enum class Kind { kFile, kFolder, kLink };
  Kind kind = Kind::kFile;
  std::string_view name;
  BlobId blob;              // of a file or a folder
  std::string_view target;  // of a link
  bool is_executable = false;
};

// True for a path segment: valid UTF-8, not empty, ".", or "..", at most 255 bytes, without '/',
// '\\' and control characters.
bool IsPlainSegment(std::string_view name);
// Plain segments joined by single '/', at most 4,095 bytes.
bool IsPlainPath(std::string_view path);

// Calls `visit` with each entry, in their order: files, folders, links. `visit` returns false to
// stop. Returns false if the bytes are not a folder; `visit` may have seen some entries then.
bool ForEachEntry(std::string_view folder, const std::function<bool(const FolderEntry&)>& visit);

// Found: the entry of this name; nullopt: there is none.
struct Found {
  bool is_folder = true;  // false: the bytes are not a folder
  std::optional<FolderEntry> entry;
};
Found FindEntry(std::string_view folder, std::string_view name);

}  // namespace galley::vfs
