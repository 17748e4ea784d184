#include "director/host/left_out_of_list.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kListedKind = "galley-listed";
constexpr int kListedVersion = 1;
constexpr uint64_t kBytesMax = 4096;
constexpr size_t kNamedMax = 20;

// Returns when something last came or went in the folders above a path, which cannot itself have
// come or gone later.
int64_t FoldersChanged(const content::Snapshot& files, const std::string& path) {
  int64_t last_ns = 0;
  for (const content::Mount& mount : files.mounts()) {
    if (!content::IsUnder(path, mount.path)) continue;
    std::string host =
        JoinPath(mount.directory, path.substr(mount.path == "/" ? 1 : mount.path.size() + 1));
    while (host.size() > mount.directory.size()) {
      host = host.substr(0, host.rfind('/'));
      if (const auto stat = StatFile(host); stat.ok()) last_ns = std::max(last_ns, stat->ctime_ns);
    }
  }
  return last_ns;
}

std::string NamesOf(const std::vector<std::string>& paths) {
  std::string names;
  for (size_t i = 0; i < std::min(paths.size(), kNamedMax); ++i)
    names += (i == 0 ? "" : ", ") + EscapeControl(paths[i]);
  if (paths.size() > kNamedMax) names += fmt::format(" and {} more", paths.size() - kNamedMax);
  return names;
}

}  // namespace

ListedCook::ListedCook(const std::string& state_directory)
    : file_(JoinPath(state_directory, "listed")) {}

absl::Status ListedCook::Note(absl::Time began) {
  RETURN_IF_ERROR(EnsureWritableFile(file_));
  return WriteFileAtomic(file_, Seal(kListedKind, kListedVersion,
                                     {{"began_ns", fmt::format("{}", absl::ToUnixNanos(began))}}));
}

std::optional<int64_t> ListedCook::Began() const {
  const absl::StatusOr<std::string> text = ReadFile(file_, kBytesMax);
  if (!text.ok()) return std::nullopt;
  const auto lines = Unseal(kListedKind, kListedVersion, *text);
  if (!lines.ok()) return std::nullopt;
  const std::string_view value = ValueOf(*lines, "began_ns");
  int64_t began_ns = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), began_ns);
  if (read.ec != std::errc() || began_ns <= 0) return std::nullopt;
  return began_ns;
}

void ListedCook::Forget() { (void)::unlink(file_.c_str()); }

LeftOutOfList FindLeftOut(std::span<const content::Change> changes, const content::Snapshot& now,
                          int64_t began_ns) {
  LeftOutOfList left_out;
  for (const content::Change& change : changes) {
    const content::FileEntry* const file = now.Find(change.path);
    const int64_t file_ns = file == nullptr ? 0 : file->stat.ctime_ns;
    if (file_ns >= began_ns) continue;
    const bool has_same_name = change.was_there && change.is_there;
    const bool is_sure = has_same_name || FoldersChanged(now, change.path) < began_ns;
    (is_sure ? left_out.surely : left_out.perhaps).push_back(change.path);
  }
  return left_out;
}

std::string TextOf(const LeftOutOfList& left_out) {
  constexpr std::string_view kList = "list of changed files (--changed)";
  const auto files = [](size_t count) {
    return count == 1 ? std::string("1 file") : fmt::format("{} files", count);
  };
  std::string text;
  if (const size_t count = left_out.surely.size(); count > 0)
    text = fmt::format(
        "{} had changed before the last cook, and its {} left {} out: {}; that cook's roots are of "
        "the files that it named",
        files(count), kList, count == 1 ? "it" : "them", NamesOf(left_out.surely));
  if (const size_t count = left_out.perhaps.size(); count > 0)
    text += fmt::format(
        "{}{} came or went before the last cook, and its {} left {} out, or since then: {}",
        text.empty() ? "" : "; ", files(count), kList, count == 1 ? "it" : "them",
        NamesOf(left_out.perhaps));
  return text;
}

}  // namespace galley::director
