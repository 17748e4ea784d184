// OwnFile: a small file that Galley wrote and can derive again, to which anything may have
// happened: it may be damaged, a folder may lie in its place, its mode may forbid to read it.
//
//   absl::StatusOr<std::string> bytes = ReadOwnFile(file, kBytesMax);
//   if (absl::IsNotFound(bytes.status())) return {};
//   if (!bytes.ok() || !IsWhole(*bytes)) { NoteRepair(...); return {}; }  // derived anew
//
// Only for callers that may write the file: anything in its way is moved.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley {

// NOT_FOUND: absent. DATA_LOSS: the file cannot be used; the text says why. Anything but a regular
// file was put aside, so that the file can be written anew. A file of this user with a mode that
// forbids reading is made readable first, which is noted (repairs.h).
absl::StatusOr<std::string> ReadOwnFile(const std::string& path, uint64_t size_bytes_max);

// Renames the file or folder at `path` to "<path>.broken-<n>", with n above all others, and returns
// that name. Only the newest kBrokenFilesMax regular files stay; a folder is never removed: a
// person may have put it there.
inline constexpr int kBrokenFilesMax = 3;
absl::StatusOr<std::string> PutAside(const std::string& path);
// The paths of everything that was put aside from `path`, the oldest first.
std::vector<std::string> ListPutAside(const std::string& path);

// Puts anything but a regular file aside, and makes a regular file of this user readable and
// writable; both are noted. For files whose contents do not matter (logs, locks). OK when absent.
absl::Status EnsureWritableFile(const std::string& path);

// Makes or replaces the file atomically. Only its owner may read or write it (0600).
absl::Status WritePrivateFile(const std::string& path, std::string_view bytes);

// Makes a folder if it is absent. Anything else in its place is put aside, which is noted.
absl::Status MakeOwnFolder(const std::string& path);

}  // namespace galley
