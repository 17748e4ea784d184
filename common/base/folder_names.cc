#include "common/base/folder_names.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "common/base/file.h"

namespace galley {

absl::StatusOr<Digest> DigestOfNames(const std::string& folder) {
  std::error_code error;
  std::set<std::string> names;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    names.insert(at->path().filename().string());
  if (error) return ErrnoStatus(error.value(), "list", folder);
  DigestBuilder digest;
  for (const std::string& name : names) {
    digest.Add(name);
    digest.Add(std::string_view("\0", 1));
  }
  return digest.Finish();
}

}  // namespace galley
