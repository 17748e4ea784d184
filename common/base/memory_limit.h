// MemoryLimits: the memory that the machine and the control groups around this process (v1, v2, or
// both) really leave to the process.
//
// The least limit of a group and all its ancestors counts. The memory that a limit leaves is the
// limit less the group's use; file pages, active and inactive, are no use, since the kernel drops
// them before it refuses memory. The memory that the machine leaves is MemAvailable. A malformed
// file is ignored and named once in the log.
// Cost: a few reads of small kernel files for a Sample.
// Threads: one owner.
// Source: Linux, admin-guide/cgroup-v1/memory.rst, admin-guide/cgroup-v2.rst; cgroups(7);
// proc(5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace galley {

struct MemoryRoom {
  uint64_t limit_bytes = 0;            // the least limit, or the machine's memory; 0: unknown
  std::string limit_source;            // "machine", or the file with the limit
  std::optional<uint64_t> left_bytes;  // the least left by a limit; nullopt: unknown
  std::string left_source;
};

class MemoryLimits {
 public:
  // `root`: a test's folder, put before every path.
  explicit MemoryLimits(std::string root = "");

  MemoryRoom Sample();
  // The number of processes in our innermost groups, v1 and v2, that the OOM killer killed, as far
  // as the kernel tells.
  uint64_t OomKills();
  // The groups' folders, innermost first.
  std::vector<std::string> Folders() const;

 private:
  struct Group {
    std::string folder;
    bool is_v2 = false;
    bool is_innermost = false;
  };

  void AddGroups(bool is_v2, const std::string& path);
  std::optional<uint64_t> Number(const std::string& file, bool may_be_absent);
  template <size_t kCount>
  std::array<std::optional<uint64_t>, kCount> Fields(
      const std::string& file, const std::array<std::string_view, kCount>& names);
  void SampleMachine(MemoryRoom& room);
  void SampleGroup(const Group& group, MemoryRoom& room);
  void Ignore(const std::string& file, const std::string& why);

  const std::string root_;
  std::vector<Group> groups_;
  std::set<std::string> ignored_;  // files that were named in the log
};

}  // namespace galley
