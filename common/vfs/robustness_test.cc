// Hostile answers, full disks and damaged caches: no wrong byte is given, nothing hangs, and the
// handle works afterwards.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/testing/await.h"
#include "common/vfs/testing/client_on.h"
#include "common/vfs/testing/memory_disk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

constexpr int kLong = 2'000'000'000;  // each look at the clock moves it

class RobustnessTest : public testing::Test {
 protected:
  RobustnessTest() {
    director_.SetFile("a", "texture", /*is_cooked=*/true);
    director_.SetFile("b", "cooked when asked for");
    director_.SetFile("large", large_, /*is_cooked=*/true);
  }
  void Begin(ClientOn::Options options = {}) {
    client_.reset();
    client_ = std::make_unique<ClientOn>(director_.Net(), *disk_, now_ms_, std::move(options));
    ASSERT_FALSE((*client_)->Begin());
  }
  void NewDisk() {
    client_.reset();
    disk_ = std::make_unique<MemoryDisk>();
  }
  std::string Read(const std::string& path) { return client_->Read(path, code_); }
  // The handle works: it gives the right bytes.
  void ExpectWorks(const std::string& what) {
    now_ms_ += 10'000;  // a director that was taken to be away is asked again
    EXPECT_EQ(Read("Game/a"), "texture") << what;
    EXPECT_EQ(Read("Game/b"), "cooked when asked for") << what;
    EXPECT_EQ(Read("Game/large"), large_) << what;
  }
  // The cache loses what these tests fetch.
  void ForgetFiles() {
    for (const auto& [path, bytes] : disk_->Files()) {
      if (bytes == large_ || bytes == "cooked when asked for")
        static_cast<void>(disk_->Remove(path));
    }
  }

  const std::string large_ = std::string(6'000, 'l') + std::string(6'000, 'm');
  FakeDirector director_;
  std::unique_ptr<MemoryDisk> disk_ = std::make_unique<MemoryDisk>();
  std::atomic<uint64_t> now_ms_ = 1'000'000'000;
  std::unique_ptr<ClientOn> client_;
  int code_ = 0;
};

// ------------------------------------------------------------------ answers

TEST_F(RobustnessTest, RangesThatAreAnsweredOtherwise) {
  for (const auto ranges : {FakeDirector::Ranges::kWhole, FakeDirector::Ranges::kWrong,
                            FakeDirector::Ranges::kRefused, FakeDirector::Ranges::kRight}) {
    NewDisk();
    Begin();
    Read("Game/a");  // the tree is there
    director_.SetRanges(ranges);
    director_.CutNext(1, 6'000);
    const std::string read = Read("Game/large");
    if (ranges == FakeDirector::Ranges::kWrong) {
      EXPECT_EQ(code_, GALLEY_VFS_SERVER) << read;
    } else {
      EXPECT_EQ(read, large_);
    }
    director_.SetRanges(FakeDirector::Ranges::kRight);
    ExpectWorks("afterwards");
  }
}

TEST_F(RobustnessTest, AnswersInSingleBytes) {
  director_.SetPiece(1);
  Begin({.wait_ms = kLong});
  EXPECT_EQ(Read("Game/a"), "texture");
  EXPECT_EQ(Read("Game/b"), "cooked when asked for");
}

TEST_F(RobustnessTest, RedirectsAreRefused) {
  Begin();
  Read("Game/a");
  for (const char* status : {"301", "302", "303", "307", "308"}) {
    director_.TakeRequests();
    director_.SetRaw(std::string("HTTP/1.1 ") + status +
                     " X\r\nLocation: http://fake:1/v1/blob/x\r\nContent-Length: 0\r\n\r\n");
    Read("Game/b");
    EXPECT_EQ(code_, GALLEY_VFS_SERVER) << status;
    for (const std::string& request : director_.TakeRequests())
      EXPECT_EQ(request.find("/v1/blob/x"), std::string::npos) << request;
    director_.SetRaw("");
    now_ms_ += 10'000;
  }
  ExpectWorks("afterwards");
}

TEST_F(RobustnessTest, AnswersThatNeverEnd) {
  for (const char* begin :
       {"HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n",
        "HTTP/1.1 404 X\r\nContent-Type: application/problem+json\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n",
        "HTTP/1.1 503 X\r\nContent-Length: 900000000\r\nRetry-After: 0\r\n\r\n"}) {
    for (const bool is_first : {true, false}) {
      Begin();
      if (!is_first) Read("Game/a");
      ForgetFiles();
      director_.SetEndless(begin);
      Read("Game/b");
      Read("Game/large");
      director_.SetEndless("");
      director_.EndConnections();
      ExpectWorks(begin);
    }
  }
}

TEST_F(RobustnessTest, ChunksThatAreNone) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* chunks : {"", "5\r\nhell", "5\r\nhello", "5\r\nhelloX\r\n0\r\n\r\n",
                             "-5\r\nhello\r\n0\r\n\r\n", "zz\r\n", "\r\n", "0\r\nX",
                             "ffffffffffffffff\r\nx", "5;x=y\r\nhello\r\n0\r\n\r\n", "5 5\r\n"}) {
    Begin();
    Read("Game/a");
    ForgetFiles();
    director_.SetRaw(head + chunks);
    Read("Game/b");
    EXPECT_NE(code_, GALLEY_VFS_OK) << chunks;
    Read("Game/large");
    EXPECT_NE(code_, GALLEY_VFS_OK) << chunks;
    director_.SetRaw("");
    ExpectWorks(chunks);
  }
}

TEST_F(RobustnessTest, AnAdvanceDuringAnOpenLeavesEachWithItsWorld) {
  const WaitLimit limit("opens and advances");
  Begin({.has_system_clock = true});
  Read("Game/a");
  std::atomic<bool> is_over = false;
  std::set<std::string> versions;
  std::thread advancer([&] {
    while (!is_over) EXPECT_TRUE((*client_)->Advance().ok());
  });
  for (int i = 0; i < 40; ++i) {
    versions.insert("v" + std::to_string(i));
    director_.SetFile("c", "v" + std::to_string(i), i % 2 == 0);
    const std::string got = Read("Game/c");
    EXPECT_TRUE(versions.contains(got) || code_ == GALLEY_VFS_ABSENT) << got;
  }
  is_over = true;
  advancer.join();
  ExpectWorks("afterwards");
}

// ------------------------------------------------------------------ disks

TEST_F(RobustnessTest, ADiskThatIsFullAtAnyStep) {
  for (uint64_t left = 0;; ++left) {
    NewDisk();
    Begin();
    const uint64_t before = disk_->writes();
    disk_->SetWritesLeft(left);
    const std::string a = Read("Game/a");
    EXPECT_EQ(code_, a == "texture" ? GALLEY_VFS_OK : GALLEY_VFS_NO_SPACE) << left << a;
    const std::string large = Read("Game/large");
    EXPECT_EQ(code_, large == large_ ? GALLEY_VFS_OK : GALLEY_VFS_NO_SPACE) << left << large;
    const bool is_enough = disk_->writes() - before <= left;
    disk_->SetWritesLeft(UINT64_MAX);
    ExpectWorks(std::to_string(left));
    if (is_enough) break;
    ASSERT_LT(left, 1'000u);
  }
}

TEST_F(RobustnessTest, ADiskOfAnySize) {
  for (uint64_t space = 0; space < 20'000; space += 250) {
    NewDisk();
    disk_->SetSpace(space);
    Begin();
    const std::string large = Read("Game/large");
    EXPECT_EQ(code_, large == large_ ? GALLEY_VFS_OK : GALLEY_VFS_NO_SPACE) << space << large;
    const std::string a = Read("Game/a");
    EXPECT_EQ(code_, a == "texture" ? GALLEY_VFS_OK : GALLEY_VFS_NO_SPACE) << space << a;
    EXPECT_TRUE(code_ == GALLEY_VFS_OK || space < 14'000) << space << a;
    disk_->SetSpace(UINT64_MAX);
    ExpectWorks(std::to_string(space));
  }
}

// ------------------------------------------------------------------ damage

// Every file of the cache is damaged in each way, with and without a director.
TEST_F(RobustnessTest, NoDamageOfTheCacheGivesAWrongByte) {
  Begin();
  ExpectWorks("before");
  director_.CutNext(10, 5'000);
  director_.SetFile("part", std::string(20'000, 'p'), true);
  ASSERT_TRUE((*client_)->Advance().ok());
  Read("Game/part");
  ASSERT_NE(code_, GALLEY_VFS_OK);
  director_.CutNext(0, 0);
  client_.reset();
  const std::map<std::string, std::string> whole = disk_->Files();
  const auto flip = [](size_t numerator) {
    return [numerator](std::string& bytes) {
      if (!bytes.empty()) bytes[(bytes.size() - 1) * numerator / 2] ^= 1;
    };
  };
  const std::vector<std::function<void(std::string&)>> damages = {
      flip(0),
      flip(1),
      flip(2),
      [](std::string& bytes) { bytes.resize(bytes.size() / 2); },
      [](std::string& bytes) { bytes += bytes; },
      [](std::string& bytes) { bytes.clear(); }};
  ASSERT_GT(whole.size(), 8u);
  for (const auto& [path, bytes] : whole) {
    for (size_t i = 0; i < damages.size() + 2; ++i) {
      for (const auto& [other, its_bytes] : whole) disk_->SetFile(other, its_bytes);
      std::string damaged = bytes;
      if (i < damages.size()) damages[i](damaged);
      if (i < damages.size()) disk_->SetFile(path, damaged);
      if (i == damages.size()) disk_->SetFolder(path);
      if (i == damages.size() + 1) disk_->SetOther(path);
      director_.SetAway(true);
      Begin();
      for (const auto& [name, right] :
           std::map<std::string, std::string>{{"Game/a", "texture"},
                                              {"Game/b", "cooked when asked for"},
                                              {"Game/large", large_}}) {
        const std::string got = Read(name);
        EXPECT_TRUE(code_ != GALLEY_VFS_OK || got == right) << path << i;
      }
      director_.SetAway(false);
      ExpectWorks(path + " " + std::to_string(i));
      EXPECT_EQ(Read("Game/part"), std::string(20'000, 'p')) << path << i;
    }
  }
}

// ------------------------------------------------------------------ two handles

// The bytes that this process has allocated. 0: the allocator does not tell, as under a sanitizer.
size_t AllocatedBytes() {
#if defined(__GLIBC__)
  return ::mallinfo2().uordblks;
#else
  return 0;
#endif
}

// An hour of edits, one a second: every file is read in each version.
TEST_F(RobustnessTest, AnHourOfEditsKeepsTheQuotaAndTheMemory) {
  constexpr int kEdits = 3'600, kEditedFiles = 12;
  constexpr uint64_t kHourQuota = 200'000;
  Begin({.bytes_max = kHourQuota});
  size_t before = 0;
  for (int edit = 0; edit < kEdits; ++edit) {
    const std::string name = "edited" + std::to_string(edit % kEditedFiles);
    const std::string bytes = std::string(1'500, 'x') + std::to_string(edit);
    director_.SetFile(name, bytes, /*is_cooked=*/edit % 2 == 0);
    director_.Collect();
    now_ms_ += 1'000;
    ASSERT_TRUE((*client_)->Advance().ok());
    ASSERT_EQ(Read("Game/" + name), bytes) << edit;
    if (edit % 100 != 99) continue;
    EXPECT_EQ(Read("Game/large"), large_);
    director_.TakeRequests();
    EXPECT_LE(disk_->BytesIn("/c/blobs") + disk_->BytesIn("/c/part"), kHourQuota) << edit;
    EXPECT_LE(disk_->BytesIn("/c/seen"), 64'000u) << edit;
    EXPECT_LE(disk_->BytesIn("/c/roots"), 1'000u) << edit;
    if (edit < kEdits / 4) before = AllocatedBytes();
  }
  const size_t grown = AllocatedBytes() - std::min(before, AllocatedBytes());
  EXPECT_LT(grown, 256'000u) << "three quarters of an hour";
}

TEST_F(RobustnessTest, TwoHandlesOfOneFolderEvictWhatTheOtherReads) {
  const WaitLimit limit("two handles");
  std::map<std::string, std::string> truth;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "f" + std::to_string(i);
    truth[name] = name + std::string(3'000, static_cast<char>('a' + i));
    director_.SetFile(name, truth[name], true);
  }
  const uint64_t bytes_max = 40'000;
  std::vector<std::unique_ptr<ClientOn>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<ClientOn>(
        director_.Net(), *disk_, now_ms_,
        ClientOn::Options{.bytes_max = bytes_max, .has_system_clock = true}));
    ASSERT_FALSE((*clients[i])->Begin());
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string name = "f" + std::to_string((i * (t + 1)) % 20);
        int code = 0;
        const std::string got = clients[t % 2]->Read("Game/" + name, code);
        EXPECT_TRUE(code == GALLEY_VFS_OK ? got == truth[name] : code == GALLEY_VFS_NO_SPACE)
            << got;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(disk_->BytesIn("/c/blobs") + disk_->BytesIn("/c/part"), bytes_max + bytes_max / 2)
      << "each may go beyond it by a sixteenth, and by a file of each thread";
  EXPECT_GT((*clients[0])->status().cache.evicted + (*clients[1])->status().cache.evicted, 0u);
  for (int i = 0; i < 20; ++i) {
    int code = 0;
    const std::string name = "f" + std::to_string(i);
    EXPECT_EQ(clients[0]->Read("Game/" + name, code), truth[name]);
  }
}

TEST_F(RobustnessTest, TwoProjectsInOneFolderStayApartWithoutADirector) {
  FakeDirector other;
  other.SetFile("a", "of another project", true);
  for (const bool is_away : {false, true}) {
    director_.SetAway(is_away);
    other.SetAway(is_away);
    ClientOn one(director_.Net(), *disk_, now_ms_, {.url = "http://one"});
    ClientOn two(other.Net(), *disk_, now_ms_, {.url = "http://two"});
    ASSERT_FALSE(one->Begin());
    ASSERT_FALSE(two->Begin());
    EXPECT_EQ(one.Read("Game/a", code_), "texture");
    EXPECT_EQ(two.Read("Game/a", code_), "of another project");
  }
}

}  // namespace
}  // namespace galley::vfs
