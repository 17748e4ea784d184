#include "worker/executor/lazy_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/content/testing/test_tree.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/mount_view.h"

namespace galley::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Bytes by path, with the number of times that they were asked for.
class TextBytes final : public ByteSource {
 public:
  absl::StatusOr<Digest> DigestOf(const std::string& path) override {
    return Digest::Of(texts.at(path));
  }
  absl::StatusOr<content::Snapshot::Content> Read(const std::string&, uint64_t) override {
    return absl::UnimplementedError("not asked for");
  }
  absl::StatusOr<Digest> Stream(const std::string& path, const TakePiece& take) override {
    ++asked[path];
    const std::string& text = texts.at(path);
    if (const absl::Status taken = take(text.substr(0, 3)); !taken.ok()) return taken;
    if (!error.ok()) return error;
    if (const absl::Status taken = take(text.substr(3)); !taken.ok()) return taken;
    return Digest::Of(text);
  }
  absl::Status CheckUnchanged(const std::string&, const Digest&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<Blob> ReadBlob(const Digest&) override {
    return absl::UnimplementedError("not asked for");
  }
  absl::Status StreamBlob(const Digest&, const TakePiece&) override {
    return absl::UnimplementedError("not asked for");
  }

  std::map<std::string, std::string> texts;
  std::map<std::string, int> asked;
  absl::Status error;
};

class LazyViewTest : public content::ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    Put("content/a.txt", "/Game/a.txt", "source of a");
    Put("content/tools/run", "/Game/tools/run", "#!/bin/sh");
    ASSERT_EQ(::chmod(Host("content/tools/run").c_str(), 0755), 0);
    snapshot_ = Scan();
    ASSERT_TRUE(RemoveAll(Host("content")).ok()) << "it knows only the table";
    view_ = std::make_unique<LazyView>(snapshot_.get(), Host("scratch"));
    view_->BeginJob(&bytes_);
    ASSERT_TRUE(view_->ShowUnder(Host("work")).ok());
  }
  void Put(const std::string& file, const std::string& path, const std::string& text) {
    Write(file, text);
    bytes_.texts[path] = text;
  }
  // The place in the view of a path below "/Game".
  std::string In(const std::string& path) const {
    return view_->root() + "/mounts/0" + path.substr(5);
  }
  static std::vector<std::string> Names(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(folder))
      names.push_back(one.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  TextBytes bytes_;
  std::unique_ptr<content::Snapshot> snapshot_;
  std::unique_ptr<LazyView> view_;
};

TEST_F(LazyViewTest, FoldersAndFilesComeWhenTheyAreFilled) {
  EXPECT_THAT(Names(Host("work")), ElementsAre("Game"));
  EXPECT_THAT(Names(In("/Game")), IsEmpty());
  ASSERT_TRUE(view_->FillFolder(In("/Game")).ok());
  EXPECT_THAT(Names(Host("work/Game")), ElementsAre("a.txt", "tools"));
  EXPECT_THAT(Names(In("/Game/tools")), IsEmpty());
  const FileStat empty = *StatFile(In("/Game/a.txt"));
  EXPECT_EQ(empty.size_bytes, 11u);
  EXPECT_EQ(empty.mode & 0777, snapshot_->Find("/Game/a.txt")->stat.mode & 0777)
      << "programs copy it";
  EXPECT_EQ(empty.mtime_ns, snapshot_->Find("/Game/a.txt")->stat.mtime_ns);
  EXPECT_THAT(bytes_.asked, IsEmpty());
  ASSERT_TRUE(view_->FillFile(In("/Game/a.txt")).ok());
  EXPECT_EQ(*ReadFile(Host("work/Game/a.txt")), "source of a");
  const FileStat whole = *StatFile(In("/Game/a.txt"));
  EXPECT_EQ(whole.inode, empty.inode);
  EXPECT_EQ(whole.mtime_ns, empty.mtime_ns);
  EXPECT_EQ(whole.mode, empty.mode);
  ASSERT_TRUE(view_->FillFile(In("/Game/a.txt")).ok());
  EXPECT_EQ(bytes_.asked["/Game/a.txt"], 1);
}

TEST_F(LazyViewTest, WhatIsNoFileOrFolderOfTheProjectIsLeftAlone) {
  EXPECT_TRUE(view_->FillFolder(In("/Game/none")).ok());
  EXPECT_TRUE(view_->FillFile(In("/Game/none")).ok());
  EXPECT_TRUE(view_->FillFile(In("/Game")).ok());
  EXPECT_TRUE(absl::IsNotFound(view_->FileAt("/Game/none").status()));
}

TEST_F(LazyViewTest, AFileCanBeAskedForByItsName) {
  const auto file = view_->FileAt("/Game/tools/run");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file, In("/Game/tools/run"));
  EXPECT_EQ(*ReadFile(*file), "#!/bin/sh");
  EXPECT_EQ(StatFile(*file)->mode & 0777, 0755u);
}

TEST_F(LazyViewTest, AFileThatAProgramChangedIsPutThereAnew) {
  const std::string file = *view_->FileAt("/Game/a.txt");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const FileDescriptor open(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::ftruncate(open.get(), 4), 0);
  ASSERT_TRUE(view_->FillFile(file).ok());
  EXPECT_EQ(*ReadFile(file), "source of a");
  EXPECT_EQ(StatDescriptor(open.get(), file)->size_bytes, 4u) << "who has it open keeps his";
  ASSERT_EQ(::unlink(file.c_str()), 0);
  ASSERT_TRUE(view_->FillFile(file).ok());
  EXPECT_EQ(*ReadFile(file), "source of a");
  EXPECT_EQ(bytes_.asked["/Game/a.txt"], 3);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::truncate(file.c_str(), 4), 0);
  bytes_.error = absl::UnavailableError("the director is away");
  EXPECT_TRUE(absl::IsUnavailable(view_->FillFile(file)));
  EXPECT_EQ(*ReadFile(file), std::string(11, '\0')) << "the wrong one is not to be read";
}

TEST_F(LazyViewTest, WhatIsItsOwnIsKnownByItsInode) {
  for (const std::string& path :
       {*view_->FileAt("/Game/tools/run"), In("/Game/tools"), In("/Game/a.txt"), view_->root()}) {
    const FileStat stat = *StatFile(path);
    EXPECT_EQ(view_->PathOf(stat.device, stat.inode), path);
  }
  const FileStat other = *StatFile(Host("work"));
  EXPECT_EQ(view_->PathOf(other.device, other.inode), "");
}

TEST_F(LazyViewTest, WhatTheDirectorHasIsAskedForByItsOwnPath) {
  EXPECT_EQ(view_->DirectorsPath(In("/Game/tools/.hidden")), Host("content/tools/.hidden"));
  EXPECT_EQ(view_->DirectorsPath(In("/Game")), Host("content"));
  EXPECT_EQ(view_->DirectorsPath(view_->root() + "/show/Game"), "");
  EXPECT_EQ(view_->DirectorsPath(view_->root() + "/mounts/7/x"), "");
  EXPECT_EQ(view_->DirectorsPath(view_->root() + "/mounts/x"), "");
  EXPECT_EQ(view_->DirectorsPath("/usr/bin"), "");
}

TEST_F(LazyViewTest, WhereThereIsNoRoomItIsMadeAnew) {
  LazyView view(snapshot_.get(), Host("views"), /*bytes_max=*/5000);
  for (int i = 0; i < 2; ++i) {
    view.BeginJob(&bytes_);
    EXPECT_EQ(*ReadFile(*view.FileAt("/Game/a.txt")), "source of a");
    const std::string root = view.root();
    EXPECT_EQ(*ReadFile(*view.FileAt("/Game/tools/run")), "#!/bin/sh");
    view.EndJob();
    EXPECT_FALSE(FileExists(root)) << "two blocks";
  }
  EXPECT_EQ(bytes_.asked["/Game/a.txt"], 2);
}

TEST_F(LazyViewTest, WhatBreaksOffCountsForNothing) {
  bytes_.error = absl::UnavailableError("the director is away");
  EXPECT_TRUE(absl::IsUnavailable(view_->FileAt("/Game/a.txt").status()));
  EXPECT_EQ(StatFile(In("/Game/a.txt"))->size_bytes, 11u);
  bytes_.error = absl::AbortedError("it is another one");
  EXPECT_EQ(InterruptionOf(view_->FileAt("/Game/a.txt").status()),
            Interruption(StaleFile{"/Game/a.txt"}));
  bytes_.error = absl::OkStatus();
  EXPECT_EQ(*ReadFile(*view_->FileAt("/Game/a.txt")), "source of a");
}

// Other programs list the file meanwhile, and a program copies it.
TEST_F(LazyViewTest, AFileThatCouldNotBeHadIsAsItWasListed) {
  ASSERT_TRUE(view_->FillFolder(In("/Game")).ok());
  const FileStat listed = *StatFile(In("/Game/a.txt"));
  const auto expect_listed = [&] {
    const absl::StatusOr<FileStat> now = StatFile(In("/Game/a.txt"));
    ASSERT_TRUE(now.ok()) << now.status();
    EXPECT_EQ(now->mode, listed.mode);
    EXPECT_EQ(now->mtime_ns, listed.mtime_ns);
    EXPECT_EQ(*ReadFile(In("/Game/a.txt")), std::string(11, '\0')) << "no piece of it stays";
  };
  bytes_.error = absl::UnavailableError("the director is away");
  EXPECT_FALSE(view_->FillFile(In("/Game/a.txt")).ok());
  expect_listed();
  EXPECT_EQ(StatFile(In("/Game/a.txt"))->inode, listed.inode) << "`cp` compares that";
  bytes_.error = absl::OkStatus();
  ASSERT_TRUE(view_->FillFile(In("/Game/a.txt")).ok());
  // The same for a file that a program changed, and that cannot be replaced.
  ASSERT_EQ(::chmod(In("/Game/a.txt").c_str(), 0644), 0);
  ASSERT_TRUE(WriteFileAtomic(In("/Game/a.txt"), "changed").ok());
  bytes_.error = absl::UnavailableError("the director is away");
  EXPECT_FALSE(view_->FillFile(In("/Game/a.txt")).ok());
  expect_listed();
  bytes_.error = absl::OkStatus();
  ASSERT_TRUE(view_->FillFile(In("/Game/a.txt")).ok());
  EXPECT_EQ(*ReadFile(In("/Game/a.txt")), "source of a");
  EXPECT_EQ(StatFile(In("/Game/a.txt"))->mtime_ns, listed.mtime_ns);
}

// The names that a program sees in a folder and below; `fill` is called before each look.
std::vector<std::string> TreeOf(const std::string& folder, const std::string& shown,
                                const std::function<void(const std::string&)>& fill) {
  std::vector<std::string> tree;
  const std::string real = std::filesystem::canonical(folder);
  fill(real);
  for (const auto& one : std::filesystem::directory_iterator(real)) {
    const std::string name = JoinPath(shown, one.path().filename().string());
    const bool is_folder = std::filesystem::is_directory(one.path());
    tree.push_back(fmt::format("{} {}{}", name, one.is_symlink() ? "link to a " : "",
                               is_folder ? "folder" : "file"));
    if (!is_folder) continue;
    const std::vector<std::string> below = TreeOf(one.path(), name, fill);
    tree.insert(tree.end(), below.begin(), below.end());
  }
  std::sort(tree.begin(), tree.end());
  return tree;
}

TEST_F(LazyViewTest, LinksFoldersAndFilesAreWhereTheyAreBesideTheProject) {
  Write("low/a.txt", "low");
  Write("low/deep/b.txt", "low");
  Write("low/deep/er/c.txt", "low");
  Write("high/a.txt", "high!");
  Write("high/deep/d.txt", "high");
  const auto scan = [&](std::vector<content::Mount> mounts) {
    return *content::Snapshot::Scan({.mounts = std::move(mounts), .threads = 1});
  };
  const content::Mount low{.path = "/Game", .directory = Host("low")};
  const content::Mount high{.path = "/Game", .directory = Host("high"), .priority = 10};
  const content::Mount plug_in{.path = "/Plugins/X", .directory = Host("low")};
  const content::Mount inner{.path = "/Game/deep", .directory = Host("high")};
  int number = 0;
  for (const std::vector<content::Mount>& mounts :
       {std::vector{low}, {low, high}, {low, high, plug_in}, {low, inner}, {plug_in}}) {
    const auto snapshot = scan(mounts);
    const std::string here = Host(fmt::format("here{}", number));
    const std::string far = Host(fmt::format("far{}", number++));
    MountView in_place(snapshot.get(), Host("views"));
    ASSERT_TRUE(CreateDirectories(Host("views")).ok());
    ASSERT_TRUE(in_place.ShowUnder(here).ok());
    LazyView view(snapshot.get(), Host("scratch"));
    view.BeginJob(&bytes_);
    ASSERT_TRUE(view.ShowUnder(far).ok());
    const auto fill = [&](const std::string& folder) {
      if (folder.starts_with(view.root())) {
        EXPECT_TRUE(view.FillFolder(folder).ok());
      }
    };
    EXPECT_EQ(TreeOf(far, "", fill), TreeOf(here, "", [](const std::string&) {}));
  }
}

TEST_F(LazyViewTest, OverlaysAreMergedAsTheTableSays) {
  Write("low/a.txt", "low");
  Write("low/b.txt", "low");
  Write("high/a.txt", "high!");
  auto snapshot = content::Snapshot::Scan(
      {.mounts = {{.path = "/Game", .directory = Host("low")},
                  {.path = "/Game", .directory = Host("high"), .priority = 10},
                  {.path = "/Plugins/X", .directory = Host("low")}},
       .threads = 1});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  LazyView view(snapshot->get(), Host("scratch"));
  view.BeginJob(&bytes_);
  ASSERT_TRUE(view.ShowUnder(Host("other")).ok());
  EXPECT_THAT(Names(Host("other")), ElementsAre("Game", "Plugins"));
  ASSERT_TRUE(view.FillFoldersOf("/Plugins/X/a.txt").ok());
  bytes_.texts["/Game/a.txt"] = "high!";
  bytes_.texts["/Game/b.txt"] = "low";
  ASSERT_TRUE(view.FileAt("/Game/a.txt").ok() && view.FileAt("/Game/b.txt").ok());
  ASSERT_TRUE(view.FillFoldersOf("/Game/a.txt").ok());
  EXPECT_EQ(*ReadFile(Host("other/Game/a.txt")), "high!");
  EXPECT_EQ(*ReadFile(Host("other/Game/b.txt")), "low");
  EXPECT_THAT(Names(Host("other/Plugins/X")), ElementsAre("a.txt", "b.txt"));
  EXPECT_EQ(view.DirectorsPath(*view.FileAt("/Game/a.txt")), Host("high/a.txt"));
}

TEST_F(LazyViewTest, NothingOfItIsLeft) {
  const std::string root = view_->root();
  ASSERT_TRUE(view_->FileAt("/Game/a.txt").ok());
  view_.reset();
  EXPECT_FALSE(FileExists(root));
}

}  // namespace
}  // namespace galley::worker
