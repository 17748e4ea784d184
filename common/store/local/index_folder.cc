#include "common/store/local/index_folder.h"

#include <cerrno>
#include <cstdio>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"

namespace galley::store {
namespace {

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  if (errno == ENOENT) return NotFoundError("{} is gone", from);
  return ErrnoStatus(errno, "move", from);
}

}  // namespace

std::string IndexPath(const std::string& store_directory) {
  return JoinPath(store_directory, "index");
}

std::string NewIndexPath(const std::string& store_directory) {
  return JoinPath(store_directory, "index.anew");
}

absl::StatusOr<std::string> MoveIndexAside(const std::string& store_directory) {
  ASSIGN_OR_RETURN(std::string aside, rocks::MoveAside(IndexPath(store_directory),
                                                       [](const std::string&) { return true; }));
  RETURN_IF_ERROR(SyncDirectory(store_directory));
  return aside;
}

bool RemoveUnusedIndexes(const std::string& store_directory, const std::string& kept) {
  std::vector<std::string> unused = ListPutAside(IndexPath(store_directory));
  if (FileExists(NewIndexPath(store_directory))) unused.push_back(NewIndexPath(store_directory));
  std::erase(unused, kept);
  for (const std::string& path : unused) rocks::RemoveAside(path);
  return !unused.empty();
}

absl::Status PutNewIndexInPlace(const std::string& store_directory) {
  RETURN_IF_ERROR(Rename(NewIndexPath(store_directory), IndexPath(store_directory)));
  return SyncDirectory(store_directory);
}

}  // namespace galley::store
