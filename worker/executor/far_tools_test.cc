#include "worker/executor/far_tools.h"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/content/testing/test_tree.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/wire/convert.h"
#include "gmock/gmock.h"

namespace galley::worker {
namespace {

using testing::HasSubstr;

// A director that has these tools.
class ToolLink final : public ByteLink {
 public:
  absl::StatusOr<v1::ExecutorBytes> Want(const v1::ExecutorWant& want) override {
    if (want.has_looks()) return Found(want.looks());
    const std::string path = want.has_tool() ? want.tool() : want.path();
    ++(want.is_digest_only() ? asked : fetched)[path];
    v1::ExecutorBytes answer;
    if (hidden == path) return absl::PermissionDeniedError("it is not told");
    const auto found = tools.find(path);
    answer.set_is_absent(found == tools.end());
    if (found == tools.end()) return answer;
    EXPECT_TRUE(want.is_digest_only() ||
                store::WriteBlobFile(cache, Digest::Of(found->second), found->second).ok());
    wire::ToProto(Digest::Of(found->second), answer.mutable_digest());
    answer.set_is_executable(true);
    return answer;
  }
  v1::ExecutorBytes Found(const v1::ProgramLooks& looks) {
    ++calls_of_looks;
    v1::ExecutorBytes answer;
    for (const v1::ProgramLook& look : looks.looks()) {
      v1::FoundThere& found = *answer.add_found();
      const auto tool = tools.find(look.path());
      const auto folder = folders.find(look.path());
      if (look.path() == hidden) continue;
      found.set_kind(tool != tools.end()       ? v1::FoundThere::FILE
                     : folder != folders.end() ? v1::FoundThere::FOLDER
                                               : v1::FoundThere::ABSENT);
      if (look.is_opened() && tool != tools.end())
        wire::ToProto(Digest::Of(tool->second), found.mutable_digest());
      if (look.is_opened() && folder != folders.end())
        wire::ToProto(Digest::Of(folder->second), found.mutable_digest());
    }
    return answer;
  }
  std::map<std::string, std::string> tools;
  std::map<std::string, std::string> folders;  // folder -> its names
  int calls_of_looks = 0;
  std::map<std::string, int> asked, fetched;
  std::string hidden;
  std::string cache;
};

class FarToolsTest : public content::ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    Write("content/bin/bake", "#!/bin/sh\n");
    Write("system/tool", "of the system");
    snapshot_ = Scan();
    cache_ = link_.cache = Host("cache");
    ASSERT_TRUE(CreateDirectories(store::TemporaryDirectory(cache_)).ok());
    bytes_ = std::make_unique<FetchedBytes>(*snapshot_, cache_, link_);
    view_ = std::make_unique<LazyView>(snapshot_.get(), Host("scratch"));
    view_->BeginJob(bytes_.get());
    tools_ = std::make_unique<FarTools>(Host("scratch/project"), Host(""));
  }
  absl::StatusOr<Look> Find(const std::string& path) {
    return tools_->Find(path, *snapshot_, *view_, *bytes_);
  }
  static std::string ValueOf(const std::string& text) { return Digest::Of(text).ToString(); }

  std::string cache_;
  ToolLink link_;
  std::unique_ptr<content::Snapshot> snapshot_;
  std::unique_ptr<FetchedBytes> bytes_;
  std::unique_ptr<LazyView> view_;
  std::unique_ptr<FarTools> tools_;
};

TEST_F(FarToolsTest, AToolOfTheProjectComesByContentOnce) {
  link_.tools["tools/bake"] = "#!/bin/sh\necho baked\n";
  for (int i = 0; i < 3; ++i) {
    const auto found = Find("tools/bake");
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->value, ValueOf("#!/bin/sh\necho baked\n"));
    EXPECT_EQ(found->host_path, Host("scratch/project/tools/bake"));
    EXPECT_EQ(*ReadFile(found->host_path), "#!/bin/sh\necho baked\n");
    EXPECT_EQ(StatFile(found->host_path)->mode & 0777, 0555u);
  }
  EXPECT_EQ(link_.fetched["tools/bake"], 1);
  EXPECT_EQ(link_.asked["tools/bake"], 1) << "what the director said is believed for a second";
  EXPECT_EQ(Find("tools/none")->value, record::kAbsent);
}

TEST_F(FarToolsTest, AToolInAMountIsRunInTheView) {
  link_.tools["/Game/bin/bake"] = "#!/bin/sh\n";
  const auto found = Find("content/bin/bake");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->value, ValueOf("#!/bin/sh\n"));
  EXPECT_EQ(found->host_path, view_->root() + "/mounts/0/bin/bake");
}

TEST_F(FarToolsTest, AToolOfTheSystemMustBeTheSame) {
  const std::string path = Host("system/tool");
  link_.tools[path] = "of the system";
  const auto same = Find(path);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->value, ValueOf("of the system"));
  EXPECT_EQ(same->host_path, path);
  EXPECT_EQ(Find(Host("system/none"))->value, record::kAbsent) << "as there";
}

TEST_F(FarToolsTest, AnotherToolOrNoneIsRefusedWithWhatIsWantedAndFound) {
  const std::string path = Host("system/tool"), none = Host("system/none");
  link_.tools[path] = "of another system";
  link_.tools[none] = "of another system";
  const absl::Status other = Find(path).status(), missing = Find(none).status();
  EXPECT_EQ(InterruptionOf(other), Interruption(OtherTool{.path = path,
                                                          .wanted = ValueOf("of another system"),
                                                          .found = ValueOf("of the system")}));
  EXPECT_THAT(MessageOf(other), HasSubstr("wanted " + ValueOf("of another system") + ", found " +
                                          ValueOf("of the system")));
  EXPECT_THAT(MessageOf(missing), HasSubstr("found absent"));
  const std::string unwanted = Host("content/bin/bake");
  EXPECT_THAT(MessageOf(Find(unwanted).status()), HasSubstr("wanted absent, found "));
}

TEST_F(FarToolsTest, WhatTheDirectorDoesNotTellCannotBeDoneHere) {
  link_.hidden = "/home/me/bin/python";
  EXPECT_TRUE(absl::IsFailedPrecondition(Find(link_.hidden).status()));
}

TEST_F(FarToolsTest, AToolThatIsAnotherOneByNowIsAskedForAgain) {
  link_.tools["tools/bake"] = "first";
  ASSERT_TRUE(Find("tools/bake").ok());
  link_.tools["tools/bake"] = "second";
  FarTools later(Host("scratch/project"), Host(""));
  const auto found = later.Find("tools/bake", *snapshot_, *view_, *bytes_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*ReadFile(found->host_path), "second");
}

TEST_F(FarToolsTest, AToolThatWasChangedIsPutThereAgain) {
  link_.tools["tools/bake"] = "#!/bin/sh\necho baked\n";
  const std::string path = Find("tools/bake")->host_path;
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  ASSERT_TRUE(WriteFileAtomic(path, "#!/bin/sh\necho fake!\n").ok());
  EXPECT_EQ(*ReadFile(Find("tools/bake")->host_path), "#!/bin/sh\necho baked\n");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(*ReadFile(Find("tools/bake")->host_path), "#!/bin/sh\necho baked\n");
  EXPECT_EQ(StatFile(path)->mode & 0777, 0555u);
}

class FindsTest : public FarToolsTest {
 protected:
  void SetUp() override {
    FarToolsTest::SetUp();
    link_.tools["/Game/bin/bake"] = "#!/bin/sh\n";
    ASSERT_TRUE(view_->FileAt("/Game/bin/bake").ok());
    Write("scratch/job-1/x", "");
    link_.tools[Host("system/tool")] = "of the system";
    Write("system/etc/a.conf", "");
    link_.folders[Host("system/etc")] = std::string("a.conf\0", 7);
  }
  void Note(const std::string& path, Looks::Found found, bool is_opened = false) {
    looks_.found[path] = found;
    if (is_opened) looks_.opened.insert(path);
  }
  absl::Status Compare() {
    absl::Status said = tools_->Compare(looks_, Host("scratch/job-1"), *view_, *bytes_);
    looks_ = {};
    return said;
  }
  std::string InView(const std::string& name) const { return view_->root() + "/mounts/0/" + name; }
  Looks looks_;
};

using Found = Looks::Found;

TEST_F(FindsTest, WhatIsTheSameThereIsNoMatter) {
  for (int i = 0; i < 2; ++i) {
    Note(Host("system/tool"), Found::kFile, true);
    Note(Host("system/etc"), Found::kFolder, true);
    Note("/usr/none", Found::kAbsent);
    Note(InView("none"), Found::kAbsent);
    Note(view_->root() + "/show/Game/none", Found::kAbsent);
    Note(Host("scratch/project/tools/none"), Found::kAbsent);
    EXPECT_TRUE(Compare().ok()) << Compare();
  }
  EXPECT_EQ(link_.calls_of_looks, 1) << "all are asked for at once, and known then";
  // Find uses the digest that Compare got.
  tools_->BeginJob();
  EXPECT_EQ(Find(Host("system/tool"))->value, ValueOf("of the system"));
  EXPECT_EQ(link_.asked[Host("system/tool")], 0);
}

TEST_F(FindsTest, HeadersThatAreNamedByDepfilesCostOneCall) {
  std::vector<std::string> headers;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "system/" + std::to_string(i) + ".h";
    Write(name, name);
    link_.tools[Host(name)] = name;
    headers.push_back(Host(name));
    Note(headers.back(), Found::kFile, true);
  }
  tools_->BeginJob();
  ASSERT_TRUE(Compare().ok());
  for (const std::string& header : headers) ASSERT_TRUE(Find(header).ok());
  EXPECT_EQ(link_.calls_of_looks, 1);
  EXPECT_TRUE(link_.asked.empty());
}

TEST_F(FindsTest, WhatIsAnotherOnThisMachineCannotBeDoneHere) {
  link_.tools[Host("system/tool")] = "of another system";
  Note(Host("system/tool"), Found::kFile);
  EXPECT_TRUE(Compare().ok()) << "it only looked";
  Note(Host("system/tool"), Found::kFile, true);
  EXPECT_EQ(InterruptionOf(Compare()),
            Interruption(OtherTool{.path = Host("system/tool"),
                                   .wanted = ValueOf("of another system"),
                                   .found = ValueOf("of the system")}));
  link_.tools[Host("system/etc/tool.conf")] = "there only";
  Note(Host("system/etc/tool.conf"), Found::kAbsent);
  EXPECT_EQ(InterruptionOf(Compare()),
            Interruption(OtherTool{
                .path = Host("system/etc/tool.conf"), .wanted = "file", .found = "absent"}));
  Note("/usr/here/only", Found::kFile);
  EXPECT_EQ(InterruptionOf(Compare()),
            Interruption(OtherTool{.path = "/usr/here/only", .wanted = "absent", .found = "file"}));
  link_.folders[Host("system/etc")] = std::string("a.conf\0b.conf\0", 14);
  Note(Host("system/etc"), Found::kFolder, true);
  EXPECT_TRUE(std::holds_alternative<OtherTool>(*InterruptionOf(Compare())));
}

TEST_F(FindsTest, WhatIsBesideTheProjectOnlyNeedsItsFiles) {
  const auto expect = [&](const std::string& path, const std::string& what) {
    Note(path, Found::kAbsent);
    const absl::Status said = Compare();
    EXPECT_TRUE(absl::IsFailedPrecondition(said)) << path << said;
    EXPECT_THAT(MessageOf(said), HasSubstr(what));
  };
  link_.tools["tools/library"] = "x";
  expect(Host("scratch/project/tools/library"), "its program looks for tools/library");
  link_.tools[Host("content/ignored~")] = "x";  // no table has the file
  expect(InView("ignored~"), Host("content/ignored~"));
  link_.folders[Host("content/empty")] = "";
  expect(InView("empty"), Host("content/empty"));
  link_.hidden = "/home/me/x.conf";
  expect(link_.hidden, "not told");
  for (const char* above : {"scratch/.clang-format", ".clang-format"})
    expect(Host(above), "above the folder in which it runs");
  link_.folders[Host("content/bin")] = std::string("bake\0ignored~\0", 14);
  Note(InView("bin"), Found::kFolder, true);
  EXPECT_TRUE(absl::IsFailedPrecondition(Compare()));
}

}  // namespace
}  // namespace galley::worker
