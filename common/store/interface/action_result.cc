#include "common/store/interface/action_result.h"

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/plain_name.h"
#include "common/tree/wire_fields.h"

namespace galley::store {
namespace {

using Field = WireReader::Field;
using tree::ForEachField;

// The beginning of another's text, short enough to be repeated in an error.
std::string Shown(std::string_view text) { return std::string(text.substr(0, 200)); }

// Fields that may be there once: absent, or what the only one holds.
using OptionalBytes = std::optional<std::string_view>;

absl::Status TakeOnce(const Field& field, std::string_view name, OptionalBytes& value) {
  if (value) return InvalidArgumentError("{} is there twice", name);
  ASSIGN_OR_RETURN(value, tree::BytesOf(field, name));
  return absl::OkStatus();
}

absl::Status TakeOnce(const Field& field, std::string_view name, std::optional<Digest>& value) {
  if (value) return InvalidArgumentError("{} is there twice", name);
  ASSIGN_OR_RETURN(const Digest digest, tree::DigestOf(field, name));
  if (digest.size_bytes() == 0 && digest != Digest()) {
    return InvalidArgumentError("{}: {} is not the hash of no bytes", name, digest.hex());
  }
  value = digest;
  return absl::OkStatus();
}

struct OutputFile {
  OptionalBytes path, contents;
  std::optional<Digest> digest;
};
struct OutputFolder {
  OptionalBytes path;
  std::optional<Digest> tree, root;
};
struct Symlink {
  OptionalBytes path, target;
};
// An ActionResult, taken apart.
struct Parts {
  std::vector<OutputFile> files;
  std::vector<OutputFolder> folders;
  std::vector<Symlink> file_links, folder_links, links;
  OptionalBytes stdout_raw, stderr_raw;
  std::optional<Digest> stdout_digest, stderr_digest;
};

absl::Status ReadOutputFile(const Field& field, Parts& parts) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "output_files"));
  OutputFile& file = parts.files.emplace_back();
  return ForEachField(bytes, [&](const Field& part) {
    if (part.number == 1) return TakeOnce(part, "path", file.path);
    if (part.number == 2) return TakeOnce(part, "digest", file.digest);
    if (part.number == 5) return TakeOnce(part, "contents", file.contents);
    return absl::OkStatus();
  });
}

absl::Status ReadFolderOutput(const Field& field, Parts& parts) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "output_directories"));
  OutputFolder& folder = parts.folders.emplace_back();
  return ForEachField(bytes, [&](const Field& part) {
    if (part.number == 1) return TakeOnce(part, "path", folder.path);
    if (part.number == 3) return TakeOnce(part, "tree_digest", folder.tree);
    if (part.number == 5) return TakeOnce(part, "root_directory_digest", folder.root);
    return absl::OkStatus();
  });
}

absl::Status ReadSymlink(const Field& field, std::vector<Symlink>& links) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "output_symlinks"));
  Symlink& link = links.emplace_back();
  return ForEachField(bytes, [&](const Field& part) {
    if (part.number == 1) return TakeOnce(part, "path", link.path);
    if (part.number == 2) return TakeOnce(part, "target", link.target);
    return absl::OkStatus();
  });
}

absl::StatusOr<Parts> TakeApart(std::string_view bytes) {
  if (bytes.size() > kActionResultBytesMax) {
    return ResourceExhaustedError("action result has {} bytes, at most {} are taken", bytes.size(),
                                  kActionResultBytesMax);
  }
  Parts parts;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const Field& field) {
    switch (field.number) {
      case 2:
        return ReadOutputFile(field, parts);
      case 3:
        return ReadFolderOutput(field, parts);
      case 4:
        return tree::VarintOf(field, "exit_code").status();
      case 5:
        return TakeOnce(field, "stdout_raw", parts.stdout_raw);
      case 6:
        return TakeOnce(field, "stdout_digest", parts.stdout_digest);
      case 7:
        return TakeOnce(field, "stderr_raw", parts.stderr_raw);
      case 8:
        return TakeOnce(field, "stderr_digest", parts.stderr_digest);
      case 10:
        return ReadSymlink(field, parts.file_links);
      case 11:
        return ReadSymlink(field, parts.folder_links);
      case 12:
        return ReadSymlink(field, parts.links);
      default:
        return absl::OkStatus();
    }
  }));
  return parts;
}

using Paths = std::set<std::string_view>;

absl::Status CheckPath(const OptionalBytes& path, bool may_be_empty, Paths& seen) {
  const std::string_view text = path.value_or("");
  if (!(text.empty() && may_be_empty) && !tree::IsPlainPath(text)) {
    return InvalidArgumentError("output path \"{}\": expected a relative path of plain names",
                                Shown(text));
  }
  if (!seen.insert(text).second)
    return InvalidArgumentError("output \"{}\" is there twice", Shown(text));
  return absl::OkStatus();
}

// `inlined` may stand beside the digest, for who does not want to ask again.
absl::Status CheckInlined(const OptionalBytes& inlined, const std::optional<Digest>& digest,
                          std::string_view what) {
  if (inlined.value_or("").empty() || !digest || Digest::Of(*inlined) == *digest)
    return absl::OkStatus();
  return InvalidArgumentError("{}: the bytes in the message are not what the digest says",
                              Shown(what));
}

absl::Status CheckOutputs(const Parts& parts) {
  Paths seen;
  for (const OutputFile& file : parts.files) {
    RETURN_IF_ERROR(CheckPath(file.path, /*may_be_empty=*/false, seen));
    if (!file.digest) {
      return InvalidArgumentError("output \"{}\" has no digest", Shown(*file.path));
    }
    RETURN_IF_ERROR(CheckInlined(file.contents, file.digest, *file.path));
  }
  for (const OutputFolder& folder : parts.folders) {
    RETURN_IF_ERROR(CheckPath(folder.path, /*may_be_empty=*/true, seen));
    if (folder.tree || folder.root) continue;
    return InvalidArgumentError("output folder \"{}\" has no digest",
                                Shown(folder.path.value_or("")));
  }
  return absl::OkStatus();
}

// A link's path may be both in the old fields and in the one that replaced them.
absl::Status CheckLinks(const Parts& parts) {
  Paths old_seen, seen;
  for (const auto* links : {&parts.file_links, &parts.folder_links, &parts.links}) {
    for (const Symlink& link : *links) {
      RETURN_IF_ERROR(
          CheckPath(link.path, /*may_be_empty=*/false, links == &parts.links ? seen : old_seen));
      const std::string_view target = link.target.value_or("");
      if (target.empty() || target.find('\0') != std::string_view::npos) {
        return InvalidArgumentError("output link \"{}\" has no target", Shown(*link.path));
      }
    }
  }
  return absl::OkStatus();
}

// Names: the digests that were named so far.
class Names {
 public:
  absl::Status Add(const Digest& digest) {
    if (!seen_.insert(digest).second) return absl::OkStatus();
    if (seen_.size() > kNamedBlobsMax) {
      return ResourceExhaustedError("action result names more than {} blobs", kNamedBlobsMax);
    }
    all_.push_back(digest);
    return absl::OkStatus();
  }
  absl::Status Add(const std::optional<Digest>& digest) {
    return digest ? Add(*digest) : absl::OkStatus();
  }
  std::vector<Digest> Take() { return std::move(all_); }

 private:
  std::vector<Digest> all_;
  std::unordered_set<Digest, DigestHash> seen_;
};

// The digest of a FileNode or DirectoryNode.
absl::StatusOr<Digest> NodeDigest(const Field& field, std::string_view name) {
  ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, name));
  std::optional<Digest> digest;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const Field& part) {
    return part.number == 2 ? TakeOnce(part, "digest", digest) : absl::OkStatus();
  }));
  if (!digest) return InvalidArgumentError("{}: no digest", name);
  return *digest;
}

// `folder` is told of each folder in a Directory message.
template <typename TakeFolder>
absl::Status AppendDirectory(std::string_view bytes, Names& names, const TakeFolder& folder) {
  return ForEachField(bytes, [&](const Field& field) -> absl::Status {
    if (field.number != 1 && field.number != 2) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Digest digest,
                     NodeDigest(field, field.number == 1 ? "files" : "directories"));
    return field.number == 1 ? names.Add(digest) : folder(digest);
  });
}

// A Tree holds its Directories itself: they need not be blobs.
absl::Status AppendTree(std::string_view bytes, Names& names) {
  return ForEachField(bytes, [&](const Field& field) -> absl::Status {
    if (field.number != 1 && field.number != 2) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::string_view directory, tree::BytesOf(field, "Tree"));
    return AppendDirectory(directory, names, [](const Digest&) { return absl::OkStatus(); });
  });
}

// `read`, with its limit; null when it is absent.
absl::StatusOr<Blob> Fetch(const Digest& digest, const ReadFolder& read) {
  if (digest.size_bytes() > kFolderBytesMax) {
    return ResourceExhaustedError("folder {}: at most {} bytes are read", digest.ToString(),
                                  kFolderBytesMax);
  }
  absl::StatusOr<Blob> blob = read(digest);
  if (absl::IsNotFound(blob.status())) return Blob();
  if (!blob.ok()) return Annotate(blob.status(), fmt::format("folder {}", digest.ToString()));
  return blob;
}

// The folders below `root` without calling itself: a chain of them may be as long as anybody likes.
absl::Status AppendFolders(const Digest& root, const ReadFolder& read, Names& names,
                           std::unordered_set<Digest, DigestHash>& walked) {
  std::deque<Digest> waiting;
  const auto wait = [&](const Digest& folder) {
    if (walked.insert(folder).second) waiting.push_back(folder);
    return names.Add(folder);
  };
  RETURN_IF_ERROR(wait(root));
  for (; !waiting.empty(); waiting.pop_front()) {
    const Digest folder = waiting.front();
    ASSIGN_OR_RETURN(const Blob blob, Fetch(folder, read));
    if (blob == nullptr) continue;
    const absl::Status status = AppendDirectory(*blob, names, wait);
    if (!status.ok()) return Annotate(status, fmt::format("folder {}", folder.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateActionResult(std::string_view bytes) {
  ASSIGN_OR_RETURN(const Parts parts, TakeApart(bytes));
  RETURN_IF_ERROR(CheckOutputs(parts));
  RETURN_IF_ERROR(CheckLinks(parts));
  RETURN_IF_ERROR(CheckInlined(parts.stdout_raw, parts.stdout_digest, "stdout"));
  return CheckInlined(parts.stderr_raw, parts.stderr_digest, "stderr");
}

absl::StatusOr<std::vector<Digest>> NamedBlobs(std::string_view bytes, const ReadFolder& read) {
  ASSIGN_OR_RETURN(const Parts parts, TakeApart(bytes));
  Names names;
  for (const OutputFile& file : parts.files) RETURN_IF_ERROR(names.Add(file.digest));
  std::unordered_set<Digest, DigestHash> walked, trees;
  for (const OutputFolder& folder : parts.folders) {
    RETURN_IF_ERROR(names.Add(folder.tree));
    if (folder.tree && trees.insert(*folder.tree).second) {
      ASSIGN_OR_RETURN(const Blob blob, Fetch(*folder.tree, read));
      if (blob != nullptr) {
        const absl::Status status = AppendTree(*blob, names);
        if (!status.ok()) return Annotate(status, fmt::format("tree {}", folder.tree->ToString()));
      }
    }
    if (folder.root) RETURN_IF_ERROR(AppendFolders(*folder.root, read, names, walked));
  }
  RETURN_IF_ERROR(names.Add(parts.stdout_digest));
  RETURN_IF_ERROR(names.Add(parts.stderr_digest));
  return names.Take();
}

}  // namespace galley::store
