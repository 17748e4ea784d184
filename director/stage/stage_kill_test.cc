// StageKillTest: stages that are killed at each call that changes a file, and the stage that
// follows.
//
// The test replaces libc's calls that change files (at the end of this file): in a child process
// the n-th call ends the process before it does anything, as SIGKILL would.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/store/interface/store.h"
#include "common/tree/tree.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"
#include "director/stage/stage.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {
// Counts down with each call; the process ends at 0. Initially 0: never.
long g_calls_left = 0;
constexpr int kKilled = 77;
void NoteCall() {
  if (g_calls_left > 0 && --g_calls_left == 0) std::_Exit(kKilled);
}
}  // namespace

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

class Blobs final : public store::Store {
 public:
  Digest Add(const std::string& bytes) {
    const Digest digest = Digest::Of(bytes);
    blobs_[digest] = bytes;
    return digest;
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    std::vector<Digest> missing;
    for (const Digest& digest : digests) {
      if (!blobs_.contains(digest)) missing.push_back(digest);
    }
    return missing;
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    const auto found = blobs_.find(digest);
    if (found == blobs_.end()) return absl::NotFoundError("no blob " + digest.ToString());
    return MakeBlob(found->second);
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest>) override {
    return std::vector<Digest>();
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

 private:
  static absl::Status Unused() { return absl::UnimplementedError("staging does not need this"); }
  std::map<Digest, std::string> blobs_;
};

struct Cook {
  std::string name;
  bool by_the_book = true;
  Files files;
};

const Files kMine = {{"Game/mine", "mine"}, {"Game/sub/mine", "a"}};
const Files kAll = {{"Game/a", "a"}, {"Game/b", "b"}, {"Game/sub/c", "c"}};

// Returns narrow cooks and cooks by the book, with and without something to write, to remove, or to
// make room for.
std::vector<Cook> Cooks() {
  return {
      {"all again", true, kAll},
      {"a part", false, {{"Game/a", "a"}}},
      {"another part", false, {{"Game/b", "b"}, {"Game/sub/c", "c"}}},
      {"all, changed", true, {{"Game/a", "A"}, {"Game/b", "b"}, {"Game/sub/c", "C"}}},
      {"all, less", true, {{"Game/a", "a"}}},
      {"all, more", true, {{"Game/a", "a"}, {"Game/b", "b"}, {"Game/d", "d"}, {"Game/sub/c", "c"}}},
      {"a part, changed", false, {{"Game/a", "A"}}},
      {"a part, new", false, {{"Game/e/f", "f"}}},
      {"a folder for a file", true, {{"Game/a/x", "x"}, {"Game/b", "b"}}},
  };
}

class StageKillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "stage_kill").value();
    sandbox_ = JoinPath(folder_, "pc");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  Digest Tree(const Files& files) {
    std::vector<tree::TreeFile> list;
    for (const auto& [path, text] : files)
      list.push_back({.path = path, .digest = store_.Add(text)});
    const tree::BuiltTree built =
        tree::BuildTree(list, [](std::string_view name) { return std::string(name); });
    for (const auto& [digest, bytes] : built.directories) store_.Add(bytes);
    return built.root;
  }

  absl::StatusOr<StageReport> Run(const Cook& cook) {
    return Stage(store_, StageOptions{.directory = sandbox_,
                                      .root = Tree(cook.files),
                                      .by_the_book = cook.by_the_book,
                                      .earlier_roots = published_});
  }

  // Stages a change of files as a director does: by StageChanges if possible.
  absl::Status RunAfter(const Digest& before, const Cook& cook) {
    const StageOptions how{.directory = sandbox_, .root = Tree(cook.files)};
    const auto changed = StageChanges(store_, how, before);
    if (!changed.ok() || changed->has_value()) return changed.status();
    return Run(cook).status();
  }

  // Returns true when `stage` ended before its n-th call.
  bool KillAt(long call, const std::function<absl::Status()>& stage) {
    const pid_t child = ::fork();
    if (child == 0) {
      g_calls_left = call;
      const bool is_ok = stage().ok();
      g_calls_left = 0;
      std::_Exit(is_ok ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_THAT(WEXITSTATUS(status), ::testing::AnyOf(0, kKilled));
    return WEXITSTATUS(status) == 0;
  }

  void Write(std::string_view path, const std::string& text) const {
    const std::string full = JoinPath(sandbox_, path);
    fs::create_directories(fs::path(full).parent_path());
    ASSERT_TRUE(WriteFileAtomic(full, text).ok());
  }

  Files Held() const {
    Files held;
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_)) {
      const std::string path = entry.path().lexically_relative(sandbox_).string();
      if (entry.is_regular_file() && path != kMarkerName && path != kFilesName)
        held[path] = ReadFile(entry.path().string()).value();
    }
    return held;
  }

  // Makes a sandbox with all files, and with somebody's.
  void Begin() {
    ASSERT_TRUE(RemoveAll(sandbox_).ok());
    ASSERT_TRUE(CreateDirectories(sandbox_).ok());
    Sandbox sandbox = Sandbox::Open(sandbox_).value();
    ASSERT_TRUE(BeginStaging(sandbox, {.is_whole = true}).ok());  // as ClaimSandbox does
    ASSERT_TRUE(Run({"all", true, kAll}).ok());
    for (const auto& [path, text] : kMine) Write(path, text);
  }

  void ExpectMine() const {
    Files held = Held();
    for (const auto& [path, text] : kMine) EXPECT_EQ(held[path], text) << path;
  }

  // Expects the files of a narrow cook, and somebody's; after a cook by the book no other files.
  void ExpectStaged(const Cook& cook) {
    const absl::StatusOr<StageReport> report = Run(cook);
    ASSERT_TRUE(report.ok()) << report.status();
    const Files held = Held();
    Files expected = cook.files;
    expected.insert(kMine.begin(), kMine.end());
    if (cook.by_the_book) {
      EXPECT_EQ(held, expected);
      EXPECT_EQ(report->foreign_count, kMine.size());
    }
    for (const auto& [path, text] : expected)
      EXPECT_EQ(held.contains(path) ? held.at(path) : "-", text) << path;
  }

  Blobs store_;
  std::vector<Digest> published_;
  std::string folder_, sandbox_;
};

// Only the ledger says which files are Galley's: no published root is named here.
TEST_F(StageKillTest, AtEachCallOfEachStageTheNextOnesSucceedAndLoseNothing) {
  int killed = 0;
  const std::vector<Cook> cooks = Cooks();
  for (const Cook& first : cooks) {
    for (const Cook& next : {cooks[1], cooks[3], cooks[6]}) {
      for (long call = 1;; ++call) {
        SCOPED_TRACE(fmt::format("killed: {}, at call {}; next: {}", first.name, call, next.name));
        Begin();
        if (KillAt(call, [&] { return Run(first).status(); })) break;
        ++killed;
        ExpectMine();
        ExpectStaged(next);
        ExpectStaged({"all, changed", true, {{"Game/a", "2"}, {"Game/sub/c", "3"}}});
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(killed, 200);
}

// A cook of a part after a cook of everything, and back, each killed at any call: a night with many
// commits and a machine that is switched off.
TEST_F(StageKillTest, PartsAndWholesInTurnEachKilledAtAnyCall) {
  const std::vector<Cook> cooks = Cooks();
  for (long call = 1; call <= 12; ++call) {
    SCOPED_TRACE(fmt::format("each killed at call {}", call));
    Begin();
    for (const Cook& cook : cooks) {
      SCOPED_TRACE(cook.name);
      KillAt(call, [&] { return Run(cook).status(); });
      ExpectMine();
      if (HasFailure()) return;
    }
    for (const Cook& cook : cooks) ExpectStaged(cook);
    if (HasFailure()) return;
  }
}

TEST_F(StageKillTest, AtEachCallOfAStageOfFewChangesTheNextOnesSucceed) {
  Files changed = kAll;
  changed["Game/b"] = "B";
  const std::vector<Cook> cooks = Cooks();
  for (const bool was_brief : {false, true}) {
    for (const Cook& next : {cooks[1], cooks[3], cooks[6]}) {
      for (long call = 1;; ++call) {
        SCOPED_TRACE(fmt::format("killed at call {}; next: {}", call, next.name));
        Begin();
        Digest before = Tree(kAll);
        if (was_brief) {
          Files other = kAll;
          other["Game/a"] = "other";
          ASSERT_TRUE(RunAfter(before, {"other", true, other}).ok());
          before = Tree(other);
        }
        if (KillAt(call, [&] { return RunAfter(before, {"few", true, changed}); })) break;
        ExpectMine();
        ExpectStaged(next);
        ExpectStaged({"all, changed", true, {{"Game/a", "2"}, {"Game/sub/c", "3"}}});
        if (HasFailure()) return;
      }
    }
  }
}

// An older Galley left the sandbox so when it was killed in a stage with nothing to write.
TEST_F(StageKillTest, ASandboxThatAnOlderGalleySpoiledIsAdoptedByWhatWasPublished) {
  const Digest all = Tree(kAll), part = Tree({{"Game/a", "a"}});
  for (const Cook& next : Cooks()) {
    for (const bool was_cooked_since : {false, true}) {
      for (const bool was_more_since : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", next.name, was_cooked_since, was_more_since));
        published_ = {};
        Begin();
        Sandbox sandbox = Sandbox::Open(sandbox_).value();
        ASSERT_TRUE(BeginStaging(sandbox, {.roots = {all, part}, .is_whole = true}).ok());
        // An older Galley found everything right, and took no file for its own.
        Files held = kAll;
        if (was_more_since) {
          held["Game/new"] = "new";
          Write("Game/new", "new");
        }
        if (was_cooked_since) {
          const std::vector<std::string> files =
              was_more_since ? std::vector<std::string>{"Game/new"} : std::vector<std::string>();
          ASSERT_TRUE(EndStaging(sandbox, Tree(held), files, {}).ok());
        }
        published_ = {part, all, Tree(held)};
        Write("Game/edited", "a person's");
        const absl::StatusOr<StageReport> report = Run(next);
        ASSERT_TRUE(report.ok()) << report.status();
        Files expected = next.files;
        expected.insert(kMine.begin(), kMine.end());
        expected["Game/edited"] = "a person's";
        if (next.by_the_book) {
          EXPECT_EQ(Held(), expected);
        }
        ASSERT_TRUE(RemoveAll(JoinPath(sandbox_, "Game/edited")).ok());
        ExpectStaged({"all, changed", true, {{"Game/a", "2"}, {"Game/sub/c", "3"}}});
        if (HasFailure()) return;
      }
    }
  }
}

// A few files are disowned: one is taken back when a cook needs its place.
TEST_F(StageKillTest, AFileInTheWayThatWasPublishedIsGalleysWhateverTheLedgerSays) {
  Begin();
  Sandbox sandbox = Sandbox::Open(sandbox_).value();
  const std::vector<std::string> named = {"Game/b", "Game/sub/c"};
  ASSERT_TRUE(EndStaging(sandbox, Tree(kAll), named, {}).ok());
  const Cook changed{"a part, changed", false, {{"Game/a", "A"}}};
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(changed).status())) << "nothing was published";
  published_ = {Tree(changed.files), Tree({{"Game/a", "another"}})};
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(changed).status())) << "other bytes were published";
  published_.push_back(Tree(kAll));
  ExpectStaged(changed);
  // A person's file is still in the way, with bytes that nobody published, and empty.
  for (const std::string& mine : {std::string("a person's"), std::string()}) {
    ASSERT_TRUE(EndStaging(sandbox, Tree(kAll), named, {}).ok());
    Write("Game/a", mine);
    EXPECT_TRUE(absl::IsFailedPrecondition(Run({"", true, {{"Game/a", "4"}}}).status()));
    EXPECT_EQ(Held()["Game/a"], mine);
  }
}

}  // namespace
}  // namespace galley::director

// --- The calls.

namespace {
template <typename Function>
Function Real(Function, const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}
}  // namespace

extern "C" {
int openat(int folder, const char* path, int flags, ...) {
  static const auto real = Real(&::openat, "openat");
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
    NoteCall();
  }
  return real(folder, path, flags, mode);
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  static const auto real = Real(&::mkdirat, "mkdirat");
  NoteCall();
  return real(folder, path, mode);
}
int renameat(int from, const char* a, int to, const char* b) noexcept {
  static const auto real = Real(&::renameat, "renameat");
  NoteCall();
  return real(from, a, to, b);
}
int linkat(int from, const char* a, int to, const char* b, int flags) noexcept {
  static const auto real = Real(&::linkat, "linkat");
  NoteCall();
  return real(from, a, to, b, flags);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto real = Real(&::unlinkat, "unlinkat");
  NoteCall();
  return real(folder, path, flags);
}
int fchmod(int fd, mode_t mode) noexcept {
  static const auto real = Real(&::fchmod, "fchmod");
  NoteCall();
  return real(fd, mode);
}
}
