#include "common/vfs/galley_vfs.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/vfs/testing/fake_director.h"
#include "common/vfs/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Through the C header, as a game does, with a director in memory and a cache on the disk.
class GalleyVfsTest : public testing::Test {
 protected:
  void SetUp() override {
    director_.SetFile("a.ktx2", "texture", /*is_cooked=*/true);
    director_.SetFile("b.ktx2", "cooked when asked for");
    net_ = director_.Net();
  }
  void TearDown() override { End(); }

  void Begin(uint64_t cache_bytes_max = 0) {
    End();
    const std::string cache = PathText(folder_ / "cache");
    galley_vfs_options options{};
    options.struct_size = sizeof options;
    options.url = "http://fake:1";
    options.platform = "linux";
    options.cache_folder = cache.c_str();
    options.cache_bytes_max = cache_bytes_max;
    options.wait_ms = 2'000'000;
    options.net = &net_;
    options.log = [](void* context, int, const char* text) {
      static_cast<GalleyVfsTest*>(context)->log_ += std::string(text) + "\n";
    };
    options.log_context = this;
    options.clock = [](void* context) -> uint64_t {
      return static_cast<GalleyVfsTest*>(context)->now_ms_ += 20;
    };
    options.clock_context = this;
    ASSERT_EQ(galley_vfs_create(&options, &vfs_), GALLEY_VFS_OK) << Error();
  }
  void End() {
    galley_vfs_destroy(vfs_);
    vfs_ = nullptr;
  }
  std::string Error() {
    std::string text(galley_vfs_error(vfs_, nullptr, 0) + 1, '\0');
    galley_vfs_error(vfs_, text.data(), text.size());
    text.pop_back();
    return text;
  }
  // The file's bytes; code_ has what the call came to.
  std::string Read(const std::string& path) {
    galley_vfs_file* file = nullptr;
    code_ = galley_vfs_open(vfs_, path.c_str(), &file);
    if (code_ != GALLEY_VFS_OK) return "";
    std::string bytes(galley_vfs_size(file), '\0');
    EXPECT_EQ(galley_vfs_read(file, bytes.data(), bytes.size()),
              static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(galley_vfs_digest(file), BlobId::Of(bytes).ToText());
    galley_vfs_close(file);
    return bytes;
  }
  galley_vfs_status Status() {
    galley_vfs_status status{};
    status.struct_size = sizeof status;
    EXPECT_EQ(galley_vfs_get_status(vfs_, &status), GALLEY_VFS_OK);
    return status;
  }
  // "folder", "file" or "uncooked", and the size; or the number of the error.
  std::string Look(const char* path) {
    galley_vfs_info info{};
    info.struct_size = sizeof info;
    const int code = galley_vfs_look(vfs_, path, &info);
    if (code != GALLEY_VFS_OK) return std::to_string(code);
    const std::string kind = info.is_folder != 0 ? "folder " : "file ";
    return (info.is_cooked != 0 ? kind : "uncooked " + kind) + std::to_string(info.size);
  }
  std::filesystem::path FileOf(const std::string& bytes) const {
    const BlobId blob = BlobId::Of(bytes);
    const std::string hex = ToHex(blob.hash);
    return folder_ / "cache" / "blobs" / hex.substr(0, 2) / (hex + "-" + std::to_string(blob.size));
  }

  const TempFolder temp_folder_;
  const std::filesystem::path folder_ = temp_folder_.path();
  FakeDirector director_;
  galley_vfs_net net_{};
  galley_vfs* vfs_ = nullptr;
  int code_ = GALLEY_VFS_OK;
  std::string log_;
  std::atomic<uint64_t> now_ms_ = 0;
};

TEST_F(GalleyVfsTest, CookedFilesAndFilesThatHaveToBeCooked) {
  Begin();
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_EQ(director_.root().ToText(), Status().root) << "the tree has grown";
  director_.TakeRequests();
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_THAT(director_.TakeRequests(), IsEmpty()) << "it is in the cache, and so is its tree";
}

TEST_F(GalleyVfsTest, PositionsAndOffsets) {
  Begin();
  galley_vfs_file* file = nullptr;
  ASSERT_EQ(galley_vfs_open(vfs_, "Game/a.ktx2", &file), GALLEY_VFS_OK);
  char buffer[16] = {};
  EXPECT_EQ(galley_vfs_read(file, buffer, 3), 3);
  EXPECT_EQ(galley_vfs_read(file, buffer, sizeof buffer), 4);
  EXPECT_EQ(std::string(buffer, 4), "ture");
  EXPECT_EQ(galley_vfs_read(file, buffer, sizeof buffer), 0) << "the end";
  EXPECT_EQ(galley_vfs_seek(file, -2, 2), 5);
  EXPECT_EQ(galley_vfs_seek(file, -1, 1), 4);
  EXPECT_EQ(galley_vfs_read(file, buffer, 2), 2);
  EXPECT_EQ(std::string(buffer, 2), "ur");
  EXPECT_EQ(galley_vfs_seek(file, -1, 0), GALLEY_VFS_INVALID);
  EXPECT_EQ(galley_vfs_seek(file, INT64_MAX, 1), GALLEY_VFS_INVALID);
  EXPECT_EQ(galley_vfs_seek(file, 0, 3), GALLEY_VFS_INVALID);
  EXPECT_EQ(galley_vfs_read_at(file, 1, buffer, 2), 2);
  EXPECT_EQ(std::string(buffer, 2), "ex");
  EXPECT_EQ(galley_vfs_read_at(file, 100, buffer, 2), 0);
  galley_vfs_close(file);
}

TEST_F(GalleyVfsTest, WhatThereIsNotAndWhatCannotBeCooked) {
  director_.SetFile("bad.spv", "fails");
  Begin();
  Read("Game/none.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_ABSENT);
  Read("Game/bad.spv");
  EXPECT_EQ(code_, GALLEY_VFS_FAILED);
  EXPECT_THAT(Error(), HasSubstr("the shader has an error"));
  Read("Game");
  EXPECT_EQ(code_, GALLEY_VFS_INVALID);
  for (const char* path : {"", "/Game/a.ktx2", "Game/../a", "Game//a", "Game/"}) {
    Read(path);
    EXPECT_EQ(code_, GALLEY_VFS_INVALID) << path;
  }
}

TEST_F(GalleyVfsTest, WithoutADirectorTheCacheIsServedAndTheRestIsNamed) {
  Begin();
  Read("Game/a.ktx2");
  Read("Game/b.ktx2");
  director_.SetFile("c.ktx2", "later", /*is_cooked=*/true);
  director_.SetAway(true);
  Begin();  // the game is started again, in a train
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_EQ(Status().is_online, 0);
  Read("Game/none.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_ABSENT) << "the tree says so";
  std::filesystem::remove(FileOf("texture"));
  Read("Game/a.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE);
  EXPECT_THAT(Error(), HasSubstr("Game/a.ktx2"));
  director_.SetAway(false);
  now_ms_ += 10'000;
  EXPECT_EQ(Read("Game/a.ktx2"), "texture") << "the director is tried again";
  EXPECT_EQ(Status().is_online, 1);
}

// A root that is newer than the file has other folders on the way to it.
TEST_F(GalleyVfsTest, AFileThatWasReadBeforeTheTreeGrewIsThereOffLine) {
  director_.SetFile("c.ktx2", "c");
  Begin();
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_EQ(Read("Game/c.ktx2"), "c");
  EXPECT_EQ(galley_vfs_advance(vfs_), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "cache/blobs")) {
    const std::string name = entry.path().filename().string();
    const bool is_file = name.starts_with(ToHex(Sha256::Of("cooked when asked for"))) ||
                         name.starts_with(director_.root().ToText().substr(0, 64));
    if (entry.is_regular_file() && !is_file) std::filesystem::remove(entry.path());
  }
  director_.SetAway(true);
  Begin();
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  director_.SetAway(false);
  now_ms_ += 10'000;
  director_.SetFile("b.ktx2", "edited");
  Begin();
  Read("Game/none");
  director_.SetAway(true);
  Read("Game/b.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE) << "another world may have another file";
}

TEST_F(GalleyVfsTest, AFirstStartWithoutADirectorSaysWhatIsWrong) {
  director_.SetAway(true);
  Begin();
  Read("Game/a.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE);
  EXPECT_THAT(Error(), HasSubstr("refused"));
  EXPECT_THAT(Error(), HasSubstr("platform linux"));
}

TEST_F(GalleyVfsTest, ADownloadThatIsCutGoesOnWhereItWas) {
  const std::string large(10'000, 'x');
  director_.SetFile("large.bin", large, /*is_cooked=*/true);
  Begin();
  Read("Game/a.ktx2");  // the tree is there
  director_.CutNext(1, 6'000);
  EXPECT_EQ(Read("Game/large.bin"), large);
  EXPECT_LT(Status().fetched_bytes, 20'000u);
}

TEST_F(GalleyVfsTest, ADownloadGoesOnInTheNextProcess) {
  const std::string large(10'000, 'x');
  director_.SetFile("large.bin", large, /*is_cooked=*/true);
  Begin();
  Read("Game/a.ktx2");
  director_.CutNext(4, 2'000);
  Read("Game/large.bin");
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE);
  Begin();
  EXPECT_EQ(Read("Game/large.bin"), large);
  EXPECT_LT(Status().fetched_bytes, 9'000u) << "the beginning was there";
}

TEST_F(GalleyVfsTest, WrongBytesAreFetchedOnceMoreAndCounted) {
  Begin();
  Read("Game/b.ktx2");
  director_.SpoilNext(1);
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_EQ(Status().wrong_files, 1u);
  EXPECT_THAT(log_, HasSubstr("fetched once more"));
}

TEST_F(GalleyVfsTest, WrongBytesEachTimeAreNeverGiven) {
  Begin();
  Read("Game/none");  // the folder `static` is there
  director_.SpoilNext(100);
  Read("Game/a.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_DAMAGED);
  Read("Game/b.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_DAMAGED);
}

TEST_F(GalleyVfsTest, ADamagedFileOfTheCacheIsRemovedAndFetched) {
  Begin();
  Read("Game/a.ktx2");
  std::ofstream(FileOf("texture"), std::ios::binary) << "texturf";
  Begin();
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_EQ(Status().wrong_files, 1u);
}

// Whatever happens to the cache, no wrong byte is given.
TEST_F(GalleyVfsTest, ACacheThatIsDamagedAtRandomPlacesHarmsNothing) {
  std::mt19937 random(11);
  Begin();
  Read("Game/a.ktx2");
  Read("Game/b.ktx2");
  for (int round = 0; round < 60; ++round) {
    End();
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "cache")) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    ASSERT_FALSE(files.empty());
    const std::filesystem::path& file = files[random() % files.size()];
    std::string bytes;
    {
      std::ifstream in(file, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    if (random() % 3 == 0) bytes.resize(random() % (bytes.size() + 1));
    if (!bytes.empty() && random() % 2 == 0) bytes[random() % bytes.size()] ^= 0x20;
    if (random() % 4 == 0) bytes += "more";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    director_.SetAway(round % 4 == 3);
    now_ms_ += 10'000;
    Begin();
    const std::string a = Read("Game/a.ktx2");
    EXPECT_TRUE(a == "texture" || (round % 4 == 3 && a.empty())) << round << ": " << Error();
    const std::string b = Read("Game/b.ktx2");
    EXPECT_TRUE(b == "cooked when asked for" || (round % 4 == 3 && b.empty())) << round;
  }
}

TEST_F(GalleyVfsTest, ADirectorThatIsNotReadyIsAskedAgain) {
  Begin();
  director_.NotReadyNext(5);
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
}

TEST_F(GalleyVfsTest, ASessionThatHasEndedIsOpenedAgain) {
  Begin();
  Read("Game/a.ktx2");
  director_.EndSessions();
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
}

TEST_F(GalleyVfsTest, AFileThatTheStoreHasLostIsMadeAgain) {
  Begin();
  Read("Game/b.ktx2");
  director_.Lose("texture");
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
}

TEST_F(GalleyVfsTest, AnotherWorldIsSeenAfterAdvance) {
  Begin();
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_EQ(galley_vfs_advance(vfs_), 0) << "it is the newest one";
  director_.SetFile("a.ktx2", "edited", /*is_cooked=*/true);
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_EQ(galley_vfs_advance(vfs_), 1);
  EXPECT_EQ(Read("Game/a.ktx2"), "edited");
}

TEST_F(GalleyVfsTest, FoldersAreListedWithoutACook) {
  Begin();
  std::string names;
  const auto note = [](void* context, const galley_vfs_entry* entry) {
    *static_cast<std::string*>(context) += std::string(entry->name) + " ";
    return 0;
  };
  EXPECT_EQ(galley_vfs_list(vfs_, "Game", note, &names), GALLEY_VFS_OK);
  EXPECT_EQ(names, "a.ktx2 b.ktx2 ");
  EXPECT_EQ(galley_vfs_list(vfs_, "", note, &names), GALLEY_VFS_OK);
  EXPECT_EQ(names, "a.ktx2 b.ktx2 Game ");
  EXPECT_EQ(galley_vfs_list(vfs_, "Other", note, &names), GALLEY_VFS_ABSENT);
}

TEST_F(GalleyVfsTest, PathsAreLookedAtWithoutACook) {
  director_.SetFile("more.d", "a folder, by its name");
  director_.SetFile("_gen", "the same");
  Begin();
  EXPECT_EQ(Look("Game/a.ktx2"), "file 7");
  EXPECT_EQ(Look("Game/b.ktx2"), "uncooked file -1");
  EXPECT_EQ(Look("Game/more.d"), "uncooked folder -1");
  EXPECT_EQ(Look("Game/more.d/map.bin"), "uncooked file -1");
  EXPECT_EQ(Look("Game/_gen"), "uncooked folder -1");
  EXPECT_EQ(Look("Game/_gen/cell.bin"), "uncooked file -1");
  EXPECT_EQ(Look("Game"), "folder -1");
  EXPECT_EQ(Look(""), "folder -1");
  for (const std::string& request : director_.TakeRequests())
    EXPECT_THAT(request, testing::Not(HasSubstr("/Game/"))) << "nothing is cooked";
  Read("Game/b.ktx2");
  EXPECT_EQ(Look("Game/b.ktx2"), "file 21");
}

TEST_F(GalleyVfsTest, ALookSaysWhyItSeesNothing) {
  Begin();
  EXPECT_EQ(Look("Game/none.ktx2"), std::to_string(GALLEY_VFS_ABSENT));
  EXPECT_EQ(Error(), "Game/none.ktx2: there is no such path");
  EXPECT_EQ(Look("Game/a.ktx2/below"), std::to_string(GALLEY_VFS_ABSENT));
  EXPECT_EQ(Look("Game/../a.ktx2"), std::to_string(GALLEY_VFS_INVALID));
  EXPECT_EQ(galley_vfs_look(vfs_, "Game", nullptr), GALLEY_VFS_INVALID);
  std::filesystem::remove_all(folder_ / "cache");
  director_.SetAway(true);
  Begin();
  EXPECT_EQ(Look("Game/a.ktx2"), std::to_string(GALLEY_VFS_OFFLINE));
}

TEST_F(GalleyVfsTest, ALookOfAnOlderProgramLeavesWhatItDoesNotKnow) {
  Begin();
  galley_vfs_info info{};
  info.struct_size = offsetof(galley_vfs_info, size);
  info.size = 42;
  EXPECT_EQ(galley_vfs_look(vfs_, "Game/a.ktx2", &info), GALLEY_VFS_OK);
  EXPECT_EQ(info.is_cooked, 1);
  EXPECT_EQ(info.size, 42);
}

TEST_F(GalleyVfsTest, TheCacheKeepsItsQuota) {
  for (int i = 0; i < 40; ++i)
    director_.SetFile("f" + std::to_string(i),
                      std::string(1'000, static_cast<char>('a' + i % 26)) + std::to_string(i),
                      true);
  Begin(/*cache_bytes_max=*/30'000);
  for (int i = 0; i < 40; ++i) Read("Game/f" + std::to_string(i));
  EXPECT_EQ(code_, GALLEY_VFS_OK);
  const galley_vfs_status status = Status();
  EXPECT_LE(status.cache_bytes, 30'000u);
  EXPECT_GT(status.evicted_files, 5u);
  director_.SetFile("huge", std::string(40'000, 'h'), true);
  EXPECT_EQ(galley_vfs_advance(vfs_), 1);
  Read("Game/huge");
  EXPECT_EQ(code_, GALLEY_VFS_NO_SPACE);
}

TEST_F(GalleyVfsTest, ManyThreadsReadAtOnce) {
  Begin();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        galley_vfs_file* file = nullptr;
        const char* const path = (i + round) % 2 == 0 ? "Game/a.ktx2" : "Game/b.ktx2";
        if (galley_vfs_open(vfs_, path, &file) != GALLEY_VFS_OK) ++wrong;
        galley_vfs_close(file);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(GalleyVfsTest, ACancelledHandleAsksForNothing) {
  Begin();
  Read("Game/a.ktx2");
  galley_vfs_cancel(vfs_);
  Read("Game/b.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_CANCELLED);
  galley_vfs_resume(vfs_);
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
}

TEST_F(GalleyVfsTest, ADirectorThatIsAwayForAMomentIsSeenToComeBack) {
  Begin();
  Read("Game/a.ktx2");
  director_.SetAway(true);
  Read("Game/b.ktx2");
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE);
  EXPECT_EQ(Status().is_online, 0);
  director_.SetAway(false);
  now_ms_ += 10'000;
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_EQ(Status().is_online, 1);
  EXPECT_THAT(log_, HasSubstr("reached again"));
}

TEST_F(GalleyVfsTest, AKeptConnectionThatHasEndedIsNotUsed) {
  Begin();
  Read("Game/a.ktx2");
  director_.EndConnections();
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_EQ(director_.vain_sends(), 0);
}

TEST_F(GalleyVfsTest, AKeptConnectionThatEndsBeforeAnAnswerCostsNoTry) {
  Begin();
  Read("Game/a.ktx2");
  const size_t connects = director_.connects();
  director_.HangUpNext(1);
  const uint64_t before = now_ms_;
  EXPECT_EQ(Read("Game/b.ktx2"), "cooked when asked for");
  EXPECT_EQ(director_.connects(), connects + 1);
  EXPECT_LT(now_ms_ - before, 3'000u);
}

TEST_F(GalleyVfsTest, AFailureOfOneFileHoldsUpNoOther) {
  director_.SetFile("bad.spv", "fails");
  director_.SetFile("c.ktx2", "c");
  Begin();
  Read("Game/bad.spv");
  EXPECT_EQ(Read("Game/c.ktx2"), "c");
}

TEST_F(GalleyVfsTest, ASilentDirectorIsTakenToBeAway) {
  Begin();
  Read("Game/a.ktx2");
  director_.SetSilent(true);
  Begin();
  EXPECT_EQ(Read("Game/a.ktx2"), "texture") << "from the cache, after a short wait";
  const uint64_t before = now_ms_;
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
  EXPECT_LT(now_ms_ - before, 3'000u) << "it is not asked again at once";
}

TEST_F(GalleyVfsTest, AnAnswerWithoutAnEndEndsTheCall) {
  Begin();
  Read("Game/a.ktx2");
  for (const char* head : {"HTTP/1.1 404 X\r\n\r\n", "HTTP/1.1 200 X\r\n\r\n",
                           "HTTP/1.1 200 X\r\nContent-Length: 9000000000\r\n\r\n"}) {
    director_.SetEndless(head);
    Read("Game/b.ktx2");
    EXPECT_NE(code_, GALLEY_VFS_OK) << head;
  }
}

TEST_F(GalleyVfsTest, AServerThatIsNoDirectorDoesNotSpoilTheCache) {
  Begin();
  Read("Game/a.ktx2");
  director_.SetRaw("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello");
  Begin();
  EXPECT_EQ(Read("Game/a.ktx2"), "texture");
}

TEST_F(GalleyVfsTest, ChangesAreToldUntilTheCallerHasEnough) {
  Begin();
  Read("Game/a.ktx2");
  std::string told;
  std::thread watcher([&] {
    const auto note = [](void* context, const galley_vfs_change* change) {
      *static_cast<std::string*>(context) +=
          std::to_string(change->kind) + change->path + change->text + " ";
      return change->kind == GALLEY_VFS_HEALED ? 7 : 0;
    };
    EXPECT_EQ(galley_vfs_watch(vfs_, note, &told), 7);
  });
  EXPECT_TRUE(director_.AwaitStream());
  director_.Tell(
      ": silence\n\nid: 1-1\nevent: change\ndata: {\"world\":2,\"added\":[{\"path\":\"Game/n\"}],");
  director_.Tell(
      "\"modified\":[{\"path\":\"Game/m\",\"after\":null}],\"stale\":[\"Game/s\"],\"cut\":true,");
  director_.Tell("\"failures\":[{\"package\":\"/Game/f\",\"text\":\"no\"}]}\n\n");
  director_.Tell("event: change\ndata: {\"world\":2,\"healed\":[\"/Game/f\"]}\n\n");
  watcher.join();
  EXPECT_EQ(told, "7 1Game/n 2Game/m 4Game/s 5/Game/fno 6/Game/f ");
}

TEST_F(GalleyVfsTest, AWatchEndsWhenItIsCancelled) {
  Begin();
  std::thread watcher([&] {
    const auto note = [](void*, const galley_vfs_change*) { return 0; };
    EXPECT_EQ(galley_vfs_watch(vfs_, note, nullptr), GALLEY_VFS_CANCELLED);
  });
  EXPECT_TRUE(director_.AwaitStream());
  galley_vfs_cancel(vfs_);
  watcher.join();
}

TEST_F(GalleyVfsTest, AHostileServerHarmsNothing) {
  for (const std::string& answer :
       {std::string("HTTP/1.1 200 OK\r\n\r\n") + std::string(1'000'000, 'x'),
        std::string("HTTP/1.1 301 Moved\r\nLocation: http://evil/\r\nContent-Length: 0\r\n\r\n"),
        std::string("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n[]"),
        std::string("HTTP/1.1 201 Created\r\nContent-Length: 68\r\n\r\n{\"session\": \"../../x\", "
                    "\"root\": \"00\", \"newest_root\": 1, \"frozen\": 2 }"),
        std::string("HTTP/1.1 200 OK\r\nX: ") + std::string(100'000, 'y'),
        std::string("220 smtp\r\n"), std::string("\0\0\0\0", 4)}) {
    director_.SetRaw(answer);
    Begin();
    Read("Game/a.ktx2");
    EXPECT_TRUE(code_ == GALLEY_VFS_SERVER || code_ == GALLEY_VFS_OFFLINE) << code_ << Error();
  }
}

TEST_F(GalleyVfsTest, WrongOptionsAreNamed) {
  galley_vfs_options options{};
  options.struct_size = sizeof options;
  options.platform = "linux";
  const std::string below_a_file = PathText(folder_ / "taken/cache");
  std::ofstream(folder_ / "taken") << "a file";
  options.cache_folder = below_a_file.c_str();
  options.url = "nonsense";
  EXPECT_EQ(galley_vfs_create(&options, &vfs_), GALLEY_VFS_INVALID);
  EXPECT_THAT(Error(), HasSubstr("options.url"));
  End();
  options.url = "http://fake:1";
  EXPECT_EQ(galley_vfs_create(&options, &vfs_), GALLEY_VFS_IO);
  EXPECT_THAT(Error(), HasSubstr("taken"));
  galley_vfs_file* file = nullptr;
  EXPECT_EQ(galley_vfs_open(vfs_, "Game/a", &file), GALLEY_VFS_INVALID)
      << "it can only be destroyed";
}

}  // namespace
}  // namespace galley::vfs
