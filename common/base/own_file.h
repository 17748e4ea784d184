// OwnFile: a small file that Galley wrote and can derive again, to which anything may have
// happened: it may be damaged, a folder may lie in its place, its mode may forbid to read it.
//
//   absl::StatusOr<std::string> bytes = ReadOwnFile(file, kBytesMax);
//   if (absl::IsNotFound(bytes.status())) return {};
//   if (!bytes.ok() || !IsWhole(*bytes)) { NoteHealed(...); return {}; }  // derived anew
//
// Only whoever may write the file calls this: what is in its way is moved.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley {

// NOT_FOUND: absent. DATA_LOSS: it cannot be used, and says why; what is no regular file was put
// aside, so that the file can be written anew. A file of this user's whose mode forbids to read it
// is made readable first, which is noted (healed.h).
absl::StatusOr<std::string> ReadOwnFile(const std::string& path, uint64_t size_bytes_max);

// Renames what lies at `path` to "<path>.broken-<n>", n higher than that of all others, and returns
// that name. Of the regular files that were put aside so the newest kBrokenFilesMax stay; a folder
// is never removed: a person may have put it there.
inline constexpr int kBrokenFilesMax = 3;
absl::StatusOr<std::string> PutAside(const std::string& path);
// The paths of everything that was put aside from `path`, the oldest first.
std::vector<std::string> ListPutAside(const std::string& path);

// A thing that is no regular file is put aside, which is noted; a regular file of this user's is
// made readable and writable. For files whose contents do not matter (logs, locks). OK when absent.
absl::Status ClearTheWay(const std::string& path);

// Makes the file, or replaces it, in one step. Nobody but its owner may read or write it (0600).
absl::Status WritePrivateFile(const std::string& path, std::string_view bytes);

// A folder of ours, made when it is absent. What is no folder is put aside, which is noted.
absl::Status MakeOwnFolder(const std::string& path);

}  // namespace galley
