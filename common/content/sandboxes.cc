#include "common/content/sandboxes.h"

#include "common/content/name.h"

namespace galley::content {

std::string SandboxAround(const Snapshot& snapshot, std::string_view path) {
  for (const Mount& mount : snapshot.mounts()) {
    if (!IsUnder(path, mount.path)) continue;
    std::string host = mount.directory;
    host += path.substr(mount.path == "/" ? 0 : mount.path.size());
    for (const std::string& sandbox : snapshot.sandboxes()) {
      // A mount may be in a sandbox: then the sandbox hides nothing of the mount.
      if (sandbox.size() > mount.directory.size() && IsUnder(host, sandbox)) return sandbox;
    }
  }
  return "";
}

}  // namespace galley::content
