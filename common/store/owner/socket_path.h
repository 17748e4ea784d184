// The path of the socket of a store's owner: <directory>/store.sock. When that is too long for a
// socket's name, it is <folder>/store.sock in one of ShortSocketFolders, and the file
// <directory>/store.sock.path says which: a line with the path, and a line `sum <64 hex digits>`,
// the SHA-256 of the path. Older programs write no such line, and read the first one only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::store {

// The longest path that a Unix socket may have: sizeof(sockaddr_un::sun_path) - 1.
inline constexpr size_t kSocketPathBytesMax = 107;
// The most that is added to a folder's path while a socket in it is being made.
inline constexpr std::string_view kSocketBindingName = "/b-XXXXXX/s";

bool FitsSocket(std::string_view folder);
// The first is for the owner; another process may know others, by another environment.
std::vector<std::string> ShortSocketFolders(std::string_view directory);
// OK: a folder of this user's that nobody else may use. NOT_FOUND; PERMISSION_DENIED.
absl::Status CheckSocketFolder(const std::string& folder);

std::string EncodeSocketPath(std::string_view path);
// By the file; when that is gone or damaged, by looking where an owner may have put it.
std::string SocketPath(const std::string& directory);

}  // namespace galley::store
