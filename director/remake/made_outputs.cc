#include "director/remake/made_outputs.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/record/action.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;

struct OutputFile {
  Digest digest;
  bool is_executable = false;
  bool operator==(const OutputFile&) const = default;
};
using OutputFiles = std::map<std::string, OutputFile>;  // by path

OutputFiles FilesOf(const record::Result& result) {
  OutputFiles files;
  for (const record::Output& output : result.outputs) {
    files[std::string(record::kOutputStem) + output.suffix] = {
        .digest = output.digest, .is_executable = output.is_executable};
  }
  files[std::string(record::kDetailsPath)] = {
      .digest = Digest::Of(record::EncodeDetails(result.details))};
  return files;
}

absl::Status AddFile(const std::string& folder, const fs::path& path, OutputFiles& files) {
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path.string(), /*follow_links=*/false));
  if (S_ISDIR(stat.mode)) return absl::OkStatus();
  if (!S_ISREG(stat.mode)) return InternalError("{} is no file", path.string());
  ASSIGN_OR_RETURN(const Digest digest, DigestOfFile(path.string()));
  files[path.lexically_relative(folder).string()] = {.digest = digest,
                                                     .is_executable = (stat.mode & S_IXUSR) != 0};
  return absl::OkStatus();
}

absl::StatusOr<OutputFiles> FilesIn(const std::string& folder) {
  OutputFiles files;
  const std::string out = JoinPath(folder, "out");
  std::error_code error;
  for (fs::recursive_directory_iterator at(out, error), end; !error && at != end;
       at.increment(error)) {
    RETURN_IF_ERROR(AddFile(folder, at->path(), files));
  }
  if (error) return ErrnoStatus(error.value(), "list", out);
  return files;
}

}  // namespace

absl::StatusOr<std::optional<UnequalOutput>> CompareOutputs(const std::string& folder,
                                                            const record::Result& result) {
  const OutputFiles recorded = FilesOf(result);
  ASSIGN_OR_RETURN(const OutputFiles made, FilesIn(folder));
  for (const auto& [path, file] : recorded) {
    const auto found = made.find(path);
    if (found == made.end())
      return UnequalOutput{.path = path, .recorded = file.digest, .made = std::nullopt};
    if (found->second != file)
      return UnequalOutput{.path = path, .recorded = file.digest, .made = found->second.digest};
  }
  for (const auto& [path, file] : made) {
    if (!recorded.contains(path))
      return UnequalOutput{.path = path, .recorded = std::nullopt, .made = file.digest};
  }
  return std::nullopt;
}

}  // namespace galley::director
