#include "common/project/state_folder.h"

#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace galley::project {

absl::Status MakeStateFolder(const std::string& root) {
  const std::string folder = JoinPath(root, ".galley");
  RETURN_IF_ERROR(CreateDirectories(folder));
  const std::string file = JoinPath(folder, ".gitignore");
  // A link to nothing is left alone, too.
  if (!absl::IsNotFound(StatFile(file, /*follow_links=*/false).status())) return absl::OkStatus();
  return WriteFileAtomic(file, "*\n");
}

}  // namespace galley::project
