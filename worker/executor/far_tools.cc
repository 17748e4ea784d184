#include "worker/executor/far_tools.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/wire/convert.h"

namespace galley::worker {

absl::StatusOr<Look> FarTools::Find(const std::string& path, const content::Snapshot& snapshot,
                                    LazyView& view, FetchedBytes& bytes) {
  if (path.starts_with('/')) return OfTheSystem(path, bytes);
  const std::string in_mount = InMount(path, snapshot);
  if (in_mount.empty()) return OfTheProject(path, bytes);
  const absl::StatusOr<Digest> digest = bytes.DigestOf(in_mount);
  if (!digest.ok()) {
    return absl::IsAborted(digest.status()) ? InterruptedBy(StaleFile{in_mount}) : digest.status();
  }
  ASSIGN_OR_RETURN(std::string host_path, view.FileAt(in_mount));
  return Look{.value = digest->ToString(), .bytes = nullptr, .host_path = std::move(host_path)};
}

std::string FarTools::InMount(const std::string& path, const content::Snapshot& snapshot) const {
  const std::string host_path = JoinPath(project_root_, path);
  for (const content::Mount& mount : snapshot.mounts()) {
    if (!host_path.starts_with(mount.directory + "/")) continue;
    std::string name = mount.path + host_path.substr(mount.directory.size());
    // Another mount may lie over this one.
    const content::FileEntry* const entry = snapshot.Find(name);
    if (entry != nullptr && entry->error.empty() && entry->host_path == host_path) return name;
  }
  return "";
}

absl::StatusOr<FarTools::Known> FarTools::Directors(const std::string& path, FetchedBytes& bytes) {
  const absl::Time now = clock_.Monotonic();
  const auto found = directors_.find(path);
  if (found != directors_.end() && now - found->second.asked < kBelieved) return found->second;
  ASSIGN_OR_RETURN(const v1::ExecutorBytes said, bytes.DirectorsTool(path));
  Known known{.value = std::string(record::kAbsent), .asked = now};
  if (!said.is_absent()) {
    ASSIGN_OR_RETURN(const Digest digest, wire::FromProto(said.digest()));
    known.value = digest.ToString();
    known.is_executable = said.is_executable();
  }
  return directors_[path] = std::move(known);
}

absl::StatusOr<Look> FarTools::OfTheSystem(const std::string& path, FetchedBytes& bytes) {
  const absl::StatusOr<Digest> digest = own_.DigestOf(path);
  if (!digest.ok() && !absl::IsNotFound(digest.status())) return digest.status();
  std::string value = digest.ok() ? digest->ToString() : std::string(record::kAbsent);
  ASSIGN_OR_RETURN(const Known wanted, Directors(path, bytes));
  if (wanted.value != value)
    return InterruptedBy(OtherTool{.path = path, .wanted = wanted.value, .found = value});
  return Look{.value = std::move(value), .bytes = nullptr, .host_path = digest.ok() ? path : ""};
}

absl::StatusOr<Look> FarTools::OfTheProject(const std::string& path, FetchedBytes& bytes) {
  ASSIGN_OR_RETURN(const Known wanted, Directors(path, bytes));
  if (wanted.value == record::kAbsent)
    return Look{.value = wanted.value, .bytes = nullptr, .host_path = ""};
  const std::string host_path = JoinPath(directory_, path);
  std::string& put = put_[path];
  if (put != wanted.value) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(wanted.value));
    RETURN_IF_ERROR(CreateDirectories(host_path.substr(0, host_path.rfind('/'))));
    const std::string made = host_path + ".new";
    const absl::Status written = WriteInPieces(made, [&](const TakePiece& take) {
                                   return bytes.StreamTool(path, digest, take);
                                 }).status();
    // (It is another one by now: what the director said is asked for again.)
    if (absl::IsAborted(written)) directors_.erase(path);
    if (!written.ok())
      return absl::IsAborted(written) ? absl::UnavailableError(MessageOf(written)) : written;
    if (::chmod(made.c_str(), wanted.is_executable ? 0555 : 0444) != 0 ||
        ::rename(made.c_str(), host_path.c_str()) != 0)
      return ErrnoStatus(errno, "put the program", host_path);
    put = wanted.value;
  }
  return Look{.value = wanted.value, .bytes = nullptr, .host_path = host_path};
}

}  // namespace galley::worker
