#include "common/base/folder_names.h"

#include <algorithm>
#include <filesystem>

#include "common/base/file.h"

namespace galley {

std::vector<std::string> NamesIn(const std::string& folder, std::error_code* error) {
  std::vector<std::string> names;
  std::error_code own;
  for (std::filesystem::directory_iterator at(folder, own), end; !own && at != end;
       at.increment(own))
    names.push_back(at->path().filename().string());
  if (error != nullptr) *error = own;
  return names;
}

absl::StatusOr<Digest> DigestOfNames(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names = NamesIn(folder, &error);
  std::ranges::sort(names);
  if (error) return ErrnoStatus(error.value(), "list", folder);
  DigestBuilder digest;
  for (const std::string& name : names) {
    digest.Add(name);
    digest.Add(std::string_view("\0", 1));
  }
  return digest.Finish();
}

}  // namespace galley
