#include "director/cli/device/sync_list.h"

#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/parse_whole.h"
#include "fmt/format.h"

namespace galley::device {
namespace {

constexpr std::string_view kFirstLine = "galley-sync 1";

// Takes what is before the separator; nullopt: there is none.
std::optional<std::string_view> TakeUntil(char separator, std::string_view& text) {
  const size_t end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end + 1);
  return taken;
}

bool TakeFile(std::string_view rest, std::map<std::string, SyncedFile>& files) {
  const auto digest_text = TakeUntil(' ', rest);
  const auto mtime_text = TakeUntil(' ', rest);
  if (!digest_text || !mtime_text || rest.empty()) return false;
  const absl::StatusOr<Digest> digest = Digest::Parse(*digest_text);
  const auto mtime_ns = ParseWhole<int64_t>(*mtime_text);
  if (!digest.ok() || !mtime_ns) return false;
  files.insert_or_assign(std::string(rest), SyncedFile{.digest = *digest, .mtime_ns = *mtime_ns});
  return true;
}

bool TakeLine(std::string_view line, SyncList& list) {
  const auto word = TakeUntil(' ', line);
  if (!word || line.empty()) return false;
  if (*word == "file") return TakeFile(line, list.files);
  if (*word == "gone") {
    list.files.erase(std::string(line));
  } else if (*word == "platform") {
    list.from.platform = line;
  } else if (*word == "culture") {
    list.from.cultures.emplace_back(line);
  } else if (*word == "scope") {
    list.from.scopes.emplace_back(line);
  } else if (*word == "root") {
    list.root = line;
  } else {
    return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<SyncList> SyncList::Parse(std::string_view text) {
  SyncList list;
  size_t number = 0;
  while (const auto line = TakeUntil('\n', text)) {
    const bool is_good = ++number == 1 ? *line == kFirstLine : TakeLine(*line, list);
    if (!is_good) {
      return InvalidArgumentError("line {}: expected a list that `galley device sync` wrote",
                                  number);
    }
  }
  if (list.is_empty()) return InvalidArgumentError("it names no platform");
  return list;
}

std::string SyncList::ToText() const {
  std::string text = fmt::format("{}\nplatform {}\n", kFirstLine, from.platform);
  for (const std::string& culture : from.cultures) text += fmt::format("culture {}\n", culture);
  for (const std::string& scope : from.scopes) text += fmt::format("scope {}\n", scope);
  if (!root.empty()) text += fmt::format("root {}\n", root);
  for (const auto& [path, file] : files) text += FileLine(path, file);
  return text;
}

std::string FileLine(const std::string& path, const SyncedFile& file) {
  return fmt::format("file {} {} {}\n", file.digest.ToString(), file.mtime_ns, path);
}

std::string GoneLine(const std::string& path) { return fmt::format("gone {}\n", path); }

}  // namespace galley::device
