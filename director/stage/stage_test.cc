#include "director/stage/stage.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "director/stage/checkout.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// BlobsInMemory: blobs in memory; the test can let reads fail.
class BlobsInMemory final : public store::Store {
 public:
  Digest Add(const std::string& bytes) {
    const Digest digest = Digest::Of(bytes);
    blobs_[digest] = bytes;
    return digest;
  }
  void Drop(const Digest& digest) { blobs_.erase(digest); }

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    std::vector<Digest> missing;
    for (const Digest& digest : digests) {
      if (!blobs_.contains(digest)) missing.push_back(digest);
    }
    return missing;
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    if (digest == fails_at && digest != Digest())
      return absl::UnavailableError("the store went away");
    if (file_reads_left > 0 && files.contains(digest) && --file_reads_left == 0)
      return absl::UnavailableError("the store went away");
    if (interrupts != nullptr && files.contains(digest)) *interrupts = true;
    if (when_read && files.contains(digest)) when_read();
    if (gone.contains(digest) || wrong.contains(digest)) {
      ++lost_reads;
      return absl::DataLossError("its bytes are wrong");
    }
    const auto found = blobs_.find(digest);
    if (found == blobs_.end()) return absl::NotFoundError("no blob " + digest.ToString());
    return MakeBlob(found->second);
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    ++looks;
    std::vector<Digest> lost;
    for (const Digest& digest : digests) {
      if (gone.contains(digest)) lost.push_back(digest);
    }
    return lost;
  }
  absl::Status Put(const Digest&, std::string_view) override { return Unused(); }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest>) override {
    return Unused();
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest>) override {
    return Unused();
  }
  absl::StatusOr<store::StoreInfo> Info() override { return Unused(); }
  absl::StatusOr<uint64_t> AllocateSegment() override { return Unused(); }
  absl::StatusOr<std::vector<std::optional<store::BlobLocation>>> Locate(
      std::span<const Digest>) override {
    return Unused();
  }
  absl::Status Commit(const store::CommitBatch&) override { return Unused(); }
  absl::StatusOr<uint64_t> Publish(const store::PublishedRoot&) override { return Unused(); }
  absl::StatusOr<std::vector<store::PublishedRoot>> Roots(std::string_view) override {
    return Unused();
  }
  absl::Status Forget(std::span<const Digest>) override { return Unused(); }

  std::atomic<int> file_reads_left = 0;  // the read that makes it 0 fails; 0: never
  Digest fails_at;
  std::atomic<bool>* interrupts = nullptr;  // set when a file is read
  std::function<void()> when_read;          // called when a file is read
  std::set<Digest> files;                   // blobs that count as files
  std::set<Digest> gone, wrong;             // believed to be there; a look finds `gone`
  std::atomic<int> lost_reads = 0, looks = 0;

 private:
  static absl::Status Unused() { return absl::UnimplementedError("staging does not need this"); }
  std::map<Digest, std::string> blobs_;
};

// The files of a tree or a sandbox: path -> bytes; the path of an executable file ends in "!".
using Files = std::map<std::string, std::string>;

class StageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "stage").value();
    sandbox_ = JoinPath(folder_, "out/linux");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  Digest Tree(const Files& files) {
    std::vector<tree::TreeFile> list;
    for (const auto& [path, text] : files) {
      const bool is_executable = text.ends_with('!');
      list.push_back({.path = path, .digest = store_.Add(text), .is_executable = is_executable});
      store_.files.insert(list.back().digest);
    }
    const tree::BuiltTree built =
        tree::BuildTree(list, [](std::string_view name) { return std::string(name); });
    EXPECT_TRUE(built.conflicts.empty());
    for (const auto& [digest, bytes] : built.directories) store_.Add(bytes);
    return built.root;
  }

  absl::StatusOr<StageReport> StageBook(const Files& files) {
    return Stage(store_, StageOptions{.directory = sandbox_, .root = Tree(files)});
  }
  absl::StatusOr<StageReport> StageExact(const Files& files) {
    return Stage(store_, StageOptions{.directory = sandbox_, .root = Tree(files), .exact = true});
  }
  absl::StatusOr<StageReport> StageNarrow(const Files& files,
                                          std::vector<std::string> failed = {}) {
    return Stage(store_, StageOptions{.directory = sandbox_,
                                      .root = Tree(files),
                                      .by_the_book = false,
                                      .failed_packages = std::move(failed)});
  }

  std::string Path(std::string_view path) const { return JoinPath(sandbox_, path); }
  void Write(std::string_view path, std::string_view text) const {
    fs::create_directories(fs::path(Path(path)).parent_path());
    ASSERT_TRUE(WriteFileAtomic(Path(path), text).ok());
  }

  // Returns everything but the marker; an empty folder shows as "path/".
  static Files Held(const std::string& directory) {
    Files held;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      const std::string path = entry.path().lexically_relative(directory).string();
      if (path == kMarkerName || path == kFilesName) continue;
      if (entry.is_symlink()) {
        held[path] = "link";
      } else if (entry.is_directory()) {
        if (fs::is_empty(entry.path())) held[path + "/"] = "";
      } else {
        held[path] = ReadFile(entry.path().string()).value();
        EXPECT_EQ(held[path].ends_with('!'), ::access(entry.path().c_str(), X_OK) == 0) << path;
      }
    }
    return held;
  }
  Files Held() const { return Held(sandbox_); }
  // Returns the first line of the marker: the root.
  std::string Marker() const {
    const std::string marker = ReadFile(Path(".galley-root")).value_or("absent");
    return marker.substr(0, marker.find('\n'));
  }
  // Makes everything long ago for the marker: files that were staged and not touched since are
  // trusted by their stamps.
  void LetTimePass() const {
    fs::last_write_time(Path(".galley-root"),
                        fs::file_time_type::clock::now() + std::chrono::hours(1));
  }

  // Ends the process with 0 when a file beyond the size limit is reported as a full disk: EFBIG
  // takes the same path as ENOSPC.
  [[noreturn]] void StageBeyondTheLimit() {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const absl::Status status = StageBook({{"Game/big", std::string(10'000, 'x')}}).status();
    const bool is_named = status.message().find("Game/big") != absl::string_view::npos;
    std::_Exit(absl::IsResourceExhausted(status) && is_named && Marker() == "absent" ? 0 : 1);
  }

  BlobsInMemory store_;
  std::string folder_;
  std::string sandbox_;
};

TEST_F(StageTest, ATreeIsLaidOutWithItsExecutables) {
  const Files files = {{"Game/a.png.ktx2", "a"}, {"Game/props/b.bin", "run!"}, {"Game/zero", ""}};
  const StageReport report = StageBook(files).value();
  EXPECT_EQ(Held(), files);
  EXPECT_EQ(report.written, 3u);
  EXPECT_EQ(report.bytes_written, 5u);
  EXPECT_EQ(Marker(), Tree(files).ToString());
  struct stat s {};
  ASSERT_EQ(::stat(Path("Game/a.png.ktx2").c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777u, 0644u);
  ASSERT_EQ(::stat(Path("Game/props/b.bin").c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777u, 0755u);
}

TEST_F(StageTest, ModesFollowTheUmaskThatIsGivenNotThatOfTheProcess) {
  const Files many = [] {
    Files files = {{"Game/run", "go!"}};
    for (int i = 0; i < 2'000; ++i)
      files[fmt::format("Game/{}/{}", i % 7, i)] = fmt::format("{}", i);
    return files;
  }();
  const mode_t before = ::umask(022);
  const Digest root = Tree(many);
  ASSERT_TRUE(Stage(store_, {.directory = sandbox_, .root = root, .umask = 027}).ok());
  ::umask(before);
  const auto mode_of = [](const fs::path& path) {
    return static_cast<mode_t>(fs::status(path).permissions());
  };
  EXPECT_EQ(mode_of(JoinPath(folder_, "out")), 0750u);
  EXPECT_EQ(mode_of(sandbox_), 0750u);
  EXPECT_EQ(mode_of(Path("Game/run")), 0750u);
  for (const auto& entry : fs::recursive_directory_iterator(Path("Game"))) {
    if (entry.path().filename() == "run") continue;
    EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0750u : 0640u) << entry.path();
  }
  // New files may have other modes; an existing file keeps its own.
  ASSERT_TRUE(Stage(store_, {.directory = sandbox_,
                             .root = Tree({{"Game/run", "go!"}, {"Game/new", "new"}}),
                             .umask = 0777})
                  .ok());
  EXPECT_EQ(mode_of(Path("Game/run")), 0750u);
  EXPECT_EQ(mode_of(Path("Game/new")), 0600u);  // the owner always may
}

TEST_F(StageTest, TheSameRootAgainWritesNothing) {
  const Files files = {{"Game/a", "a"}, {"Game/b/c", "c"}};
  ASSERT_TRUE(StageBook(files).ok());
  LetTimePass();
  const FileStat before = StatFile(Path(".galley-root")).value();
  const StageReport report = StageBook(files).value();
  EXPECT_EQ(report.written, 0u);
  EXPECT_EQ(report.unchanged, 2u);
  EXPECT_EQ(StatFile(Path(".galley-root")).value(), before);
}

TEST_F(StageTest, OnlyWhatDiffersIsWrittenAndStaleFilesAndEmptiedFoldersGo) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}, {"Game/b", "b"}, {"Game/old/deep/c", "c"}}).ok());
  const Files files = {{"Game/a", "a"}, {"Game/b", "B"}, {"Game/d", "d"}};
  const StageReport report = StageBook(files).value();
  EXPECT_EQ(Held(), files);
  EXPECT_EQ(report.written, 2u);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(report.unchanged, 1u);
}

TEST_F(StageTest, AFileBecomesAFolderAndBack) {
  const Files file = {{"Game/x", "file"}};
  const Files folder = {{"Game/x/y/z", "deep"}};
  for (const bool by_the_book : {true, false}) {
    for (const Files& files : {file, folder, file}) {
      ASSERT_TRUE((by_the_book ? StageBook(files) : StageNarrow(files)).ok());
      EXPECT_EQ(Held(), files);
    }
  }
}

TEST_F(StageTest, TheEmptyTreeEmptiesTheSandbox) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
  store_.Add("");
  ASSERT_TRUE(StageBook({}).ok());
  EXPECT_EQ(Held(), Files());
}

TEST_F(StageTest, WhatAPersonDeletedOrCutComesBackWithTheSameRoot) {
  const Files files = {{"Game/a", "aaaa"}, {"Game/b", "bbbb"}, {"Game/c", "run!"}};
  ASSERT_TRUE(StageBook(files).ok());
  fs::remove(Path("Game/a"));
  Write("Game/b", "b");
  fs::permissions(Path("Game/c"), fs::perms::owner_read);
  EXPECT_EQ(StageBook(files).value().written, 3u);
  EXPECT_EQ(Held(), files);
}

TEST_F(StageTest, WhatAPersonEditedToTheSameSizeComesBackWithTheSameRoot) {
  const Files files = {{"Game/a", "aaaa"}, {"Game/b", "bbbb"}, {"Game/c", "cccc"}};
  for (const bool later : {false, true}) {
    for (const bool by_the_book : {true, false}) {
      fs::remove_all(sandbox_);
      ASSERT_TRUE(StageBook(files).ok());
      if (later) LetTimePass();
      const auto mtime = fs::last_write_time(Path("Game/a"));
      const int64_t staged_ns = StatFile(Path("Game/a")).value().ctime_ns;
      do {  // in place, until the clock of time stamps has ticked
        std::ofstream(Path("Game/a"), std::ios::in | std::ios::out) << "AA";
        fs::last_write_time(Path("Game/a"), mtime);
      } while (later && StatFile(Path("Game/a")).value().ctime_ns == staged_ns);
      Write("Game/b", "BBBB");  // replaced by another file
      const auto report = by_the_book ? StageBook(files) : StageNarrow(files);
      EXPECT_EQ(report.value().written, 2u);
      EXPECT_EQ(Held(), files);
    }
  }
}

TEST_F(StageTest, WhatWasOnlyTouchedIsComparedOnceAndNotWritten) {
  const Files files = {{"Game/a", "aaaa"}};
  ASSERT_TRUE(StageBook(files).ok());
  fs::last_write_time(Path("Game/a"), fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(StageBook(files).value().written, 0u);
  LetTimePass();
  const FileStat noted = StatFile(Path(".galley-root")).value();
  EXPECT_EQ(StageBook(files).value().written, 0u);
  EXPECT_EQ(StatFile(Path(".galley-root")).value(), noted);
}

// A file of the tick in which the marker was written is compared by digest. A new marker makes that
// needless in later stages.
TEST_F(StageTest, AStampThatSaysNothingIsComparedOnceAndWrittenAnew) {
  const Files files = {{"Game/a", "aaaa"}};
  ASSERT_TRUE(StageBook(files).ok());
  fs::last_write_time(Path(".galley-root"),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const FileStat before = StatFile(Path(".galley-root")).value();
  EXPECT_EQ(StageBook(files).value().written, 0u);
  EXPECT_NE(StatFile(Path(".galley-root")).value(), before);
  LetTimePass();
  const FileStat noted = StatFile(Path(".galley-root")).value();
  EXPECT_EQ(StageBook(files).value().written, 0u);
  EXPECT_EQ(StatFile(Path(".galley-root")).value(), noted);
}

TEST_F(StageTest, AMarkerWithoutStampsIsReadAndItsFilesAreCompared) {
  const Files files = {{"Game/a", "a"}, {"Game/b", "b"}};
  ASSERT_TRUE(StageBook(files).ok());
  Write("Game/a", "X");
  ASSERT_TRUE(WriteFileAtomic(Path(".galley-root"), Tree(files).ToString() + "\n").ok());
  EXPECT_EQ(StageBook(files).value().written, 1u);
  EXPECT_EQ(Held(), files);
  ASSERT_TRUE(WriteFileAtomic(Path(".galley-root"), Tree(files).ToString() + "\n").ok());
  EXPECT_EQ(StageBook(files).value().written, 0u);
  EXPECT_THAT(ReadFile(Path(".galley-root")).value(), HasSubstr(std::string(1, '\0')));
}

// Only stamps are looked at: a file with the noted stamps is not read again.
TEST_F(StageTest, FilesWithTheStampsNotedAreNotRead) {
  const Files files = {{"Game/a", "a"}};
  ASSERT_TRUE(StageBook(files).ok());
  const std::string marker = ReadFile(Path(".galley-root")).value();
  Write("Game/a", "X");
  ASSERT_TRUE(StageNarrow({{"Game/a", "X"}}).ok());  // notes the stamps
  const std::string stamps = ReadFile(Path(".galley-root")).value().substr(marker.find('\0'));
  ASSERT_TRUE(
      WriteFileAtomic(Path(".galley-root"), Tree(files).ToString() + "\n/\nGame/a\n" + stamps)
          .ok());
  LetTimePass();
  EXPECT_EQ(StageBook(files).value().written, 0u);
}

TEST_F(StageTest, FilesThatGalleyNeverPutThereStayAndAreTold) {
  const Files files = {{"Game/a", "a"}};
  ASSERT_TRUE(StageBook({{"Game/a", "old"}, {"Game/gone/b", "b"}, {"saves/c", "c"}}).ok());
  Write("Game/gone/notes.txt", "mine");
  Write("saves/1", "mine");
  fs::create_directories(Path("empty/deep"));
  fs::create_symlink("/nowhere", Path("link"));
  const Files held = {{"Game/a", "a"},
                      {"Game/gone/notes.txt", "mine"},
                      {"empty/deep/", ""},
                      {"link", "link"},
                      {"saves/1", "mine"}};
  ASSERT_TRUE(StageNarrow(files).ok());
  for (int i = 0; i < 2; ++i) {
    const StageReport report = StageBook(files).value();
    EXPECT_EQ(Held(), held);
    EXPECT_EQ(report.removed, i == 0 ? 2u : 0u);
    EXPECT_EQ(report.foreign_count, 3u);
    EXPECT_THAT(report.foreign, ElementsAre("Game/gone/notes.txt", "link", "saves/1"));
  }
  const StageReport report = StageExact(files).value();
  EXPECT_EQ(Held(), files);
  EXPECT_EQ(report.removed, 3u);
  EXPECT_EQ(report.foreign_count, 0u);
}

TEST_F(StageTest, OfManyFilesOfOthersTheFirstAreTold) {
  for (int i = 0; i < 20; ++i) Write(fmt::format("mine/{:02}", i), "mine");
  const StageReport report = StageBook({{"Game/a", "a"}}).value();
  EXPECT_EQ(report.foreign_count, 20u);
  EXPECT_THAT(report.foreign, ElementsAre("mine/00", "mine/01", "mine/02", "mine/03", "mine/04"));
}

// The ledger says which files are Galley's, whatever became of the store.
TEST_F(StageTest, WhatGalleyPutThereGoesThoughItsRootIsInNoStore) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}, {"Game/b", "b"}}).ok());
  store_.Drop(Tree({{"Game/a", "a"}, {"Game/b", "b"}}));
  Write("Game/mine", "mine");
  ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "a"}, {"Game/mine", "mine"}}));
}

TEST_F(StageTest, WhatAnOlderGalleyPutThereGoes) {
  const Files old = {{"Game/a", "a"}, {"Game/b", "b"}};
  for (const bool is_interrupted : {false, true}) {
    fs::remove_all(sandbox_);
    Write("Game/a", "a");
    Write("Game/b", "b");
    Write("Game/beside", "of a narrow cook");
    Write("Game/mine", "mine");
    const std::string root = Tree(old).ToString();
    const std::string text =
        is_interrupted ? "root " + root + "\npath Game/beside\n" : root + "\nGame/beside\n";
    ASSERT_TRUE(
        WriteFileAtomic(Path(is_interrupted ? ".galley-root.pending" : ".galley-root"), text).ok());
    ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
    EXPECT_EQ(Held(), (Files{{"Game/a", "a"}, {"Game/mine", "mine"}}));
  }
}

TEST_F(StageTest, AnInterruptedStageLeavesOtherFilesAloneToo) {
  ASSERT_TRUE(StageBook({{"Game/a", "1"}, {"Game/gone/b", "2"}}).ok());
  Write("Game/mine", "mine");
  store_.file_reads_left = 2;
  EXPECT_FALSE(StageBook({{"Game/a", "3"}, {"Game/c", "4"}, {"Game/d", "5"}}).ok());
  ASSERT_TRUE(StageBook({{"Game/d", "5"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/d", "5"}, {"Game/mine", "mine"}}));
}

// A file that somebody puts at a path that an interrupted stage had not reached is not Galley's.
TEST_F(StageTest, AFileAtAPathThatWasOnlyPlannedIsNotReplaced) {
  for (const bool is_first : {true, false}) {
    ASSERT_TRUE(RemoveAll(sandbox_).ok());
    ASSERT_TRUE(CreateDirectories(sandbox_).ok());
    Sandbox sandbox = Sandbox::Open(sandbox_).value();
    ASSERT_TRUE(BeginStaging(sandbox, {.is_whole = true}).ok());  // as ClaimSandbox does
    ASSERT_TRUE(is_first || StageBook({{"Game/a", "1"}}).ok());
    store_.file_reads_left = 2;
    EXPECT_FALSE(StageBook({{"Game/a", "2"}, {"Game/b", "3"}, {"Game/c", "4"}}).ok());
    ASSERT_EQ(Held()["Game/a"], "2") << "the first was written";
    Write("Game/b", "mine");
    for (const bool by_the_book : {true, false}) {
      const Files files = {{"Game/b", "5"}, {"Game/c", "6"}};
      const absl::Status status = (by_the_book ? StageBook(files) : StageNarrow(files)).status();
      EXPECT_TRUE(absl::IsFailedPrecondition(status));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(fmt::format("{} was not put there by Galley", Path("Game/b"))));
    }
    EXPECT_EQ(StageBook({{"Game/c", "6"}}).value().foreign, std::vector<std::string>{"Game/b"});
    EXPECT_EQ(Held(), (Files{{"Game/b", "mine"}, {"Game/c", "6"}}));
  }
}

// Staged files are not synced: after a power cut they may have no bytes, or zero bytes.
TEST_F(StageTest, WhatAPowerCutLeftOfAFirstStageIsGalleys) {
  ASSERT_TRUE(CreateDirectories(sandbox_).ok());
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  ASSERT_TRUE(BeginStaging(sandbox, {.is_whole = true}).ok());  // as ClaimSandbox does
  const Files files = {{"Game/a", "11"}, {"Game/b", "22"}, {"Game/c", "33"}, {"Game/d", "44"}};
  store_.file_reads_left = 4;
  EXPECT_FALSE(StageBook(files).ok());
  const auto cut = [&] {
    Write("Game/a", "");
    Write("Game/b", std::string(2, '\0'));
    Write("Game/c", std::string(1, '\0'));
  };
  cut();
  for (const std::string& mine : {std::string(3, '\0'), std::string("\0x", 2)}) {
    Write("Game/d", mine);
    EXPECT_THAT(std::string(StageBook(files).status().message()),
                HasSubstr(fmt::format("{} was not put there by Galley", Path("Game/d"))));
    EXPECT_EQ(Held()["Game/d"], mine);
  }
  fs::remove(Path("Game/d"));
  store_.file_reads_left = 4;
  EXPECT_FALSE(StageBook(files).ok());
  EXPECT_EQ(Held()["Game/b"], "22");
  cut();
  ASSERT_TRUE(StageBook({{"Game/b", "22"}, {"Game/d", "44"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/b", "22"}, {"Game/d", "44"}}));
}

TEST_F(StageTest, WhatAnInterruptedStageWroteIsGalleysAndIsReadOnce) {
  ASSERT_TRUE(StageBook({{"Game/old", "1"}}).ok());
  store_.file_reads_left = 3;
  EXPECT_FALSE(StageBook({{"Game/a", "2"}, {"Game/b", "3"}, {"Game/c", "4"}}).ok());
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  const Ledger ledger = ReadLedger(sandbox).value();
  EXPECT_THAT(ledger.files, ElementsAre("Game/old"));
  ASSERT_EQ(ledger.planned.size(), 3u);
  EXPECT_EQ(ledger.planned[1].path, "Game/b");
  EXPECT_EQ(ledger.planned[1].digest, Digest::Of("3"));
  // A second interrupt keeps the knowledge of the first.
  store_.file_reads_left = 1;
  EXPECT_FALSE(StageBook({{"Game/a", "2"}, {"Game/d", "5"}}).ok());
  ASSERT_TRUE(StageBook({{"Game/c", "4"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/c", "4"}}));
}

TEST_F(StageTest, AnExactStageRemovesNoBareRepository) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
  for (const std::string repository : {"", "Game/", "backup/game.git/"}) {
    Write(repository + "HEAD", "ref: refs/heads/main");
    Write(repository + "objects/pack/1.pack", "mine");
    EXPECT_TRUE(fs::create_directories(Path(repository + "refs/heads")));
    const Files before = Held();
    const absl::Status status = StageExact({{"Game/a", "new"}}).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << repository;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is of a version control system"));
    EXPECT_EQ(Held(), before);
    for (const char* part : {"HEAD", "objects", "refs"}) fs::remove_all(Path(repository + part));
  }
  // A linked part counts as a part; a part that is a file does not.
  for (const std::string linked : {"objects", "refs"}) {
    Write("Game/g/HEAD", "ref: refs/heads/main");
    for (const std::string part : {"objects", "refs"})
      EXPECT_TRUE(fs::create_directories(Path("Game/g/" + part)));
    fs::remove(Path("Game/g/" + linked));
    fs::create_directory_symlink("/nowhere", Path("Game/g/" + linked));
    EXPECT_TRUE(absl::IsFailedPrecondition(StageExact({{"Game/a", "new"}}).status())) << linked;
    fs::remove(Path("Game/g/" + linked));
    Write("Game/g/" + linked, "a file");
    EXPECT_TRUE(StageExact({{"Game/a", "a"}}).ok()) << linked;
    EXPECT_EQ(Held(), (Files{{"Game/a", "a"}}));
  }
  // A cooked folder that looks like a repository is no repository.
  const Files tree = {{"r/HEAD", "a"}, {"r/objects/b", "b"}, {"r/refs/c", "c"}};
  ASSERT_TRUE(StageExact(tree).ok());
  ASSERT_TRUE(StageExact(tree).ok());
  ASSERT_TRUE(StageExact({{"r", "d"}}).ok());
  EXPECT_EQ(Held(), (Files{{"r", "d"}}));
}

TEST_F(StageTest, AnExactStageRemovesNoRepository) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
  Write("Game/.git/HEAD", "mine");
  EXPECT_EQ(StageBook({{"Game/a", "a"}}).value().foreign_count, 1u);
  const absl::Status status = StageExact({{"Game/a", "new"}}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("Game/.git")));
  EXPECT_EQ(Held(), (Files{{"Game/.git/HEAD", "mine"}, {"Game/a", "a"}}));
}

TEST_F(StageTest, AnExactStageRemovesNoRepositoryOfAnySystem) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
  for (const std::string name : {".plastic/plastic.workspace", ".repo/manifest.xml", ".fslckout",
                                 "_FOSSIL_", ".pijul/config"}) {
    Write("Game/" + name, "mine");
    const Files before = Held();
    const absl::Status status = StageExact({{"Game/a", "new"}}).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is of a version control system"));
    EXPECT_EQ(Held(), before);
    fs::remove_all(Path("Game/" + name.substr(0, name.find('/'))));
  }
}

TEST_F(StageTest, ANarrowCookAddsAndReplacesAndKeepsTheRest) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}, {"Game/b", "b"}}).ok());
  ASSERT_TRUE(StageNarrow({{"Game/b", "B"}, {"Game/c", "c"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "a"}, {"Game/b", "B"}, {"Game/c", "c"}}));
}

TEST_F(StageTest, ANarrowCookRemovesTheOutputsOfItsFailedPackagesOnly) {
  ASSERT_TRUE(StageBook({{"Game/x.png.ktx2", "1"},
                         {"Game/x.png.d/small.ktx2", "2"},
                         {"Game/x.pngs", "3"},
                         {"Game/y.png.ktx2", "4"}})
                  .ok());
  Write("Game/x.png.note", "mine");
  const StageReport report = StageNarrow({{"Game/z", "z"}}, {"Game/x.png"}).value();
  EXPECT_EQ(report.removed, 2u);
  EXPECT_EQ(Held(), (Files{{"Game/x.png.note", "mine"},
                           {"Game/x.pngs", "3"},
                           {"Game/y.png.ktx2", "4"},
                           {"Game/z", "z"}}));
}

TEST_F(StageTest, ANarrowCookKeepsTheOutputsOfAPackageNamedLikeAnOutputOfAFailedOne) {
  ASSERT_TRUE(StageBook({{"Game/t.json.cbor", "1"},
                         {"Game/t.json.meta", "2"},
                         {"Game/t.json.meta.cbor", "3"},
                         {"Game/t.json.d/x.bin", "4"},
                         {"Game/t.json.d/y.bin", "5"}})
                  .ok());
  ASSERT_TRUE(
      Stage(store_, StageOptions{.directory = sandbox_,
                                 .root = Tree({}),
                                 .by_the_book = false,
                                 .failed_packages = {"Game/t.json"},
                                 .packages_beside = {"Game/t.json.d/x.bin", "Game/t.json.meta"}})
          .ok());
  EXPECT_EQ(Held(), (Files{{"Game/t.json.meta", "2"},
                           {"Game/t.json.meta.cbor", "3"},
                           {"Game/t.json.d/x.bin", "4"}}));
}

TEST_F(StageTest, AFailedPackageIsRemovedThoughNarrowCooksCameBetween) {
  ASSERT_TRUE(StageBook({{"Game/x.png.ktx2", "1"}, {"Game/y.png.ktx2", "2"}}).ok());
  ASSERT_TRUE(StageNarrow({{"Game/y.png.ktx2", "3"}}).ok());
  ASSERT_TRUE(StageNarrow({{"Game/z", "4"}}).ok());
  ASSERT_TRUE(StageNarrow({}, {"Game/x.png"}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/y.png.ktx2", "3"}, {"Game/z", "4"}}));
}

TEST_F(StageTest, AnInterruptIsNoticedAmongFailedPackages) {
  ASSERT_TRUE(StageBook({{"Game/x.png.ktx2", "1"}}).ok());
  const std::atomic<bool> interrupted = true;
  const absl::Status status = Stage(store_, StageOptions{.directory = sandbox_,
                                                         .root = Tree({}),
                                                         .by_the_book = false,
                                                         .failed_packages = {"Game/x.png"},
                                                         .interrupted = &interrupted})
                                  .status();
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_TRUE(FileExists(Path(".galley-root"))) << "nothing was begun";
}

TEST_F(StageTest, AFailedPackageIsRemovedAfterAnInterruptedStage) {
  ASSERT_TRUE(StageBook({{"Game/x.png.ktx2", "1"}}).ok());
  store_.file_reads_left = 2;
  EXPECT_FALSE(StageNarrow({{"Game/a.png.ktx2", "a"}, {"Game/b", "b"}}).ok());
  ASSERT_TRUE(StageNarrow({{"Game/b", "b"}}, {"Game/a.png", "Game/x.png"}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/b", "b"}}));
}

TEST_F(StageTest, AForeignFolderInAFilesPlaceIsNotRemoved) {
  Write("Game/a/deep/mine.txt", "mine");
  for (const bool by_the_book : {true, false}) {
    const absl::Status status =
        (by_the_book ? StageBook({{"Game/a", "a"}}) : StageNarrow({{"Game/a", "a"}})).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(Path("Game/a/deep/mine.txt")));
    EXPECT_EQ(Held(), (Files{{"Game/a/deep/mine.txt", "mine"}}));
  }
  ASSERT_TRUE(StageExact({{"Game/a", "a"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "a"}}));
}

TEST_F(StageTest, AnEmptyFolderInAFilesPlaceGoes) {
  for (const bool by_the_book : {true, false}) {
    fs::remove_all(sandbox_);
    fs::create_directories(Path("Game/a/empty"));
    ASSERT_TRUE((by_the_book ? StageBook({{"Game/a", "a"}}) : StageNarrow({{"Game/a", "a"}})).ok());
    EXPECT_EQ(Held(), (Files{{"Game/a", "a"}}));
  }
}

TEST_F(StageTest, AForeignFileInAFoldersPlaceIsNotRemoved) {
  Write("Game", "a file where a folder must be");
  for (const bool by_the_book : {true, false}) {
    const absl::Status status =
        (by_the_book ? StageBook({{"Game/a", "a"}}) : StageNarrow({{"Game/a", "a"}})).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(Path("Game")));
    EXPECT_EQ(Held(), (Files{{"Game", "a file where a folder must be"}}));
  }
  ASSERT_TRUE(StageExact({{"Game/a", "a"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "a"}}));
}

TEST_F(StageTest, AForeignFileInAFilesPlaceIsNotReplaced) {
  const Files held = {{"Game/a", "mine"}, {"Game/b", "b"}, {"Game/c", "link"}};
  ASSERT_TRUE(StageBook({{"Game/b", "b"}}).ok());
  Write("Game/a", "mine");
  fs::create_symlink("/nowhere", Path("Game/c"));
  for (const char* path : {"Game/a", "Game/c"}) {
    for (const bool by_the_book : {true, false}) {
      const Files files = {{path, "cooked"}, {"Game/b", "b"}};
      const absl::Status status = (by_the_book ? StageBook(files) : StageNarrow(files)).status();
      EXPECT_TRUE(absl::IsFailedPrecondition(status));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(fmt::format("{} was not put there by Galley", Path(path))));
      EXPECT_EQ(Held(), held);
    }
  }
  // A file with the very bytes that are wanted is not in the way, and stays when these bytes are no
  // longer wanted.
  for (const Files& files : {Files{{"Game/a", "mine"}, {"Game/b", "b"}}, Files{{"Game/b", "b"}}}) {
    ASSERT_TRUE(StageBook(files).ok());
    EXPECT_EQ(Held(), held);
  }
  ASSERT_TRUE(StageExact({{"Game/a", "a"}, {"Game/c", "c"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "a"}, {"Game/c", "c"}}));
}

TEST_F(StageTest, OfManyFilesInTheWayTheFirstAreTold) {
  ASSERT_TRUE(StageBook({{"Game/z", "z"}}).ok());
  Write("Game/a", "mine");
  Write("Game/b/mine", "mine");
  Files files = {{"Game/a/x", "x"}, {"Game/a/y", "y"}, {"Game/b", "b"}, {"Game/z", "z"}};
  for (int i = 0; i < 5; ++i) {
    Write(fmt::format("Game/f{}", i), "mine");
    files[fmt::format("Game/f{}", i)] = "cooked";
  }
  const Files held = Held();
  for (const bool by_the_book : {true, false}) {
    const absl::Status status = (by_the_book ? StageBook(files) : StageNarrow(files)).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_EQ(
        status.message(),
        fmt::format("7 files in {} were not put there by Galley, and cooked files need their "
                    "places: Game/a, Game/b/mine, Game/f0, Game/f1, Game/f2 and 2 more: move "
                    "them away{}",
                    sandbox_, by_the_book ? ", or cook with --exact, which removes them" : ""));
    EXPECT_EQ(Held(), held);
  }
}

// An existing file is then most likely an older cook's.
TEST_F(StageTest, ALedgerThatIsCutOffVouchesForNothing) {
  for (const std::string& pending :
       {std::string(), "root " + Digest::Of("root").ToString() + "\npath Game/x\n"}) {
    fs::remove_all(sandbox_);
    ASSERT_TRUE(StageBook({{"Game/a", "old"}}).ok());
    fs::remove(Path(".galley-root"));
    ASSERT_TRUE(WriteFileAtomic(Path(".galley-root.pending"), pending).ok());
    ASSERT_TRUE(StageBook({{"Game/a", "new"}}).ok());
    EXPECT_EQ(Held(), (Files{{"Game/a", "new"}}));
  }
}

TEST_F(StageTest, ALedgerThatNamesAFileTwiceHasItOnce) {
  for (const std::string& paths : {std::string("path Game/x\npath Game/x\n"),
                                   std::string("path Game/x\npath Game/a\npath Game/x\n")}) {
    fs::remove_all(sandbox_);
    ASSERT_TRUE(CreateDirectories(sandbox_).ok());
    ASSERT_TRUE(WriteFileAtomic(Path(".galley-root.pending"),
                                "root " + Digest::Of("root").ToString() + "\n" + paths)
                    .ok());
    Sandbox sandbox = Sandbox::Open(sandbox_).value();
    const Ledger ledger = ReadLedger(sandbox).value();
    EXPECT_EQ(std::ranges::count(ledger.files, "Game/x"), 1) << paths;
  }
}

TEST_F(StageTest, WhenTheLedgerIsLostAFileInAFilesPlaceIsReplaced) {
  ASSERT_TRUE(StageBook({{"Game/a", "old"}}).ok());
  fs::remove(Path(".galley-root"));
  ASSERT_TRUE(StageBook({{"Game/a", "new"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "new"}}));
}

TEST_F(StageTest, InterruptedAtAnyFileTheNextStageCompletesIt) {
  const Files before = {{"Game/a", "1"}, {"Game/b", "2"}, {"Game/gone/c", "3"}, {"Game/x", "4"}};
  const Files after = {{"Game/a", "5"}, {"Game/b", "6"}, {"Game/n/d", "7"}, {"Game/x/y", "8"}};
  for (int reads = 1; reads <= 4; ++reads) {
    ASSERT_TRUE(StageBook(before).ok());
    store_.file_reads_left = reads;
    EXPECT_TRUE(absl::IsUnavailable(StageBook(after).status())) << reads;
    EXPECT_EQ(Marker(), "absent") << reads;
    const StageReport report = StageBook(after).value();
    EXPECT_EQ(report.unchanged, static_cast<uint64_t>(reads - 1));
    EXPECT_EQ(Held(), after) << reads;
    EXPECT_EQ(Marker(), Tree(after).ToString());
  }
}

// A stage that is interrupted at its very end, or at its very beginning, leaves such a sandbox.
TEST_F(StageTest, AMarkerBesideWhatSaysInterruptedIsBelievedAndTheLatterGoes) {
  const Files files = {{"Game/a", "1"}, {"Game/b", "2"}};
  ASSERT_TRUE(StageBook(files).ok());
  ASSERT_TRUE(
      WriteFileAtomic(Path(".galley-root.pending"), "root " + Tree(files).ToString() + "\n").ok());
  TakeRepairs();
  const StageReport report = StageBook(files).value();
  EXPECT_EQ(report.written, 0u);
  EXPECT_EQ(report.unchanged, 2u);
  EXPECT_FALSE(fs::exists(Path(".galley-root.pending")));
  EXPECT_EQ(Marker(), Tree(files).ToString());
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(StageTest, AfterAnInterruptionFilesOfEqualSizeAreComparedByDigest) {
  ASSERT_TRUE(StageBook({{"Game/a", "1"}, {"Game/b", "2"}}).ok());
  store_.file_reads_left = 2;
  EXPECT_FALSE(StageBook({{"Game/a", "3"}, {"Game/b", "4"}}).ok());
  ASSERT_TRUE(StageBook({{"Game/a", "1"}, {"Game/b", "2"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "1"}, {"Game/b", "2"}}));
}

TEST_F(StageTest, ADamagedMarkerCostsAComparisonOnly) {
  const Files files = {{"Game/a", "a"}};
  ASSERT_TRUE(StageBook(files).ok());
  Write("Game/a", "X");
  ASSERT_TRUE(WriteFileAtomic(Path(".galley-root"), "rubbish\n../../etc").ok());
  TakeRepairs();
  EXPECT_EQ(StageBook(files).value().written, 1u);
  EXPECT_EQ(Held(), files);
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it was written anew")));
}

TEST_F(StageTest, EachDamageOfTheMarkerIsFoundToldOnceAndPutRight) {
  const Files files = {{"Game/a", "a"}, {"Game/b", "b"}};
  ASSERT_TRUE(StageBook(files).ok());
  Write("Game/c", "a person's");
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  const std::string good = ReadFile(Path(".galley-root")).value();
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    ASSERT_TRUE(WriteFileAtomic(Path(".galley-root"), bad).ok());
    EXPECT_EQ(ReadLedger(sandbox).value().damage.size(), 1u) << at;
    ASSERT_TRUE(StageBook(files).ok()) << at;
    EXPECT_THAT(ReadLedger(sandbox).value().damage, IsEmpty()) << at;
    EXPECT_EQ(ReadFile(Path("Game/c")).value(), "a person's");
  }
}

// Galley's files go, and a person's files stay, as if the marker were whole.
TEST_F(StageTest, WithoutItsMarkerASandboxIsKnownByTheRootsThatWerePublished) {
  for (const bool is_deleted : {false, true}) {
    SCOPED_TRACE(is_deleted);
    fs::remove_all(sandbox_);
    const Files before = {{"Game/a", "a"}, {"Game/b", "b"}};
    ASSERT_TRUE(StageBook(before).ok());
    Write("Game/mine", "a person's");
    const auto damage = [&] {
      if (is_deleted) {
        fs::remove(Path(".galley-root"));
      } else {
        ASSERT_TRUE(WriteFileAtomic(Path(".galley-root"), "rubbish\n").ok());
      }
    };
    damage();
    StageOptions options{.directory = sandbox_, .root = Tree({{"Game/a", "a"}})};
    options.earlier_roots = {options.root, Tree(before)};
    const auto staged = Stage(store_, options);
    ASSERT_TRUE(staged.ok()) << staged.status();
    EXPECT_EQ(staged->removed, 1u);
    EXPECT_EQ(staged->foreign_count, 1u);
    EXPECT_EQ(Held(), (Files{{"Game/a", "a"}, {"Game/mine", "a person's"}}));
    damage();
    options.root = Tree({{"Game/a", "a"}, {"Game/mine", "cooked"}});
    options.earlier_roots.insert(options.earlier_roots.begin(), options.root);
    EXPECT_TRUE(absl::IsFailedPrecondition(Stage(store_, options).status()));
    EXPECT_EQ(ReadFile(Path("Game/mine")).value(), "a person's");
  }
}

TEST_F(StageTest, AFolderInThePlaceOfTheMarkerIsMovedAside) {
  for (const char* name : {".galley-root", ".galley-root.pending", ".galley-root.files"}) {
    const Files files = {{"Game/a", name}};
    ASSERT_TRUE(StageBook({{"Game/a", "a"}}).ok());
    fs::remove(Path(name));
    fs::create_directories(Path(name));
    Write(std::string(name) + "/mine", "a person's");
    TakeRepairs();
    ASSERT_TRUE(StageBook(files).ok());
    EXPECT_THAT(TakeRepairs(),
                ::testing::Contains(HasSubstr("it is a folder; it was moved aside")));
    ASSERT_TRUE(StageBook(files).ok());
    EXPECT_THAT(TakeRepairs(), IsEmpty());
    EXPECT_EQ(ReadFile(Path(std::string(name) + ".broken-1/mine")).value(), "a person's");
  }
}

// Another file of the last root, and a file less.
TEST_F(StageTest, AnOlderMarkerThatWasPutBackCostsAComparisonOnly) {
  ASSERT_TRUE(StageBook({{"Game/a", "a"}, {"Game/b", "b"}}).ok());
  const std::string older = ReadFile(Path(".galley-root")).value();
  const Files files = {{"Game/a", "A"}, {"Game/c", "c"}};
  ASSERT_TRUE(StageBook(files).ok());
  ASSERT_TRUE(WriteFileAtomic(Path(".galley-root"), older).ok());
  const auto staged = StageBook(files);
  ASSERT_TRUE(staged.ok()) << staged.status();
  EXPECT_EQ(Held(), files);
}

// --- Stages of a difference.

class StageChangesTest : public StageTest {
 protected:
  void SetUp() override {
    StageTest::SetUp();
    for (int i = 0; i < 20; ++i) files_[fmt::format("Game/d{}/f{:02}", i % 3, i)] = "0";
    ASSERT_TRUE(StageBook(files_).ok());
    Write("mine", "a person's");
  }
  // Stages `files` as a difference from files_. nullopt: a whole stage must do it.
  absl::StatusOr<std::optional<StageReport>> Change(const Files& files) {
    return StageChanges(store_, {.directory = sandbox_, .root = Tree(files)}, Tree(files_));
  }
  void Edit(const std::string& path, const std::string& text) {
    Files files = files_;
    files[path] = text;
    const auto report = Change(files);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_TRUE(report->has_value());
    EXPECT_EQ((*report)->written, 1u);
    EXPECT_EQ((*report)->unchanged, files_.size() - 1);
    files_ = files;
  }
  Ledger Read() const {
    Sandbox sandbox = Sandbox::Open(sandbox_).value();
    return ReadLedger(sandbox).value();
  }
  bool IsBrief() const { return FileExists(Path(kFilesName)); }
  std::optional<BriefLedger> ReadBrief() const {
    Sandbox sandbox = Sandbox::Open(sandbox_).value();
    return ReadBriefLedger(sandbox).value();
  }
  FileStamp StampOf(const std::string& path) const {
    const FileStat stat = StatFile(Path(path)).value();
    return {stat.mtime_ns, stat.ctime_ns, stat.inode};
  }
  // Expects that the ledger names all of files_, as they lie there.
  void ExpectAllIsSaid() const {
    const Ledger ledger = Read();
    EXPECT_TRUE(ledger.is_whole && ledger.is_sealed && ledger.is_closed);
    EXPECT_THAT(ledger.damage, IsEmpty());
    ASSERT_EQ(ledger.files.size(), files_.size());
    ASSERT_EQ(ledger.stamps.size(), files_.size());
    for (size_t f = 0; f < ledger.files.size(); ++f)
      EXPECT_EQ(ledger.stamps[f], StampOf(ledger.files[f])) << ledger.files[f];
  }
  Files HeldOfGalley() const {
    Files held = Held();
    held.erase("mine");
    return held;
  }

  Files files_;
};

TEST_F(StageChangesTest, TheLedgerSaysAllWhateverWasReplaced) {
  for (int i = 0; i < 5; ++i) {
    Edit("Game/d0/f03", fmt::format("edit {}", i));
    Edit("Game/d1/f07", fmt::format("of {}", i));
    EXPECT_TRUE(IsBrief());
    EXPECT_LT(StatFile(Path(kMarkerName))->size_bytes, 1000u);
    EXPECT_EQ(Marker(), Tree(files_).ToString());
    EXPECT_EQ(HeldOfGalley(), files_);
    EXPECT_EQ(Read().exact, Tree(files_));
    ExpectAllIsSaid();
  }
  // A whole stage goes on from there: writes nothing, removes what goes, and keeps the rest.
  EXPECT_EQ(StageBook(files_).value().written, 0u);
  files_.erase("Game/d0/f03");
  const StageReport report = StageBook(files_).value();
  EXPECT_EQ(report.removed, 1u);
  EXPECT_THAT(report.foreign, ElementsAre("mine"));
  EXPECT_FALSE(IsBrief());
  EXPECT_EQ(HeldOfGalley(), files_);
}

TEST_F(StageChangesTest, AWholeStageOfTheSameRootComparesWhatWasReplacedOnce) {
  Edit("Game/d0/f03", "edit");
  Edit("Game/d1/f07", "edit");
  EXPECT_EQ(StageBook(files_).value().written, 0u);
  EXPECT_FALSE(IsBrief());
  ExpectAllIsSaid();
  LetTimePass();
  const FileStat noted = StatFile(Path(kMarkerName)).value();
  EXPECT_EQ(StageBook(files_).value().written, 0u);
  EXPECT_EQ(StatFile(Path(kMarkerName)).value(), noted);
}

// Within the tick of time stamps, so that the stamp stays the same.
TEST_F(StageChangesTest, AFileThatSomebodyChangedAfterItWasReplacedIsFoundHoweverManyFollow) {
  Edit("Game/d0/f03", "edit");
  Write("Game/d0/f03", "EDIT");
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  BriefLedger brief = ReadBriefLedger(sandbox).value().value();
  ASSERT_TRUE(BeginReplacing(sandbox, brief, brief.root).ok());
  brief.replaced["Game/d0/f03"] = StampOf("Game/d0/f03");
  ASSERT_TRUE(EndReplacing(sandbox, brief).ok());
  Edit("Game/d1/f07", "edit");
  LetTimePass();
  EXPECT_EQ(StageBook(files_).value().written, 1u);
  EXPECT_EQ(HeldOfGalley(), files_);
}

// Galley's files are known, and the next stage completes the work.
TEST_F(StageChangesTest, InterruptedAtAnyFileTheNextStageCompletesIt) {
  for (const bool was_brief : {false, true}) {
    for (int reads = 1; reads <= 3; ++reads) {
      ASSERT_TRUE(StageBook(files_).ok());
      if (was_brief) Edit("Game/d2/f02", fmt::format("brief {}", reads));
      Files after = files_;
      for (const char* path : {"Game/d0/f00", "Game/d1/f01", "Game/d2/f05"})
        after[path] = fmt::format("{} {} {}", was_brief, reads, path);
      store_.file_reads_left = reads;
      EXPECT_TRUE(absl::IsUnavailable(Change(after).status()));
      EXPECT_EQ(Marker(), "absent");
      const Ledger ledger = Read();
      EXPECT_FALSE(ledger.exact.has_value());
      EXPECT_TRUE(ledger.is_whole);
      EXPECT_THAT(ledger.roots, ElementsAre(Tree(files_), Tree(after)));
      EXPECT_EQ(ledger.files.size(), files_.size());
      EXPECT_FALSE(Change(after).value().has_value()) << "a whole stage must look at all";
      after.erase("Game/d0/f03");
      const StageReport report = StageBook(after).value();
      EXPECT_EQ(report.removed, 1u);
      EXPECT_THAT(report.foreign, ElementsAre("mine"));
      EXPECT_EQ(HeldOfGalley(), after);
      EXPECT_EQ(Marker(), Tree(after).ToString());
      after["Game/d0/f03"] = "0";
      files_ = after;
      ASSERT_TRUE(StageBook(files_).ok());
    }
  }
}

// Kills the stage between any two steps that change the files of the ledger; the test makes the
// states by hand.
TEST_F(StageChangesTest, CutOffBetweenAnyTwoStepsTheNextStageCompletesIt) {
  struct Texts {
    std::optional<std::string> marker, pending, files;
  };
  struct Cut {
    std::string where;
    Files held;
    Texts texts;
    std::optional<Digest> exact;  // the root that the ledger names
  };
  const auto read = [&](std::string_view name) {
    const absl::StatusOr<std::string> text = ReadFile(Path(name));
    return text.ok() ? std::optional(*text) : std::nullopt;
  };
  const auto texts = [&] { return Texts{read(kMarkerName), read(kPendingName), read(kFilesName)}; };
  const auto put = [&](std::string_view name, const std::optional<std::string>& text) {
    ASSERT_TRUE(RemoveAll(Path(name)).ok());
    if (text) Write(name, *text);
  };
  const std::vector<std::string> changed = {"Game/d0/f00", "Game/d1/f01"};
  for (const bool was_brief : {false, true}) {
    ASSERT_TRUE(StageBook(files_).ok());
    if (was_brief) Edit("Game/d2/f02", "brief");
    const Files before = files_;
    Files after = files_;
    for (const std::string& path : changed) after[path] = fmt::format("{} {}", was_brief, path);
    const Digest root_before = Tree(before), root_after = Tree(after);
    // The steps of a stage.
    const Texts old = texts();
    Sandbox sandbox = Sandbox::Open(sandbox_).value();
    BriefLedger brief = was_brief ? *ReadBrief() : *BriefOf(Read());
    ASSERT_TRUE(BeginReplacing(sandbox, brief, root_after).ok());
    const Texts begun = texts();
    for (const std::string& path : changed) {
      Write(path, after[path]);
      brief.replaced[path] = StampOf(path);
    }
    ASSERT_TRUE(EndReplacing(sandbox, brief).ok());
    const Texts ended = texts();
    EXPECT_TRUE(ReadBrief().has_value());
    put(kPendingName, begun.pending);
    EXPECT_FALSE(ReadBrief().has_value()) << "though all that it names is there";
    put(kPendingName, std::nullopt);
    const Ledger ledger = Read();
    ASSERT_TRUE(EndStaging(sandbox, root_after, ledger.files, ledger.stamps).ok());
    const Texts whole = texts();
    EXPECT_FALSE(begun.marker || ended.pending || whole.pending || whole.files);
    for (const Cut& cut : std::vector<Cut>{
             {"pending is there", before, {old.marker, begun.pending, old.files}, root_before},
             {"the marker is gone", before, begun, std::nullopt},
             {"the files are there", after, begun, std::nullopt},
             {"a brief marker", after, {ended.marker, begun.pending, ended.files}, root_after},
             {"a whole marker", after, {whole.marker, begun.pending, ended.files}, root_after},
             {"pending is gone", after, {whole.marker, {}, ended.files}, root_after}}) {
      SCOPED_TRACE(fmt::format("{}{}", cut.where, was_brief ? ", was brief" : ""));
      for (const auto& [path, text] : cut.held) Write(path, text);
      put(kMarkerName, cut.texts.marker);
      put(kPendingName, cut.texts.pending);
      put(kFilesName, cut.texts.files);
      const Ledger found = Read();
      EXPECT_THAT(found.damage, IsEmpty());
      EXPECT_EQ(found.exact, cut.exact);
      EXPECT_TRUE(found.is_whole);
      EXPECT_EQ(found.files.size(), after.size());
      files_ = before;
      EXPECT_FALSE(Change(after).value().has_value()) << "a whole stage must look at all";
      files_ = after;
      files_["Game/d1/f01"] = "next";
      files_.erase("Game/d0/f03");
      const StageReport report = StageBook(files_).value();
      EXPECT_EQ(report.removed, 1u);
      EXPECT_THAT(report.foreign, ElementsAre("mine"));
      EXPECT_EQ(HeldOfGalley(), files_) << "nothing pending either";
      EXPECT_FALSE(IsBrief());
      ExpectAllIsSaid();
    }
    files_ = before;
  }
}

TEST_F(StageChangesTest, EachDamagedByteOfTheLedgerIsFound) {
  Edit("Game/d0/f03", "edit");
  Files after = files_;
  after["Game/d1/f01"] = "other";
  // The marker first: its word on the other file holds until the other file is written.
  for (const std::string_view name : {kMarkerName, kFilesName}) {
    const std::string good = ReadFile(Path(name)).value();
    for (size_t at = 0; at < good.size(); ++at) {
      SCOPED_TRACE(fmt::format("{} {}", name, at));
      ASSERT_EQ(ReadBrief().has_value(), name == kMarkerName || at == 0);
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1);
      ASSERT_TRUE(WriteFileAtomic(Path(name), bad).ok());
      EXPECT_FALSE(ReadBrief().has_value());
      EXPECT_EQ(Read().damage.size(), 1u);
      EXPECT_FALSE(Read().is_whole);
      EXPECT_FALSE(Change(after).value().has_value());
      ASSERT_TRUE(WriteFileAtomic(Path(name), good).ok());
    }
  }
}

TEST_F(StageChangesTest, DamageOfTheLedgerIsToldAndPutRight) {
  for (const std::string_view name : {kMarkerName, kFilesName}) {
    for (const size_t at : {0, 80, 150, 200}) {
      SCOPED_TRACE(fmt::format("{} {}", name, at));
      Edit("Game/d0/f03", fmt::format("edit {} {}", name, at));
      std::string bad = ReadFile(Path(name)).value();
      ASSERT_LT(at, bad.size());
      bad[at] = static_cast<char>(bad[at] ^ 1);
      ASSERT_TRUE(WriteFileAtomic(Path(name), bad).ok());
      TakeRepairs();
      StageOptions options{.directory = sandbox_, .root = Tree(files_)};
      options.earlier_roots = {options.root};
      ASSERT_TRUE(Stage(store_, options).ok());
      // The damage is told once.
      EXPECT_EQ(TakeRepairs().size(), at == 0 ? 1u : 0u);
      ExpectAllIsSaid();
      EXPECT_FALSE(IsBrief());
      EXPECT_EQ(ReadFile(Path("mine")).value(), "a person's");
    }
  }
}

TEST_F(StageChangesTest, FilesOfAnotherTimeAreNotTakenForThoseThatAreMeant) {
  Edit("Game/d0/f03", "edit");
  const std::string older = ReadFile(Path(kFilesName)).value();
  files_.erase("Game/d1/f07");
  ASSERT_TRUE(StageBook(files_).ok());
  Edit("Game/d0/f03", "again");
  ASSERT_TRUE(WriteFileAtomic(Path(kFilesName), older).ok());
  EXPECT_THAT(Read().damage, ElementsAre(HasSubstr("is of another time")));
  ASSERT_TRUE(RemoveAll(Path(kFilesName)).ok());
  EXPECT_THAT(Read().damage, ElementsAre(HasSubstr("is gone")));
  ASSERT_TRUE(StageBook(files_).ok());
  EXPECT_EQ(HeldOfGalley(), files_);
}

TEST_F(StageChangesTest, ReplacedFilesThatTheOtherFileDoesNotNameAreDamage) {
  Edit("Game/d0/f03", "edit");
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  BriefLedger brief = ReadBriefLedger(sandbox).value().value();
  ASSERT_TRUE(BeginReplacing(sandbox, brief, brief.root).ok());
  brief.replaced["Game/z"] = StampOf("Game/d0/f03");
  ASSERT_TRUE(EndReplacing(sandbox, brief).ok());
  EXPECT_THAT(Read().damage, ElementsAre(HasSubstr("other files than there are")));
  ASSERT_TRUE(StageBook(files_).ok());
  EXPECT_FALSE(IsBrief());
  ExpectAllIsSaid();
}

TEST_F(StageChangesTest, WhenMuchWasReplacedTheMarkerNamesAllAgain) {
  files_.clear();
  for (size_t i = 0; i <= kReplacedMax; ++i) files_[fmt::format("Game/{}", i)] = "0";
  ASSERT_TRUE(StageBook(files_).ok());
  const auto change_from = [&](size_t first, const std::string& text) {
    Files after = files_;
    for (size_t i = first; i <= kReplacedMax; ++i) after[fmt::format("Game/{}", i)] = text;
    const auto report = Change(after);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_TRUE(report->has_value());
    files_ = after;
  };
  // Replaces kReplacedMax files, and one more.
  change_from(1, "1");
  EXPECT_TRUE(IsBrief());
  EXPECT_EQ(ReadBrief()->replaced.size(), kReplacedMax);
  Edit("Game/0", "1");
  EXPECT_FALSE(IsBrief());
  ExpectAllIsSaid();
  EXPECT_EQ(HeldOfGalley(), files_);
  EXPECT_EQ(Marker(), Tree(files_).ToString());
  // Edits all files at once.
  change_from(0, "2");
  EXPECT_FALSE(IsBrief());
  ExpectAllIsSaid();
  EXPECT_EQ(HeldOfGalley(), files_);
  Edit("Game/7", "3");
  EXPECT_TRUE(IsBrief());
}

TEST_F(StageTest, AMissingBlobLeavesTheSandboxUntouched) {
  const Files before = {{"Game/a", "a"}};
  ASSERT_TRUE(StageBook(before).ok());
  const Digest root = Tree({{"Game/b", "lost"}});
  store_.Drop(Digest::Of("lost"));
  const absl::Status status =
      Stage(store_, StageOptions{.directory = sandbox_, .root = root}).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Game/b"));
  EXPECT_EQ(Held(), before);
  EXPECT_NE(Marker(), "absent");
}

// A few blobs are gone, and a few wrong: whoever makes them again wants to know all.
TEST_F(StageTest, AllThatIsLostIsFoundInOneGoAndTheRestIsWritten) {
  Files files;
  for (int i = 0; i < 600; ++i) files[fmt::format("Game/{}", i)] = fmt::format("bytes of {}", i);
  for (int i = 0; i < 600; i += 10)
    store_.gone.insert(Digest::Of(files[fmt::format("Game/{}", i)]));
  for (int i = 5; i < 600; i += 100)
    store_.wrong.insert(Digest::Of(files[fmt::format("Game/{}", i)]));
  const absl::Status status = StageBook(files).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("(66 files are lost)"));
  EXPECT_EQ(store_.looks, 1);
  EXPECT_LT(store_.lost_reads, 6 + 10) << "of those that are gone hardly one is read";
  EXPECT_EQ(Held().size(), 600u - 66u + 1u) << "and the ledger of what is pending";
  store_.gone.clear();
  store_.wrong.clear();
  EXPECT_EQ(StageBook(files)->written, 66u);
}

TEST_F(StageTest, AnInterruptIsCancelled) {
  const std::atomic<bool> interrupted = true;
  const Digest root = Tree({{"Game/a", "a"}});
  const auto report =
      Stage(store_, StageOptions{.directory = sandbox_, .root = root, .interrupted = &interrupted});
  EXPECT_TRUE(absl::IsCancelled(report.status()));
}

// The interrupt comes while the bytes of the only file are read.
TEST_F(StageTest, AnInterruptIsNoticedBetweenThePiecesOfAFile) {
  for (const size_t size : {size_t{1}, size_t{9} << 20}) {
    const Files before = {{"Game/a", "old"}};
    const Files after = {{"Game/a", std::string(size, 'x')}};
    ASSERT_TRUE(StageBook(before).ok());
    std::atomic<bool> interrupted = false;
    const Digest root = Tree(after);
    store_.interrupts = &interrupted;
    const auto report = Stage(
        store_, StageOptions{.directory = sandbox_, .root = root, .interrupted = &interrupted});
    EXPECT_TRUE(absl::IsCancelled(report.status())) << report.status();
    store_.interrupts = nullptr;
    EXPECT_EQ(Held(Path("Game")), (Files{{"a", "old"}})) << "whole, or not at all";
    EXPECT_EQ(Marker(), "absent");
    EXPECT_EQ(StageBook(after)->written, 1u) << "the next stage takes it up";
    EXPECT_EQ(Held(), after);
  }
}

TEST_F(StageTest, ALargeFileIsWrittenWholeAndItsLossIsTold) {
  const Files files = {{"Game/a", std::string(size_t{9} << 20, 'x') + "!"}, {"Game/b", "b"}};
  EXPECT_EQ(StageBook(files)->written, 2u);
  EXPECT_EQ(Held(), files) << "executable, too";
  const Digest large = Digest::Of(files.at("Game/a"));
  fs::remove_all(sandbox_);
  store_.wrong.insert(large);
  const absl::Status status = StageBook(files).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("staging Game/a"));
  EXPECT_TRUE(FileExists(Path("Game/b"))) << "the others are written all the same";
  EXPECT_FALSE(FileExists(Path("Game/a")));
}

// The interrupt comes at any step of staging.
TEST_F(StageTest, EachStepOfAStageNoticesAnInterrupt) {
  std::atomic<bool> interrupted = false;
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  sandbox.StopOn(&interrupted);
  ASSERT_TRUE(sandbox.Write("folder/a", "a", false).ok());
  const Digest digest = Digest::Of("a");
  const std::vector<std::pair<const char*, std::function<absl::Status()>>> steps = {
      {"looking", [&] { return sandbox.Look("folder/a").status(); }},
      {"listing", [&] { return sandbox.Names("folder").status(); }},
      {"hashing", [&] { return sandbox.Holds("folder/a", digest).status(); }},
      {"looking for zeros", [&] { return sandbox.IsBlank("folder/a", 1).status(); }},
      {"writing anew", [&] { return sandbox.Write("folder/b", "b", false); }},
      {"replacing", [&] { return sandbox.Write("folder/a", "b", false); }},
      {"removing", [&] { return sandbox.RemoveFile("folder/a"); }},
  };
  interrupted = true;
  for (const auto& [what, step] : steps) EXPECT_TRUE(absl::IsCancelled(step())) << what;
  interrupted = false;
  EXPECT_EQ(sandbox.Names("folder").value(), std::vector<std::string>{"a"});
  EXPECT_TRUE(sandbox.Holds("folder/a", digest).value());
}

TEST_F(StageTest, ALinkPlantedInTheSandboxLeadsNothingOutside) {
  const std::string outside = JoinPath(folder_, "outside");
  fs::create_directories(outside);
  ASSERT_TRUE(WriteFileAtomic(JoinPath(outside, "a"), "precious").ok());
  for (const bool is_exact : {true, false}) {
    fs::remove_all(sandbox_);
    fs::create_directories(sandbox_);
    fs::create_symlink(outside, Path(is_exact ? "Game" : "Gone"));     // in the place of a folder
    fs::create_symlink(JoinPath(outside, "a"), Path("top"));           // in the place of a file
    fs::create_symlink(outside, Path("stale"));                        // in nobody's place
    fs::create_symlink(JoinPath(outside, "m"), Path(".galley-root"));  // in the place of the marker
    // In the place of the temporary file.
    fs::create_symlink(JoinPath(outside, "t"), Path(".galley-new~"));
    const Files files = {{"Game/a", "cooked"}, {"Game/b", "b"}, {"top", "precious"}};
    ASSERT_TRUE((is_exact ? StageExact(files) : StageNarrow(files)).ok());
    EXPECT_EQ(Held(outside), (Files{{"a", "precious"}}));
    Files expected = files;
    if (!is_exact) expected["stale"] = expected["Gone"] = "link";
    EXPECT_EQ(Held(), expected);
  }
}

TEST_F(StageTest, ALinkInTheSandboxStaysAndIsNotFollowed) {
  const std::string outside = JoinPath(folder_, "outside");
  fs::create_directories(outside);
  fs::create_directories(sandbox_);
  fs::create_symlink(outside, Path("Game"));
  for (const bool by_the_book : {true, false}) {
    const Files files = {{"Game/a", "cooked"}};
    EXPECT_TRUE(
        absl::IsFailedPrecondition((by_the_book ? StageBook(files) : StageNarrow(files)).status()));
    EXPECT_EQ(Held(outside), Files());
    EXPECT_EQ(Held(), (Files{{"Game", "link"}}));
  }
  EXPECT_EQ(StageBook({{"a", "a"}}).value().foreign_count, 1u);
  EXPECT_EQ(Held(), (Files{{"Game", "link"}, {"a", "a"}}));
}

// Enough files for several threads; many share folders that do not exist yet.
TEST_F(StageTest, ManyFilesAreWrittenSideBySide) {
  Files files;
  for (int i = 0; i < 3'000; ++i)
    files[fmt::format("Game/{}/{}/{}", i % 3, i % 7, i)] = fmt::format("bytes {}", i % 500);
  files["Game/run"] = "tool!";
  Write("Game/1", "a file in a folder's place");
  const auto report = StageExact(files);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->written, files.size());
  EXPECT_EQ(Held(), files);
  EXPECT_EQ(StageBook(files)->unchanged, files.size());
}

TEST_F(StageTest, WhoHasAFileOpenThatIsReplacedReadsTheOldOneToItsEnd) {
  ASSERT_TRUE(StageBook({{"Game/a", "old"}}).ok());
  const std::string kept = JoinPath(folder_, "kept");
  fs::create_hard_link(Path("Game/a"), kept);
  ASSERT_TRUE(StageBook({{"Game/a", "new"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "new"}}));
  EXPECT_EQ(*ReadFile(kept), "old");
}

TEST_F(StageTest, WhatAnInterruptedStageWasWritingIsRemoved) {
  for (const char* name : {".galley-new~", ".galley-new1~", ".galley-new3~"}) Write(name, "half");
  ASSERT_TRUE(StageNarrow({{"Game/a", "a"}}).ok());
  EXPECT_EQ(Held(), (Files{{"Game/a", "a"}}));
}

TEST_F(StageTest, OfManyFilesOneThatCannotBeReadIsToldAndTheNextStageCompletes) {
  Files files;
  for (int i = 0; i < 1'000; ++i) files[fmt::format("Game/{}", i)] = fmt::format("bytes {}", i);
  const Digest root = Tree(files);
  store_.fails_at = Digest::Of("bytes 999");
  const auto failed = Stage(store_, StageOptions{.directory = sandbox_, .root = root});
  EXPECT_THAT(MessageOf(failed.status()), HasSubstr("Game/999"));
  EXPECT_FALSE(fs::exists(Path(".galley-root")));
  store_.fails_at = Digest();
  ASSERT_TRUE(StageBook(files).ok());
  EXPECT_EQ(Held(), files);
}

TEST_F(StageTest, ATreeThatWantsANameOfStagingsOwnIsRefused) {
  for (const char* name :
       {".galley-root", ".galley-root.pending", ".galley-root.files", ".galley-sandbox"})
    EXPECT_TRUE(absl::IsInvalidArgument(StageBook({{name, "x"}}).status()));
}

TEST_F(StageTest, APathThatIsTooLongBelowTheSandboxIsToldWithItsPackage) {
  std::string path = "Game/a";
  while (sandbox_.size() + path.size() < 4095 - 100) path += "/" + std::string(99, 'd');
  const auto stage = [&](size_t bytes) {
    return Stage(store_, {.directory = sandbox_,
                          .root = Tree({{path + "/" + std::string(bytes, 'x'), "x"}}),
                          .package_of = [](std::string_view) { return "/Game/long"; }});
  };
  const size_t left = 4095 - sandbox_.size() - 1 - path.size() - 1;
  const absl::Status status = stage(left + 1).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("of /Game/long: it would have a path of 4096"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--out"));
  EXPECT_EQ(Held(), Files());
  EXPECT_TRUE(stage(left).ok());
}

TEST_F(StageTest, AFullDiskIsToldWithTheFilesName) {
  EXPECT_EXIT(StageBeyondTheLimit(), ::testing::ExitedWithCode(0), "");
}

// The model: by the book the sandbox equals the tree, and a person's files; a narrow cook is laid
// over it. Interrupted stages come between.
TEST_F(StageTest, RandomHistoriesEndAsTheModelSays) {
  const std::vector<std::string> paths = {"G/a", "G/a/b", "G/a/b/c", "G/d",
                                          "H/a", "H/a.x", "H/a.x/y", "i"};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    fs::remove_all(sandbox_);
    Files held;
    Files mine;
    for (int step = 0; step < 8; ++step) {
      if (random() % 2 == 0) {
        const std::string path = fmt::format("G/mine/{}", step);
        mine[path] = "mine";
        Write(path, "mine");
      }
      Files files;
      for (const std::string& path : paths) {
        const bool fits = std::none_of(files.begin(), files.end(), [&](const auto& f) {
          return path.starts_with(f.first + "/");
        });
        if (fits && random() % 3 == 0)
          files[path] = std::string(1, static_cast<char>('a' + random() % 3));
      }
      store_.Add("");
      const bool by_the_book = random() % 2 == 0;
      if (random() % 2 == 0) {
        store_.file_reads_left = 1 + static_cast<int>(random() % 3);
        (void)(by_the_book ? StageBook(files) : StageNarrow(files));
        store_.file_reads_left = 0;
      }
      const auto report = by_the_book ? StageBook(files) : StageNarrow(files);
      ASSERT_TRUE(report.ok()) << report.status() << " seed " << seed << " step " << step;
      if (by_the_book) held.clear();
      for (const auto& [path, text] : files) {
        std::erase_if(held, [&](const auto& h) {
          return h.first.starts_with(path + "/") || path.starts_with(h.first + "/");
        });
        held[path] = text;
      }
      Files expected = held;
      expected.insert(mine.begin(), mine.end());
      ASSERT_EQ(Held(), expected) << "seed " << seed << " step " << step;
    }
  }
}

TEST_F(StageTest, ACheckoutFillsANewFolderWithoutAMarker) {
  const Files files = {{"Game/a", "a"}, {"b", "run!"}};
  const std::string directory = JoinPath(folder_, "checkout");
  EXPECT_EQ(Checkout(store_, Tree(files), directory).value().written, 2u);
  EXPECT_EQ(Held(directory), files);
  EXPECT_FALSE(FileExists(JoinPath(directory, ".galley-root")));
}

TEST_F(StageTest, ACheckoutIntoAFolderWithFilesIsRefused) {
  Write("mine", "mine");
  EXPECT_TRUE(absl::IsFailedPrecondition(Checkout(store_, Tree({{"a", "a"}}), sandbox_).status()));
  EXPECT_EQ(Held(), (Files{{"mine", "mine"}}));
}

TEST_F(StageTest, AnUnknownRootIsALoss) {
  const auto report =
      Stage(store_, StageOptions{.directory = sandbox_, .root = Digest::Of("no tree")});
  EXPECT_TRUE(absl::IsDataLoss(report.status()));
}

// The store has every blob: whoever made roots again for a loss would do so in vain.
TEST_F(StageTest, ASandboxThatIsRemovedMeanwhileIsNoLoss) {
  const Digest root = Tree({{"Game/b", "b"}});
  store_.files = {Digest::Of("b")};
  store_.when_read = [&] { std::filesystem::remove_all(sandbox_); };
  const absl::Status status =
      Stage(store_, StageOptions{.directory = sandbox_, .root = root}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(absl::IsDataLoss(status)) << status;
}

TEST_F(StageTest, ACheckoutThatWasCutOffIsBegunAnew) {
  const Files files = {{"a", "first"}, {"deep/b", "second"}, {"deep/c", "third!"}};
  const Digest root = Tree(files);
  store_.file_reads_left = 2;
  EXPECT_FALSE(Checkout(store_, root, sandbox_).ok());
  EXPECT_TRUE(FileExists(JoinPath(sandbox_, "a")));
  const auto other = Checkout(store_, Tree({{"x", "other"}}), sandbox_);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.status().message(), HasSubstr("check out " + root.ToString() + " there again"));
  // A file that is not in the tree is somebody's.
  ASSERT_TRUE(WriteFileAtomic(JoinPath(sandbox_, "mine"), "mine").ok());
  const auto refused = Checkout(store_, root, sandbox_);
  EXPECT_THAT(refused.status().message(), HasSubstr("/mine is not of the tree"));
  EXPECT_TRUE(FileExists(JoinPath(sandbox_, "a"))) << "nothing was touched";
  ASSERT_TRUE(RemoveAll(JoinPath(sandbox_, "mine")).ok());
  // An edited file of the tree is somebody's as well.
  ASSERT_TRUE(WriteFileAtomic(JoinPath(sandbox_, "a"), "edited").ok());
  EXPECT_THAT(Checkout(store_, root, sandbox_).status().message(), HasSubstr("/a is not of the"));
  EXPECT_EQ(Held().at("a"), "edited");
  ASSERT_TRUE(WriteFileAtomic(JoinPath(sandbox_, "a"), "").ok());
  const auto done = Checkout(store_, root, sandbox_);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->written, 3u);
  EXPECT_EQ(Held(), files) << "and no marker";
  EXPECT_THAT(Checkout(store_, root, sandbox_).status().message(), HasSubstr("is not empty"));
}

TEST_F(StageTest, AnInterruptedCheckoutSaysWhatIsLeft) {
  const Digest root = Tree({{"a", "first"}, {"b", "second"}});
  std::atomic<bool> interrupted = true;
  const auto early = Checkout(store_, root, sandbox_, {.interrupted = &interrupted});
  EXPECT_EQ(early.status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(fs::exists(sandbox_));
  interrupted = false;
  store_.interrupts = &interrupted;
  const auto late = Checkout(store_, root, sandbox_, {.interrupted = &interrupted});
  EXPECT_EQ(late.status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(late.status().message(), HasSubstr("the same command lays it out anew"));
  EXPECT_FALSE(FileExists(JoinPath(sandbox_, "b")));
  store_.interrupts = nullptr;
  EXPECT_TRUE(Checkout(store_, root, sandbox_).ok());
}

TEST_F(StageTest, ATreeMayHoldTheNameOfACheckoutsMarker) {
  const Files files = {{".galley-checkout", "mine"}, {"a", "first"}};
  ASSERT_TRUE(Checkout(store_, Tree(files), sandbox_).ok());
  EXPECT_EQ(Held(), files);
}

}  // namespace
}  // namespace galley::director
