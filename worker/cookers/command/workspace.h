// Workspace: the folder in which a program runs. The mounts show in it; Galley's own files lie
// under ".galley":
//
//   Game/x.obj ...                   the mounts, at their virtual paths without the leading slash
//   .galley/out/x.obj<suffix>        the places where outputs are expected
//   .galley/cooked/Game/a.png.ktx2   cooked inputs
//   .galley/depfile, .galley/result.json
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/cookers/cooker.h"

namespace galley::worker {

inline constexpr std::string_view kOwnFolder = ".galley/";

class Workspace {
 public:
  // A new folder in the job's scratch directory, with the mounts in it.
  static absl::StatusOr<Workspace> Create(CookContext& context);

  const std::string& root() const { return root_; }
  // The path that a program named, in normal form relative to the workspace. INVALID_ARGUMENT: the
  // path lies outside.
  absl::StatusOr<std::string> Relative(std::string_view path) const;
  absl::Status MakeFolderOf(const std::string& relative) const;
  // Host path of a file that the program wrote. `relative` is in normal form. NOT_FOUND: there is
  // no such file; INVALID_ARGUMENT: not a regular file, or reached through a link.
  absl::StatusOr<std::string> FileOf(const std::string& relative) const;
  // The bytes of FileOf(relative). INVALID_ARGUMENT: the file is larger than `size_bytes_max`.
  absl::StatusOr<std::string> Read(const std::string& relative, uint64_t size_bytes_max) const;

 private:
  std::string root_;
  std::string real_root_;  // root_ with its links resolved
};

}  // namespace galley::worker
