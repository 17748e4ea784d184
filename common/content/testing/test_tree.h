// A folder of files for the tests of this folder, and a clock that they set.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/content/snapshot.h"

namespace galley::content {

// Wall time that runs `ahead` of the real one: files just written are not racy an hour later. They
// are for an hour if it is so much behind, and at 0 only on a machine that is quick enough.
class ShiftedClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now() + absl::Seconds(ahead_s.load()); }
  absl::Time Monotonic() override { return Now(); }
  std::atomic<int64_t> ahead_s = 3600;
};

class ContentTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTemporaryDirectory(testing::TempDir(), "content_test_");
    ASSERT_TRUE(made.ok()) << made.status();
    dir_ = std::filesystem::canonical(*made).string();
    ASSERT_TRUE(CreateDirectories(Host("content")).ok());
    options_.mounts = {{.path = "/Game", .directory = Host("content")}};
    options_.digest_cache_file = Host("digests");
    options_.clock = &clock_;
    options_.threads = 3;
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }

  std::string Host(std::string_view path) const { return JoinPath(dir_, path); }
  void Write(std::string_view path, std::string_view bytes) {
    ASSERT_TRUE(CreateDirectories(std::filesystem::path(Host(path)).parent_path().string()).ok());
    ASSERT_TRUE(WriteFileAtomic(Host(path), bytes).ok());
  }
  void Link(const std::string& target, std::string_view path) {
    ASSERT_TRUE(CreateDirectories(std::filesystem::path(Host(path)).parent_path().string()).ok());
    ASSERT_EQ(::symlink(target.c_str(), Host(path).c_str()), 0) << path;
  }
  void Mount(std::string path, std::string_view directory, int priority = 0) {
    ASSERT_TRUE(CreateDirectories(Host(directory)).ok());
    options_.mounts.push_back(
        {.path = std::move(path), .directory = Host(directory), .priority = priority});
  }
  std::unique_ptr<Snapshot> Scan() {
    auto snapshot = Snapshot::Scan(options_);
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.ok() ? *std::move(snapshot) : nullptr;
  }
  // "/Game/a /Game/b!" where '!' marks an error.
  static std::string Shown(const Snapshot& snapshot) {
    std::string text;
    for (const FileEntry& entry : snapshot.files()) {
      if (!text.empty()) text += ' ';
      text += entry.path + (entry.error.empty() ? "" : "!");
    }
    return text;
  }
  static std::string ErrorOf(const Snapshot& snapshot, std::string_view path) {
    const FileEntry* entry = snapshot.Find(path);
    return entry == nullptr ? "(absent)" : entry->error;
  }
  static std::string Text(Snapshot& snapshot, std::string_view path) {
    const auto content = snapshot.Read(path);
    return content.ok() ? *content->bytes : content.status().ToString();
  }

  std::string dir_;
  ShiftedClock clock_;
  ScanOptions options_;
};

}  // namespace galley::content
