// SocketPath: the path of the socket of a store's owner: <directory>/store.sock. If that path is
// too long for a socket, the path is <folder>/store.sock in one of ShortSocketFolders, and the file
// <directory>/store.sock.path holds it: a line with the path, and a line `sum <64 hex digits>`, the
// SHA-256 of the path. Older programs write no second line, and read only the first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::store {

// The longest path that a Unix socket may have: sizeof(sockaddr_un::sun_path) - 1.
inline constexpr size_t kSocketPathBytesMax = 107;
// The longest suffix of a folder's path while a socket in the folder is being made.
inline constexpr std::string_view kSocketBindingName = "/b-XXXXXX/s";

bool FitsSocket(std::string_view folder);
// An owner uses the first; another process may compute other folders, from another environment.
std::vector<std::string> ShortSocketFolders(std::string_view directory);
// OK: the folder is this user's, and closed to all others. NOT_FOUND: absent. PERMISSION_DENIED:
// otherwise.
absl::Status CheckSocketFolder(const std::string& folder);

std::string EncodeSocketPath(std::string_view path);
// Reads the path from the file; if the file is gone or damaged, looks where an owner may have put
// the socket.
std::string SocketPath(const std::string& directory);

}  // namespace galley::store
