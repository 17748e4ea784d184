#include "common/base/memory_limit.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

using ::testing::EndsWith;

constexpr uint64_t kMiB = 1 << 20;
constexpr char kV1Mount[] =
    "30 20 0:26 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n";
constexpr char kV2Mount[] = "31 20 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";

// A tree of kernel files under a temporary folder.
class MemoryLimitsTest : public ::testing::Test {
 protected:
  MemoryLimitsTest() : root_(*MakeTemporaryDirectory(::testing::TempDir(), "memory-")) {
    Write("/proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 1 kB\nMemAvailable:  524288 kB\n");
  }
  ~MemoryLimitsTest() override { RemoveAll(root_).IgnoreError(); }

  void Write(const std::string& path, const std::string& text) {
    const std::string full = root_ + path;
    ASSERT_TRUE(CreateDirectories(full.substr(0, full.rfind('/'))).ok());
    std::ofstream(full) << text;
  }
  void V2(const std::string& group, const std::string& limit, uint64_t used,
          uint64_t inactive_file = 0, uint64_t active_file = 0) {
    const std::string folder = "/sys/fs/cgroup" + group;
    Write(folder + "/memory.max", limit + "\n");
    Write(folder + "/memory.current", std::to_string(used) + "\n");
    Write(folder + "/memory.stat", "anon 5\nfile 7\ninactive_file " +
                                       std::to_string(inactive_file) + "\nactive_file " +
                                       std::to_string(active_file) + "\n");
  }
  void V1(const std::string& group, const std::string& limit, uint64_t used,
          uint64_t inactive_file = 0, uint64_t active_file = 0) {
    const std::string folder = "/sys/fs/cgroup/memory" + group;
    Write(folder + "/memory.limit_in_bytes", limit + "\n");
    Write(folder + "/memory.usage_in_bytes", std::to_string(used) + "\n");
    Write(folder + "/memory.stat", "inactive_file 1\nactive_file 1\ntotal_inactive_file " +
                                       std::to_string(inactive_file) + "\ntotal_active_file " +
                                       std::to_string(active_file) + "\n");
  }
  MemoryRoom Sample() { return MemoryLimits(root_).Sample(); }

  const std::string root_;
};

TEST_F(MemoryLimitsTest, WithoutGroupsTheMachineDecides) {
  const MemoryRoom room = Sample();
  EXPECT_EQ(room.limit_bytes, 1024 * kMiB);
  EXPECT_EQ(room.limit_source, "machine");
  EXPECT_EQ(room.left_bytes, 512 * kMiB);
}

TEST_F(MemoryLimitsTest, OfNestedV2GroupsTheLeastCountsAndPagesThatCanBeDroppedAreNoUse) {
  Write("/proc/self/cgroup", "0::/a.slice/b.scope\n");
  Write("/proc/self/mountinfo", kV2Mount);
  V2("/a.slice/b.scope", "max", 100 * kMiB);
  V2("/a.slice", std::to_string(300 * kMiB), 250 * kMiB, 20 * kMiB, 30 * kMiB);
  const MemoryRoom room = Sample();
  EXPECT_EQ(room.limit_bytes, 300 * kMiB);
  EXPECT_THAT(room.limit_source, EndsWith("/a.slice/memory.max"));
  EXPECT_EQ(room.left_bytes, 100 * kMiB);
  EXPECT_THAT(room.left_source, EndsWith("/a.slice/memory.max"));
}

TEST_F(MemoryLimitsTest, TheLeastLimitNeedNotLeaveTheLeast) {
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/proc/self/mountinfo", kV2Mount);
  V2("/a/b", std::to_string(200 * kMiB), 10 * kMiB);
  V2("/a", std::to_string(400 * kMiB), 390 * kMiB);
  const MemoryRoom room = Sample();
  EXPECT_EQ(room.limit_bytes, 200 * kMiB);
  EXPECT_EQ(room.left_bytes, 10 * kMiB);
}

TEST_F(MemoryLimitsTest, V1HasItsOwnNames) {
  Write("/proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/docker/abc\n0::/\n");
  Write("/proc/self/mountinfo", std::string(kV1Mount));
  V1("/docker/abc", std::to_string(300 * kMiB), 200 * kMiB, 5 * kMiB, 15 * kMiB);
  V1("/docker", "9223372036854771712", 900 * kMiB);
  V1("", "9223372036854771712", 900 * kMiB);
  const MemoryRoom room = Sample();
  EXPECT_EQ(room.limit_bytes, 300 * kMiB);
  EXPECT_THAT(room.limit_source, EndsWith("/docker/abc/memory.limit_in_bytes"));
  EXPECT_EQ(room.left_bytes, 120 * kMiB);
}

TEST_F(MemoryLimitsTest, V2BesideV1IsHarmless) {
  Write("/proc/self/cgroup", "4:memory:/job\n0::/job\n");
  Write("/proc/self/mountinfo",
        std::string(kV1Mount) + "32 20 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  V1("/job", std::to_string(300 * kMiB), 200 * kMiB);
  Write("/sys/fs/cgroup/unified/job/cgroup.procs", "");
  EXPECT_EQ(Sample().left_bytes, 100 * kMiB);
}

TEST_F(MemoryLimitsTest, InAContainerTheMountShowsTheGroupItself) {
  Write("/proc/self/cgroup", "3:memory:/docker/abc/inner\n");
  Write("/proc/self/mountinfo",
        "30 20 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  V1("/inner", std::to_string(200 * kMiB), 0);
  V1("", std::to_string(300 * kMiB), 0);
  EXPECT_EQ(Sample().limit_bytes, 200 * kMiB);
  Write("/proc/self/cgroup", "3:memory:/docker/another\n");
  EXPECT_EQ(Sample().limit_bytes, 300 * kMiB);
  Write("/proc/self/cgroup", "3:memory:/../../another\n");
  EXPECT_EQ(Sample().limit_bytes, 300 * kMiB);
}

TEST_F(MemoryLimitsTest, AMountPointMayHoldSpaces) {
  Write("/proc/self/cgroup", "0::/a\n");
  Write("/proc/self/mountinfo", "31 20 0:27 / /c\\040g rw - cgroup2 none rw\n");
  Write("/c g/a/memory.max", "1000000\n");
  Write("/c g/a/memory.current", "1\n");
  EXPECT_EQ(Sample().limit_bytes, 1'000'000u);
}

TEST_F(MemoryLimitsTest, StrangeFilesAreIgnored) {
  Write("/proc/self/cgroup", "0::/a\nnonsense\n:\n7:memory\n\n");
  Write("/proc/self/mountinfo", std::string(kV2Mount) + "- - -\n1\n");
  for (const char* text : {"", "\n", "-1\n", "12 MB\n", "0x10\n", "99999999999999999999999\n",
                           "0\n", "ma\n", "\x01\xff"}) {
    V2("/a", text, 1);
    const MemoryRoom room = Sample();
    EXPECT_EQ(room.limit_source, "machine") << text;
    EXPECT_EQ(room.left_bytes, 512 * kMiB) << text;
  }
  V2("/a", "1000000", 1);
  Write("/sys/fs/cgroup/a/memory.current", "many\n");
  EXPECT_EQ(Sample().limit_bytes, 1'000'000u);
  EXPECT_EQ(Sample().left_bytes, 512 * kMiB) << "what is used of the group is not known";
  Write("/sys/fs/cgroup/a/memory.current", "400000\n");
  Write("/sys/fs/cgroup/a/memory.stat", "inactive_file -\n");
  EXPECT_EQ(Sample().left_bytes, 600'000u);
  Write("/proc/meminfo", "MemTotal: lots\n");
  Write("/sys/fs/cgroup/a/memory.max", "max\n");
  EXPECT_EQ(Sample().limit_bytes, 0u);
  EXPECT_FALSE(Sample().left_bytes.has_value());
}

TEST_F(MemoryLimitsTest, AGroupThatUsesMoreThanItsLimitLeavesNothing) {
  Write("/proc/self/cgroup", "0::/a\n");
  Write("/proc/self/mountinfo", kV2Mount);
  V2("/a", "1000000", 2'000'000);
  EXPECT_EQ(Sample().left_bytes, 0u);
  V2("/a", "1000000", 500'000, 700'000);
  EXPECT_EQ(Sample().left_bytes, 1'000'000u);
}

TEST_F(MemoryLimitsTest, ALimitThatChangesIsSeenByTheNextSample) {
  Write("/proc/self/cgroup", "0::/a\n");
  Write("/proc/self/mountinfo", kV2Mount);
  V2("/a", "1000000", 0);
  MemoryLimits limits(root_);
  EXPECT_EQ(limits.Sample().limit_bytes, 1'000'000u);
  V2("/a", "2000000", 0);
  EXPECT_EQ(limits.Sample().limit_bytes, 2'000'000u);
  ASSERT_TRUE(RemoveAll(root_ + "/sys/fs/cgroup/a").ok());
  EXPECT_EQ(limits.Sample().limit_source, "machine");
}

TEST_F(MemoryLimitsTest, KillsForWantOfMemoryAreCounted) {
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/proc/self/mountinfo", kV2Mount);
  V2("/a/b", "1000000", 0);
  MemoryLimits limits(root_);
  EXPECT_EQ(limits.OomKills(), 0u);
  Write("/sys/fs/cgroup/a/b/memory.events", "low 0\noom 3\noom_kill 2\n");
  Write("/sys/fs/cgroup/a/memory.events", "oom_kill 9\n");
  EXPECT_EQ(limits.OomKills(), 2u);
}

// This process's own tree, whatever it holds.
TEST(MemoryLimitsHereTest, TheMachineIsRead) {
  MemoryLimits limits;
  const MemoryRoom room = limits.Sample();
  EXPECT_GT(room.limit_bytes, 16 * kMiB);
  ASSERT_TRUE(room.left_bytes.has_value());
  EXPECT_LE(*room.left_bytes, room.limit_bytes);
}

// A v1 or v2 group below the one that this process is in, for the length of a test.
class OwnGroup {
 public:
  OwnGroup() {
    const std::vector<std::string> folders = MemoryLimits().Folders();
    for (const std::string& folder : folders) {
      for (const char* limit : {"/memory.limit_in_bytes", "/memory.max"}) {
        const std::string made = folder + "/galley-test-" + std::to_string(::getpid());
        if (::mkdir(made.c_str(), 0755) != 0) continue;
        if (std::ofstream out(made + limit); out.is_open() && out << 64 * kMiB << std::flush) {
          folder_ = made;
          limit_file_ = made + limit;
          return;
        }
        ::rmdir(made.c_str());
      }
    }
  }
  ~OwnGroup() {
    if (!folder_.empty()) ::rmdir(folder_.c_str());
  }
  bool is_made() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }
  const std::string& limit_file() const { return limit_file_; }

 private:
  std::string folder_;
  std::string limit_file_;
};

TEST(MemoryLimitsHereTest, ARealGroupIsSeenFromWithin) {
  const OwnGroup group;
  if (!group.is_made()) GTEST_SKIP() << "no memory control group can be made here";
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(group.folder() + "/cgroup.procs") << ::getpid() << std::flush;
    const MemoryRoom room = MemoryLimits().Sample();
    const bool is_right = room.limit_bytes == 64 * kMiB &&
                          room.limit_source == group.limit_file() && room.left_bytes.has_value() &&
                          *room.left_bytes <= 64 * kMiB;
    if (!is_right)
      ::dprintf(2, "limit %s left %s\n", room.limit_source.c_str(), room.left_source.c_str());
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace galley
