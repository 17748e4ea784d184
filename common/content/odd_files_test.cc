// Every odd file of a scan (snapshot.h) has an error of its own, and the other files are there.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "common/base/status_macros.h"
#include "common/content/sandboxes.h"
#include "common/content/testing/test_tree.h"

namespace galley::content {
namespace {

using testing::HasSubstr;

class OddFilesTest : public ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    Write("content/plain", "plain");
    Write("outside", "secret");
  }
};

TEST_F(OddFilesTest, ALinkToAFileInItsMountIsThatFile) {
  Link("plain", "content/link");
  Link(Host("content/plain"), "content/sub/absolute");
  const auto snapshot = Scan();
  EXPECT_EQ(Shown(*snapshot), "/Game/link /Game/plain /Game/sub/absolute");
  EXPECT_EQ(Text(*snapshot, "/Game/link"), "plain");
  EXPECT_EQ(Text(*snapshot, "/Game/sub/absolute"), "plain");
}

TEST_F(OddFilesTest, ASandboxIsNoContentUnlessItIsAMount) {
  Write("content/out/pc/.galley-sandbox", "");
  Write("content/out/pc/Game/plain.bin", "cooked");
  Write("content/out/notes", "");
  const auto snapshot = Scan();
  EXPECT_EQ(Shown(*snapshot), "/Game/out/notes /Game/plain");
  EXPECT_THAT(snapshot->sandboxes(), testing::ElementsAre(Host("content/out/pc")));
  EXPECT_EQ(SandboxAround(*snapshot, "/Game/out/pc/Game/plain.bin"), Host("content/out/pc"));
  for (const char* path : {"/Game/out/notes", "/Game/out/pcx", "/Else/out/pc/a", "/Game"})
    EXPECT_EQ(SandboxAround(*snapshot, path), "") << path;
  Write("content/out/pc/Game/new.bin", "cooked");
  const std::vector<std::string> paths = {"/Game/out/pc/Game/new.bin", "/Game/out"};
  for (const std::string& path : paths)
    EXPECT_EQ(Shown(**snapshot->Refresh({&path, 1})), "/Game/out/notes /Game/plain") << path;
  options_.mounts.push_back({.path = "/Dlc", .directory = Host("content/out/pc")});
  EXPECT_EQ(
      Shown(*Scan()),
      "/Dlc/.galley-sandbox /Dlc/Game/new.bin /Dlc/Game/plain.bin /Game/out/notes /Game/plain");
}

TEST_F(OddFilesTest, ALinkOutOfItsMountIsAnErrorThatNamesWhereItLeads) {
  Link("../outside", "content/link");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/link"),
              HasSubstr("out of its mount, to " + Host("outside")));
  EXPECT_TRUE(absl::IsFailedPrecondition(snapshot->DigestOf("/Game/link").status()));
  EXPECT_EQ(Text(*snapshot, "/Game/plain"), "plain");
}

TEST_F(OddFilesTest, AFolderWhoseNameBeginsLikeTheMountsIsOutsideOfIt) {
  Write("content2/x", "x");
  Link("../content2/x", "content/link");
  EXPECT_THAT(ErrorOf(*Scan(), "/Game/link"), HasSubstr("out of its mount"));
}

TEST_F(OddFilesTest, ADanglingLinkIsAnError) {
  Link("nothing", "content/link");
  EXPECT_THAT(ErrorOf(*Scan(), "/Game/link"), HasSubstr("target is absent"));
}

TEST_F(OddFilesTest, LinksInALoopAreErrors) {
  Link("b", "content/a");
  Link("a", "content/b");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/a"), HasSubstr("loop"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/b"), HasSubstr("loop"));
}

TEST_F(OddFilesTest, ALinkToAFolderIsFollowed) {
  Write("content/textures/a", "a");
  Link("textures", "content/same");
  EXPECT_EQ(Shown(*Scan()), "/Game/plain /Game/same/a /Game/textures/a");
}

TEST_F(OddFilesTest, ALinkToAFolderThatContainsItIsAnError) {
  Link("..", "content/sub/up");
  Link(".", "content/sub/self");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/sub/up"), HasSubstr("folder that contains it"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/sub/self"), HasSubstr("folder that contains it"));
}

TEST_F(OddFilesTest, LinksBetweenFoldersEnd) {
  Write("content/a/file", "");
  Write("content/b/file", "");
  Link("../b", "content/a/to_b");
  Link("../a", "content/b/to_a");
  const auto snapshot = Scan();
  EXPECT_NE(snapshot->Find("/Game/a/to_b/file"), nullptr);
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/a/to_b/to_a"), HasSubstr("folder that contains it"));
}

TEST_F(OddFilesTest, LinksThatMultiplyAreBounded) {
  for (int i = 0; i < 12; ++i) {
    const std::string next = "../d" + std::to_string(i + 1);
    Link(next, "content/d" + std::to_string(i) + "/x");
    Link(next, "content/d" + std::to_string(i) + "/y");
  }
  Write("content/d12/file", "");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/d0/x/x/x/x/x"), HasSubstr("at most 4"));
  EXPECT_LT(snapshot->files().size(), 1000u);
}

TEST_F(OddFilesTest, ALinkIntoAnExcludedFolderIsAnError) {
  Write("content/cooked/a", "");
  options_.excluded_directories = {Host("content/cooked")};
  Link("cooked/a", "content/file");
  Link("cooked", "content/folder");
  const auto snapshot = Scan();
  EXPECT_EQ(Shown(*snapshot), "/Game/file! /Game/folder! /Game/plain");
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/file"), HasSubstr("never content"));
}

TEST_F(OddFilesTest, APipeIsAnErrorAndIsNotOpened) {
  ASSERT_EQ(::mkfifo(Host("content/pipe").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(*Scan(), "/Game/pipe"), HasSubstr("pipe"));
}

TEST_F(OddFilesTest, ASocketIsAnError) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = Host("content/socket");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_THAT(ErrorOf(*Scan(), "/Game/socket"), HasSubstr("a socket"));
  ::close(fd);
}

TEST_F(OddFilesTest, ADeviceIsAnError) {
  options_.mounts.push_back({.path = "/Dev", .directory = "/dev"});
  EXPECT_THAT(ErrorOf(*Scan(), "/Dev/null"), HasSubstr("character device"));
}

TEST_F(OddFilesTest, ANameThatIsNotUtf8IsShownEscaped) {
  Write(
      "content/b\xff"
      "d",
      "");
  Write("content/\xfe/inner", "");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/b\\xffd"), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/\\xfe"), HasSubstr("not valid UTF-8"));
  EXPECT_EQ(snapshot->Find("/Game/\\xfe/inner"), nullptr);
}

TEST_F(OddFilesTest, ANameWithABackslashOrAControlCharacterIsAnError) {
  Write("content/a\\b", "");
  Write("content/a\nb", "");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/a\\x5cb"), HasSubstr("backslash"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/a\\x0ab"), HasSubstr("control"));
}

// Reads without the rights of root while the object lives.
class AsNobody {
 public:
  AsNobody() : uid_(::geteuid()) {
    if (uid_ == 0) GALLEY_CHECK(::seteuid(65534) == 0);
  }
  ~AsNobody() {
    if (uid_ == 0) GALLEY_CHECK(::seteuid(0) == 0);
  }

 private:
  uid_t uid_;
};

TEST_F(OddFilesTest, AnUnreadableFileOrFolderIsAnError) {
  Write("content/locked", "");
  Write("content/closed/a", "");
  ASSERT_EQ(::chmod(Host("content/locked").c_str(), 0), 0);
  ASSERT_EQ(::chmod(Host("content/closed").c_str(), 0), 0);
  // The other paths are open, whatever the umask is.
  for (const char* path : {"", "content", "content/plain"})
    ASSERT_EQ(::chmod(Host(path).c_str(), 0755), 0);
  std::unique_ptr<Snapshot> snapshot;
  {
    const AsNobody nobody;
    snapshot = Scan();
  }
  ASSERT_EQ(::chmod(Host("content/closed").c_str(), 0755), 0);
  ASSERT_NE(snapshot, nullptr);
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/locked"), HasSubstr("cannot be read: Permission denied"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/closed"),
              HasSubstr("cannot read the folder: Permission denied"));
  EXPECT_EQ(snapshot->Kind("/Game/closed"), EntryKind::kFolder);
  EXPECT_EQ(ErrorOf(*snapshot, "/Game/plain"), "");
}

TEST_F(OddFilesTest, NamesThatDifferInCaseOnlyAreBothErrorsThatNameEachOther) {
  Write("content/Barrel.png", "");
  Write("content/barrel.PNG", "");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/Barrel.png"),
              HasSubstr("/Game/barrel.PNG differ only in case"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/barrel.PNG"),
              HasSubstr("/Game/Barrel.png differ only in case"));
}

TEST_F(OddFilesTest, NamesThatDifferInUnicodeFormOnlyAreBothErrors) {
  Write("content/\xc3\xa4", "");
  Write("content/a\xcc\x88", "");
  const auto snapshot = Scan();
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/\xc3\xa4"), HasSubstr("Unicode form"));
  EXPECT_THAT(ErrorOf(*snapshot, "/Game/a\xcc\x88"), HasSubstr("Unicode form"));
}

TEST_F(OddFilesTest, AModThatSpellsANameOtherwiseClashesToo) {
  Write("content/a", "");
  Write("mod/A", "");
  Mount("/Game", "mod", 1);
  EXPECT_EQ(Shown(*Scan()), "/Game/A! /Game/a! /Game/plain");
}

TEST_F(OddFilesTest, AClashThatIsMendedIsForgotten) {
  Write("content/a", "");
  Write("content/A", "");
  const auto snapshot = Scan();
  ASSERT_EQ(::unlink(Host("content/A").c_str()), 0);
  const std::vector<std::string> paths = {"/Game/A"};
  EXPECT_EQ(Shown(**snapshot->Refresh(paths)), "/Game/a /Game/plain");
}

}  // namespace
}  // namespace galley::content
