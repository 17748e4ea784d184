// MemoryLimits: what the control groups around this process (v1, v2, or both) and the machine
// really leave to it.
//
// A group's limit counts with those of all its ancestors: the least decides. What is left of a
// limit is the limit less the group's use, where file pages are not use: the kernel drops them
// before it refuses memory, the active ones (sources that were read twice) as well as the inactive;
// so MemAvailable counts, which is what is left of the machine. A file that is not as it should
// be is ignored and named once in the log.
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
  uint64_t limit_bytes = 0;  // the least of all limits and what the machine has; 0: unknown
  std::string limit_source;  // "machine", or the file that says so
  std::optional<uint64_t> left_bytes;  // the least that any of them leaves; nullopt: unknown
  std::string left_source;
};

class MemoryLimits {
 public:
  // `root` stands before every path, /proc's and those of the mounts: a test's tree.
  explicit MemoryLimits(std::string root = "");

  MemoryRoom Sample();
  // How many processes of our innermost group (of all its kinds) the kernel has killed for want of
  // memory, as far as it says.
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
