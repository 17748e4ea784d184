// A damaged index costs a store nothing: for every damage, and at every call that meets it, the
// call makes the index anew, with a single note, and everything is found again.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <system_error>
#include <thread>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/base/testing/await.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/sessions.h"
#include "common/store/testing/sample.h"
#include "common/tree/tree.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr uint64_t kPlaces = 32;

// Root may read everything: while this object lives, the process is an ordinary user, who owns
// these files.
class AsOrdinaryUser {
 public:
  explicit AsOrdinaryUser(const std::string& folder) : was_root_(::geteuid() == 0) {
    if (!was_root_) return;
    EXPECT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      EXPECT_EQ(::lchown(entry.path().c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(::seteuid(kNobody), 0);
  }
  ~AsOrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  const bool was_root_;
};

// A store with some of everything, in several files of its index, and the list of what must be
// found.
class IndexDamageTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int part = 0; part < kParts; ++part) {
      const auto store = OpenAt(whole_);
      ASSERT_NE(store, nullptr);
      WritePart(*store, part);
    }
    TakeRepairs();
  }
  std::unique_ptr<StoreDirectory> OpenAt(const std::string& directory) {
    absl::StatusOr<std::unique_ptr<StoreDirectory>> store = OpenLocalStore(
        directory, {.boot_time = [this] { return boot_ + absl::Microseconds(++ticks_); },
                    .sync = [](int) { return 0; }});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void WritePart(StoreDirectory& store, int part) {
    std::vector<PutResult> results;
    for (int i = 0; i < kBlobsInPart; ++i) {
      const std::string bytes = fmt::format("blob {} of part {}", i, part);
      blobs_.emplace_back(PutBytes(store, bytes), bytes);
      if (i % 4 != 0) continue;
      results.push_back(SampleResult(bytes, blobs_.back().first));
      results_.push_back(results.back());
    }
    const std::string large = LargeBytes(static_cast<char>('a' + part));
    blobs_.emplace_back(PutBytes(store, large), large);
    const std::string by_worker = fmt::format("by a worker in part {}", part);
    const auto written =
        *(*SegmentWriter::Open(whole_, *store.AllocateSegment()))->Append(by_worker);
    blobs_.emplace_back(written.first, by_worker);
    EXPECT_TRUE(store.Commit({.blobs = {written}, .results = results}).ok());
    EXPECT_TRUE(CommitActionResult(store, "theirs", Digest::Of(fmt::format("action {}", part)),
                                   SampleActionResult({{"out", blobs_.front().first}}))
                    .ok());
    tree::Directory folder;
    folder.files.push_back({.name = "file", .digest = blobs_.front().first});
    const std::string root = tree::EncodeDirectory(folder);
    if (part == 0) blobs_.emplace_back(Digest::Of(root), root);
    EXPECT_TRUE(
        store.Publish(SampleRoot(fmt::format("platform {}", part), PutBytes(store, root))).ok());
  }
  // Expects everything that was written, however often it is asked for.
  void ExpectAll(StoreDirectory& store) {
    std::vector<Digest> digests;
    for (const auto& [digest, bytes] : blobs_) digests.push_back(digest);
    const auto missing = store.FindMissing(digests);
    ASSERT_TRUE(missing.ok()) << missing.status();
    EXPECT_THAT(*missing, IsEmpty());
    for (const auto& [digest, bytes] : blobs_) {
      const auto blob = store.Get(digest);
      ASSERT_TRUE(blob.ok()) << blob.status();
      EXPECT_EQ(**blob, bytes);
    }
    std::vector<Digest> keys, weak_keys;
    for (const PutResult& put : results_) {
      keys.push_back(put.action_key);
      weak_keys.push_back(put.weak_key);
    }
    const auto results = store.Results(keys);
    const auto sets = store.ObservationSets(weak_keys);
    const auto roots = store.Roots("project");
    ASSERT_TRUE(results.ok() && sets.ok() && roots.ok());
    for (size_t i = 0; i < results_.size(); ++i) {
      EXPECT_EQ((*results)[i], results_[i].result);
      EXPECT_THAT((*sets)[i], ElementsAre(results_[i].observation_set));
    }
    EXPECT_THAT(*roots, SizeIs(kParts));
    for (int part = 0; part < kParts; ++part) {
      EXPECT_TRUE(
          ActionResultOf(store, "theirs", Digest::Of(fmt::format("action {}", part))).has_value());
    }
  }
  // Expects every kind of work to succeed, including a small write.
  void ExpectAllWork(StoreDirectory& store) {
    ExpectAll(store);
    const auto collected = store.Collect(GcOptions());
    EXPECT_TRUE(collected.ok()) << collected.status();
    const auto report = store.Verify();
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(report->problems, IsEmpty());
    const auto why = store.Why(blobs_.front().first, 10);
    EXPECT_TRUE(why.ok() && why->location.has_value());
    const auto stats = store.Stats();
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->blobs, blobs_.size());
    EXPECT_EQ(stats->results, results_.size());
    ExpectAll(store);
  }
  // A copy of the store, as the last owner left it. Removes the copy before. Every copy has another
  // name, because a heal is noted only once.
  std::string Copy() {
    std::error_code ignored;
    fs::remove_all(folder_.In(fmt::format("copy{}", copies_)), ignored);
    const std::string copy = folder_.In(fmt::format("copy{}", ++copies_));
    fs::copy(whole_, copy, fs::copy_options::recursive);
    return copy;
  }
  static std::vector<std::string> FilesOfIndex(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(JoinPath(directory, "index")))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::vector<std::string> TablesOf(const std::string& directory) {
    std::vector<std::string> paths;
    for (const std::string& name : FilesOfIndex(directory)) {
      if (name.ends_with(".sst")) paths.push_back(JoinPath(JoinPath(directory, "index"), name));
    }
    return paths;
  }
  static void Flip(const std::string& path, uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 0x40));
  }
  // Flips bytes of every table, everywhere but at its end, so that it can be opened. The index
  // folder is held: a thread of the test may meet the first damage and move the index aside before
  // the last flip, and the next index must stay whole.
  static void FlipTables(const std::string& directory) {
    const FileDescriptor index(
        ::open(JoinPath(directory, "index").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(index.valid());
    const std::string held = fmt::format("/proc/self/fd/{}", index.get());
    for (const std::string& path : TablesOf(directory)) {
      const std::string table = JoinPath(held, path.substr(path.rfind('/') + 1));
      std::error_code is_gone;  // RocksDB removes tables that it has merged
      const uint64_t size = fs::file_size(table, is_gone);
      for (uint64_t offset = 0; !is_gone && offset + 2000 < size; offset += 500)
        Flip(table, offset);
    }
  }
  static std::vector<std::string> Broken(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("index.")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Expects at most one note of healing, and no note by the next owner.
  void ExpectHeals(const std::string& directory, size_t notes_min = 0) {
    {
      const auto store = OpenAt(directory);
      ASSERT_NE(store, nullptr);
      ExpectAllWork(*store);
    }
    const std::vector<std::string> notes = TakeRepairs();
    EXPECT_LE(notes.size(), 1u) << testing::PrintToString(notes);
    EXPECT_GE(notes.size(), notes_min);
    const auto store = OpenAt(directory);
    ASSERT_NE(store, nullptr);
    ExpectAll(*store);
    EXPECT_THAT(TakeRepairs(), IsEmpty());
  }

  static constexpr int kParts = 2, kBlobsInPart = 300;
  const TemporaryFolder folder_;
  const std::string whole_ = folder_.In("whole");
  const absl::Time boot_ = BootTime();
  std::atomic<int64_t> ticks_ = 0;
  int copies_ = 0;
  std::vector<std::pair<Digest, std::string>> blobs_;
  std::vector<PutResult> results_;
};

TEST_F(IndexDamageTest, AWholeIndexIsSaidNothingOf) { ExpectHeals(Copy()); }

TEST_F(IndexDamageTest, AByteThatIsFlippedAnywhereIsNoDamageToTheStore) {
  const std::vector<std::string> tables = TablesOf(whole_);
  const std::string largest = *std::max_element(
      tables.begin(), tables.end(),
      [](const auto& a, const auto& b) { return fs::file_size(a) < fs::file_size(b); });
  for (const std::string& name : FilesOfIndex(whole_)) {
    const std::string path = JoinPath(JoinPath(whole_, "index"), name);
    const uint64_t size = fs::file_size(path);
    const bool is_large = path == largest || name.starts_with("MANIFEST");
    const uint64_t places = std::min(size, is_large ? kPlaces : kPlaces / 8);
    for (uint64_t place = 0; place < places; ++place) {
      SCOPED_TRACE(fmt::format("{} place {}", name, place));
      const std::string copy = Copy();
      Flip(JoinPath(JoinPath(copy, "index"), name), size * place / places);
      // A verify checks every byte of a table.
      ExpectHeals(copy, name.ends_with(".sst") ? 1 : 0);
      if (HasFailure()) return;
    }
  }
}

TEST_F(IndexDamageTest, AFileThatIsNotWhatItWasIsNoDamageToTheStore) {
  const std::vector<std::pair<std::string, std::function<void(const std::string&)>>> kinds = {
      {"deleted", [](const std::string& path) { fs::remove(path); }},
      {"truncated",
       [](const std::string& path) { fs::resize_file(path, fs::file_size(path) / 2); }},
      {"empty", [](const std::string& path) { fs::resize_file(path, 0); }},
      {"zeroed",
       [](const std::string& path) {
         const uint64_t size = fs::file_size(path);
         fs::resize_file(path, 0);
         fs::resize_file(path, size);
       }},
      {"longer",
       [](const std::string& path) { fs::resize_file(path, fs::file_size(path) + 1000); }},
      {"a folder",
       [](const std::string& path) {
         fs::remove(path);
         fs::create_directories(JoinPath(path, "inner"));
       }},
      {"a loop", [](const std::string& path) {
         fs::remove(path);
         fs::create_symlink(path, path);
       }}};
  for (const std::string& name : FilesOfIndex(whole_)) {
    for (const auto& [kind, damage] : kinds) {
      SCOPED_TRACE(name + " is " + kind);
      const std::string copy = Copy();
      damage(JoinPath(JoinPath(copy, "index"), name));
      const bool is_needed =
          name.ends_with(".sst") || name == "CURRENT" || name.starts_with("MANIFEST");
      ExpectHeals(copy, is_needed && kind != "longer" ? 1 : 0);
      if (HasFailure()) return;
    }
  }
}

TEST_F(IndexDamageTest, AnotherTableInThePlaceOfOneIsFound) {
  const std::vector<std::string> tables = TablesOf(whole_);
  ASSERT_GE(tables.size(), 2u);
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::string copy = Copy();
    const std::string name = tables[i].substr(tables[i].rfind('/') + 1);
    fs::copy_file(tables[(i + 1) % tables.size()], JoinPath(JoinPath(copy, "index"), name),
                  fs::copy_options::overwrite_existing);
    ExpectHeals(copy, 1);
  }
}

TEST_F(IndexDamageTest, AnOlderIndexIsBroughtUp) {
  const std::string older = folder_.In("older");
  fs::copy(JoinPath(whole_, "index"), older, fs::copy_options::recursive);
  {
    const auto store = OpenAt(whole_);
    for (int i = 0; i < 500; ++i) {
      const std::string bytes = fmt::format("later {}", i);
      blobs_.emplace_back(PutBytes(*store, bytes), bytes);
    }
    EXPECT_TRUE(store->Commit({}).ok());
  }
  const std::string copy = Copy();
  fs::remove_all(JoinPath(copy, "index"));
  fs::copy(older, JoinPath(copy, "index"), fs::copy_options::recursive);
  const auto store = OpenAt(copy);
  ASSERT_NE(store, nullptr);
  ExpectAll(*store);
}

TEST_F(IndexDamageTest, WhatIsInThePlaceOfTheFolderIsMovedAside) {
  std::string copy = Copy();
  fs::remove_all(JoinPath(copy, "index"));
  std::ofstream(JoinPath(copy, "index")) << "no folder";
  ExpectHeals(copy, 1);
  EXPECT_THAT(Broken(copy), ElementsAre("index.broken-1"));
  EXPECT_EQ(*ReadFile(JoinPath(copy, "index.broken-1")), "no folder");
  copy = Copy();
  fs::remove_all(JoinPath(copy, "index"));
  ExpectHeals(copy, 1);
  EXPECT_THAT(Broken(copy), IsEmpty());
}

TEST_F(IndexDamageTest, WhatMayNotBeReadIsMovedAside) {
  const AsOrdinaryUser user(folder_.path());
  for (const std::string& name : FilesOfIndex(whole_)) {
    SCOPED_TRACE(name);
    const std::string copy = Copy();
    ASSERT_EQ(::chmod(JoinPath(JoinPath(copy, "index"), name).c_str(), 0), 0);
    ExpectHeals(copy, name.ends_with(".sst") || name == "CURRENT" ? 1 : 0);
  }
  const std::string copy = Copy();
  for (int times = 0; times < 5; ++times) {
    ASSERT_EQ(::chmod(JoinPath(copy, "index").c_str(), 0), 0);
    ExpectHeals(copy, 1);
  }
  EXPECT_THAT(Broken(copy), SizeIs(3));
}

TEST_F(IndexDamageTest, TheNewestDamagedOnesAreKept) {
  const std::string copy = Copy();
  for (int times = 0; times < 5; ++times) {
    fs::resize_file(JoinPath(JoinPath(copy, "index"), "CURRENT"), 0);
    ExpectHeals(copy, 1);
  }
  EXPECT_THAT(Broken(copy), ElementsAre("index.broken-3", "index.broken-4", "index.broken-5"));
}

TEST_F(IndexDamageTest, TheNoteSaysWhatWasWrongAndWhatWasDone) {
  const std::string copy = Copy();
  auto store = OpenAt(copy);
  FlipTables(copy);
  ExpectAll(*store);
  EXPECT_THAT(TakeRepairs(),
              ElementsAre(testing::AllOf(HasSubstr(JoinPath(copy, "index") + ": "),
                                         HasSubstr("checksum mismatch"),
                                         HasSubstr("it is index.broken-1 now"),
                                         HasSubstr("made again from segments and files in "))));
}

// Every call is the first that meets the damage.
TEST_F(IndexDamageTest, EveryCallHealsAnIndexThatIsDamagedUnderIt) {
  const Digest some = blobs_.front().first;
  PutResult later = SampleResult("later", some);
  later.weak_key = results_.front().weak_key;  // an existing key
  const std::vector<std::pair<std::string, std::function<absl::Status(StoreDirectory&)>>> calls = {
      {"FindMissing",
       [&](StoreDirectory& store) {
         const auto missing = store.FindMissing(std::span(&some, 1));
         EXPECT_TRUE(!missing.ok() || missing->empty());
         return missing.status();
       }},
      {"Get", [&](StoreDirectory& store) { return store.Get(some).status(); }},
      {"NewReader", [&](StoreDirectory& store) { return store.NewReader(some, 0).status(); }},
      {"Results",
       [&](StoreDirectory& store) {
         return store.Results(std::span(&results_.front().action_key, 1)).status();
       }},
      {"ObservationSets",
       [&](StoreDirectory& store) {
         return store.ObservationSets(std::span(&results_.front().weak_key, 1)).status();
       }},
      {"ActionResults",
       [&](StoreDirectory& store) {
         const Digest action = Digest::Of("action 0");
         return store.ActionResults("theirs", std::span(&action, 1)).status();
       }},
      {"Roots", [&](StoreDirectory& store) { return store.Roots("project").status(); }},
      {"Put", [&](StoreDirectory& store) { return store.Put(some, blobs_.front().second); }},
      {"Commit", [&](StoreDirectory& store) { return store.Commit({.results = {later}}); }},
      {"Publish",
       [&](StoreDirectory& store) {
         return store.Publish(SampleRoot("platform 0", some)).status();
       }},
      {"Forget",
       [&](StoreDirectory& store) {
         return store.Forget(std::span(&results_.front().action_key, 1));
       }},
      {"Collect", [&](StoreDirectory& store) { return store.Collect(GcOptions()).status(); }},
      {"Verify", [&](StoreDirectory& store) { return store.Verify().status(); }},
      {"Why", [&](StoreDirectory& store) { return store.Why(some, 10).status(); }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    const std::string copy = Copy();
    auto store = OpenAt(copy);
    const uint64_t epoch = EpochOf(*store);
    FlipTables(copy);
    TakeRepairs();
    const absl::Status status = call(*store);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(TakeRepairs(), SizeIs(1));
    EXPECT_GT(EpochOf(*store), epoch);
    // The work of the call is durable as always.
    const std::string crashed = folder_.In("crashed " + name);
    fs::copy(copy, crashed, fs::copy_options::recursive);
    const auto after_crash = OpenAt(crashed);
    const std::vector<Digest> expected = {some, blobs_.back().first};
    EXPECT_THAT(*after_crash->FindMissing(expected), IsEmpty());
    EXPECT_EQ(ResultOf(*after_crash, later.action_key).has_value(), name == "Commit");
    EXPECT_EQ(ResultOf(*after_crash, results_.front().action_key).has_value(), name != "Forget");
    EXPECT_THAT(*after_crash->Roots("project"), SizeIs(name == "Publish" ? kParts + 1 : kParts));
    EXPECT_GE(EpochOf(*after_crash), EpochOf(*store));
    EXPECT_THAT(TakeRepairs(), IsEmpty());
  }
}

// The commit that meets the damage has much that the synced log does not have yet.
TEST_F(IndexDamageTest, WhatIsPendingIsKept) {
  const std::string copy = Copy();
  auto store = OpenAt(copy);
  const Digest pending = PutBytes(*store, "pending"), large = PutBytes(*store, LargeBytes('P'));
  FlipTables(copy);
  ExpectAll(*store);
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
  EXPECT_EQ(GetBytes(*store, pending), "pending");
  const PutResult result = SampleResult("of pending", pending);
  ASSERT_TRUE(store->Commit({.results = {result}}).ok());
  const uint64_t blobs = store->Stats()->blobs;
  EXPECT_EQ(blobs, blobs_.size() + 2);
  const std::string crashed = folder_.In("crashed");
  fs::copy(copy, crashed, fs::copy_options::recursive);
  const auto after_crash = OpenAt(crashed);
  EXPECT_EQ(GetBytes(*after_crash, pending), "pending");
  EXPECT_EQ(GetBytes(*after_crash, large), LargeBytes('P'));
  EXPECT_TRUE(ResultOf(*after_crash, result.action_key).has_value());
  EXPECT_EQ(after_crash->Stats()->blobs, blobs);
  ExpectAll(*after_crash);
}

TEST_F(IndexDamageTest, OthersGoOnWhileItIsMadeAgain) {
  constexpr size_t kThreads = 4;
  const std::string copy = Copy();
  auto store = OpenAt(copy);
  std::atomic<bool> is_done = false;
  std::array<std::atomic<size_t>, kThreads> rounds = {};
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (; !is_done; ++rounds[thread]) {
        const size_t round = rounds[thread];
        const auto& [digest, bytes] = blobs_[(thread * 131 + round * 7) % blobs_.size()];
        const auto blob = store->Get(digest);
        EXPECT_TRUE(blob.ok() && **blob == bytes) << blob.status();
        EXPECT_THAT(*store->FindMissing(std::span(&digest, 1)), IsEmpty());
        const PutResult& put = results_[round % results_.size()];
        EXPECT_TRUE(ResultOf(*store, put.action_key).has_value());
        if (thread != 0) continue;
        const Digest mine = PutBytes(*store, fmt::format("written meanwhile {}", round));
        const PutResult result = SampleResult(fmt::format("meanwhile {}", round), mine);
        EXPECT_TRUE(store->Commit({.results = {result}}).ok());
      }
    });
  }
  for (int times = 0; times < 5; ++times) {
    FlipTables(copy);
    const auto collected = store->Collect(GcOptions());  // reads all files
    EXPECT_TRUE(collected.ok()) << collected.status();
    if (!collected.ok()) break;
    EXPECT_EQ(collected->dropped_blobs, 0u);
    // A call that was held up must end before the next damage: a call heals once.
    const WaitLimit limit("two more rounds of each thread");
    for (const std::atomic<size_t>& round : rounds) {
      for (const size_t begin = round; round < begin + 2;) std::this_thread::yield();
    }
  }
  is_done = true;
  {
    const WaitLimit limit("the last round of each thread");
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_THAT(TakeRepairs(), SizeIs(5));
  ExpectAll(*store);
  store.reset();
  store = OpenAt(copy);
  ExpectAll(*store);
  for (size_t round = 0; round < rounds[0]; ++round) {
    const Digest mine = Digest::Of(fmt::format("written meanwhile {}", round));
    EXPECT_THAT(*store->FindMissing(std::span(&mine, 1)), IsEmpty());
  }
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

// The index can be opened, but is wrong where the end of the log is put in. This makes no sync
// fail: the log is not written anew.
TEST_F(IndexDamageTest, DamageThatIsMetWhileTheIndexIsBroughtUpIsHealed) {
  const std::string copy = Copy(), crashed = folder_.In("crashed");
  // In the middle of its kind, so that no record that is read before lies in the same block.
  const auto middle = results_.begin() + static_cast<ptrdiff_t>(results_.size() / 2);
  std::nth_element(results_.begin(), middle, results_.end(), [](const auto& a, const auto& b) {
    return a.weak_key.hash() < b.weak_key.hash();
  });
  PutResult later = SampleResult("later", blobs_.front().first);
  later.weak_key = middle->weak_key;
  {
    const auto store = OpenAt(copy);
    ASSERT_TRUE(store->Commit({.results = {later}}).ok());
    fs::copy(copy, crashed, fs::copy_options::recursive);
  }
  int flipped = 0;
  for (const std::string& path : TablesOf(crashed)) {
    const std::string key_end = std::string(later.weak_key.hash().substr(4));
    const size_t at = ReadFile(path)->find(key_end);
    if (at == std::string::npos) continue;
    Flip(path, at);
    ++flipped;
  }
  ASSERT_GT(flipped, 0);
  const uint64_t inode = StatFile(SegmentPath(crashed, 1))->inode;
  const auto store = OpenAt(crashed);
  ASSERT_NE(store, nullptr);
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
  EXPECT_EQ(StatFile(SegmentPath(crashed, 1))->inode, inode);
  EXPECT_FALSE(FileExists(JoinPath(crashed, "syncing")));
  EXPECT_TRUE(ResultOf(*store, later.action_key).has_value());
  EXPECT_THAT(store->ObservationSets(std::span(&later.weak_key, 1))->front(),
              ElementsAre(later.observation_set, middle->observation_set));
}

// A process that made the index was killed at a step of the making.
TEST_F(IndexDamageTest, AMakingThatWasCutOffIsBegunAnewOrUsed) {
  std::string copy = Copy();
  const auto index = [&] { return JoinPath(copy, "index"); };
  const auto anew = [&] { return JoinPath(copy, "index.anew"); };
  // Begun: some files of the new index are there.
  fs::rename(index(), anew());
  fs::remove(JoinPath(anew(), "CURRENT"));
  ExpectHeals(copy, 1);
  EXPECT_THAT(Broken(copy), IsEmpty());
  // Finished, but not in its place.
  copy = Copy();
  fs::rename(index(), anew());
  ExpectHeals(copy);
  EXPECT_THAT(Broken(copy), IsEmpty());
  // Left by a process that could not finish.
  copy = Copy();
  fs::copy(index(), anew(), fs::copy_options::recursive);
  ExpectHeals(copy);
  EXPECT_THAT(Broken(copy), IsEmpty());
  // A folder that is still empty, after the damaged index was moved aside.
  copy = Copy();
  fs::rename(index(), JoinPath(copy, "index.broken-7"));
  fs::create_directories(anew());
  ExpectHeals(copy, 1);
  EXPECT_THAT(Broken(copy), ElementsAre("index.broken-7"));
}

TEST_F(IndexDamageTest, WhatAnOlderProgramFoundDamagedIsMadeAgain) {
  const std::string copy = Copy();
  std::ofstream(JoinPath(copy, "tmp/rebuild-index"));
  ExpectHeals(copy, 1);
}

// A collection had put the file aside, and was killed before the log said anything.
TEST_F(IndexDamageTest, AFileThatACollectionPutAsideIsBack) {
  const std::string copy = Copy();
  const auto large = std::find_if(blobs_.begin(), blobs_.end(), [](const auto& blob) {
    return blob.second.size() > kSmallBlobBytesMax;
  });
  fs::rename(BlobFilePath(copy, large->first), CollectedFilePath(copy, large->first));
  fs::remove_all(JoinPath(copy, "index"));
  ExpectHeals(copy, 1);
}

// The new index knows how far workers' segments were adopted, so a segment that goes is missed.
TEST_F(IndexDamageTest, AWorkersSegmentThatGoesAfterwardsIsALoss) {
  const std::string copy = Copy();
  fs::remove_all(JoinPath(copy, "index"));
  uint64_t segment = 0, epoch = 0;
  Digest by_worker;
  {
    const auto store = OpenAt(copy);
    by_worker = Digest::Of("by a worker in part 0");
    segment = store->Locate(std::span(&by_worker, 1))->front()->segment;
    epoch = EpochOf(*store);
  }
  fs::remove(SegmentPath(copy, segment));
  const auto store = OpenAt(copy);
  EXPECT_GT(EpochOf(*store), epoch);
  EXPECT_THAT(*store->FindMissing(std::span(&by_worker, 1)), ElementsAre(by_worker));
}

}  // namespace
}  // namespace galley::store
