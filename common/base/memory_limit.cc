#include "common/base/memory_limit.h"

#include <algorithm>
#include <sstream>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/parse_whole.h"
#include "fmt/format.h"

namespace galley {
namespace {

constexpr uint64_t kFileBytesMax = 1 << 20;
// v1 says "no limit" with the greatest number of whole pages that a signed long holds.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;
constexpr size_t kDepthMax = 256;  // of nested groups

struct Mount {
  std::string root;  // of the hierarchy, as seen at `point`
  std::string point;
};

// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string Unescape(const std::string& text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool HasWord(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');) {
    if (one == word) return true;
  }
  return false;
}

// Line of mountinfo: id parent device root point options [tags...] - type source super-options.
std::vector<Mount> MountsOf(const std::string& mountinfo, bool is_v2) {
  std::vector<Mount> mounts;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, point, word, type, source, options;
    words >> id >> parent >> device >> root >> point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool is_ours = is_v2 ? type == "cgroup2" : type == "cgroup" && HasWord(options, "memory");
    if (is_ours) mounts.push_back({Unescape(root), Unescape(point)});
  }
  return mounts;
}

// The group's path below the mount; empty: the mount's own root, also where the group lies outside
// of what the mount shows (as in a container).
std::string Below(const std::string& path, const Mount& mount) {
  if (path.find("/..") != std::string::npos) return "";
  std::string below = path;
  if (mount.root != "/") {
    if (!path.starts_with(mount.root)) return "";
    below = path.substr(mount.root.size());
    if (!below.empty() && below[0] != '/') return "";
  }
  while (!below.empty() && below.back() == '/') below.pop_back();
  return below;
}

// Takes the next word off the line; empty: there is none.
std::string_view NextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<uint64_t> Parse(std::string_view text) {
  return ParseWhole<uint64_t>(text.substr(0, text.find_last_not_of(" \n") + 1));
}

void Lower(std::optional<uint64_t>& least, std::string& least_source, uint64_t bytes,
           const std::string& source) {
  if (least.has_value() && *least <= bytes) return;
  least = bytes;
  least_source = source;
}

}  // namespace

MemoryLimits::MemoryLimits(std::string root) : root_(std::move(root)) {
  const auto cgroup = ReadFile(root_ + "/proc/self/cgroup", kFileBytesMax);
  if (!cgroup.ok()) return;  // a kernel without groups
  // Line: number:controllers:path; v2 has number 0 and no controllers.
  std::istringstream lines(*cgroup);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/') {
      if (!line.empty()) Ignore(root_ + "/proc/self/cgroup", "a line is not number:names:/path");
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_v2 = controllers.empty();
    if (is_v2 || HasWord(controllers, "memory")) AddGroups(is_v2, line.substr(second + 1));
  }
}

void MemoryLimits::AddGroups(bool is_v2, const std::string& path) {
  const auto mountinfo = ReadFile(root_ + "/proc/self/mountinfo", kFileBytesMax);
  if (!mountinfo.ok()) return;
  const std::vector<Mount> mounts = MountsOf(*mountinfo, is_v2);
  if (mounts.empty()) return;
  const std::string point = root_ + mounts.front().point;
  std::string below = Below(path, mounts.front());
  bool is_innermost = true;
  for (size_t depth = 0; depth < kDepthMax; ++depth) {
    if (FileExists(point + below)) {
      groups_.push_back({point + below, is_v2, is_innermost});
      is_innermost = false;
    }
    if (below.empty()) return;
    below.resize(below.rfind('/'));
  }
}

std::vector<std::string> MemoryLimits::Folders() const {
  std::vector<std::string> folders;
  for (const Group& group : groups_) folders.push_back(group.folder);
  return folders;
}

void MemoryLimits::Ignore(const std::string& file, const std::string& why) {
  if (ignored_.insert(file).second) LogWarning("memory: {} is ignored: {}", file, why);
}

// nullopt: no limit, not there, or ignored.
std::optional<uint64_t> MemoryLimits::Number(const std::string& file, bool may_be_absent) {
  const auto text = ReadFile(file, kFileBytesMax);
  if (!text.ok()) {
    if (!may_be_absent || FileExists(file)) Ignore(file, std::string(text.status().message()));
    return std::nullopt;
  }
  if (text->starts_with("max")) return std::nullopt;
  const std::optional<uint64_t> number = Parse(*text);
  if (!number.has_value()) {
    Ignore(file, "expected a number of bytes, found \"" +
                     EscapeControl(text->substr(0, std::min<size_t>(text->size(), 40))) + "\"");
  }
  return number;
}

// Reads a file of lines "name value [unit]" and answers the values of those `names` that it has.
template <size_t kCount>
std::array<std::optional<uint64_t>, kCount> MemoryLimits::Fields(
    const std::string& file, const std::array<std::string_view, kCount>& names) {
  std::array<std::optional<uint64_t>, kCount> fields;
  const auto text = ReadFile(file, kFileBytesMax);
  if (!text.ok()) return fields;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view key = NextWord(line);
    const auto name = std::ranges::find(names, key);
    if (name == names.end()) continue;
    const std::optional<uint64_t> number = Parse(NextWord(line));
    if (!number.has_value()) Ignore(file, fmt::format("the value of {} is no number", key));
    fields[static_cast<size_t>(name - names.begin())] = number;
  }
  return fields;
}

void MemoryLimits::SampleMachine(MemoryRoom& room) {
  const auto [total_kib, available_kib] =
      Fields<2>(root_ + "/proc/meminfo", {"MemTotal:", "MemAvailable:"});
  if (total_kib.has_value() && *total_kib > 0 && *total_kib < kNoLimit / 1024) {
    room.limit_bytes = *total_kib * 1024;
    room.limit_source = "machine";
  }
  if (available_kib.has_value() && *available_kib < kNoLimit / 1024) {
    room.left_bytes = *available_kib * 1024;
    room.left_source = "machine";
  }
}

void MemoryLimits::SampleGroup(const Group& group, MemoryRoom& room) {
  const std::string limit_file =
      group.folder + (group.is_v2 ? "/memory.max" : "/memory.limit_in_bytes");
  // The root of v2, and v2 beside v1, have no such file.
  const std::optional<uint64_t> limit = Number(limit_file, /*may_be_absent=*/true);
  if (!limit.has_value() || *limit >= kNoLimit) return;
  if (*limit == 0) return Ignore(limit_file, "a limit of 0 bytes, under which nothing could run");
  if (room.limit_bytes == 0 || *limit < room.limit_bytes) {
    room.limit_bytes = *limit;
    room.limit_source = limit_file;
  }
  const std::optional<uint64_t> used =
      Number(group.folder + (group.is_v2 ? "/memory.current" : "/memory.usage_in_bytes"), false);
  if (!used.has_value()) return;
  const std::string statistics = group.folder + "/memory.stat";
  const auto [inactive, active] =
      group.is_v2 ? Fields<2>(statistics, {"inactive_file", "active_file"})
                  : Fields<2>(statistics, {"total_inactive_file", "total_active_file"});
  const uint64_t droppable = inactive.value_or(0) + active.value_or(0);
  const uint64_t kept = *used - std::min(*used, droppable);
  Lower(room.left_bytes, room.left_source, *limit - std::min(*limit, kept), limit_file);
}

MemoryRoom MemoryLimits::Sample() {
  MemoryRoom room;
  SampleMachine(room);
  for (const Group& group : groups_) SampleGroup(group, room);
  return room;
}

uint64_t MemoryLimits::OomKills() {
  uint64_t sum = 0;
  for (const Group& group : groups_) {
    if (!group.is_innermost) continue;
    const std::string file =
        group.folder + (group.is_v2 ? "/memory.events" : "/memory.oom_control");
    sum += Fields<1>(file, {"oom_kill"})[0].value_or(0);
  }
  return sum;
}

}  // namespace galley
