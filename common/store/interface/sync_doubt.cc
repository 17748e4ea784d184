#include "common/store/interface/sync_doubt.h"

#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kEnd = "end ";

std::string EndOf(std::string_view lines) {
  return fmt::format("{}{}", kEnd, Digest::Of(lines).hex());
}

}  // namespace

std::string EncodeSyncMark(std::span<const Digest> files) {
  std::string lines;
  for (const Digest& file : files) lines += file.ToString() + "\n";
  return lines + EndOf(lines) + "\n";
}

DecodedSyncMark DecodeSyncMark(std::string_view bytes) {
  DecodedSyncMark mark;
  std::vector<Digest> list;
  size_t begin = 0;
  const auto damaged = [&] {
    mark.is_marked = mark.is_damaged = true;
    return mark;
  };
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) {
      // An entry as long as a whole one has a wrong last byte.
      if (bytes.size() - at == EndOf("").size() + 1) return damaged();
      break;
    }
    const std::string_view line = bytes.substr(at, end - at);
    if (!line.starts_with(kEnd)) {
      absl::StatusOr<Digest> file = Digest::Parse(line);
      if (!file.ok()) return damaged();
      list.push_back(*std::move(file));
    } else {
      if (line != EndOf(bytes.substr(begin, at - begin))) return damaged();
      mark.is_marked = true;
      mark.files.insert(mark.files.end(), list.begin(), list.end());
      list.clear();
      begin = end + 1;
    }
    at = end + 1;
  }
  return mark;
}

}  // namespace galley::store
