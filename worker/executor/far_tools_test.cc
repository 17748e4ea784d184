#include "worker/executor/far_tools.h"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/content/test_tree.h"
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
  explicit ToolLink(const std::string& cache) : cache_(cache) {}
  absl::StatusOr<v1::ExecutorBytes> Want(const v1::ExecutorWant& want) override {
    const std::string path = want.has_tool() ? want.tool() : want.path();
    ++(want.is_digest_only() ? asked : fetched)[path];
    v1::ExecutorBytes answer;
    if (hidden == path) return absl::PermissionDeniedError("it is not told");
    const auto found = tools.find(path);
    answer.set_is_absent(found == tools.end());
    if (found == tools.end()) return answer;
    EXPECT_TRUE(want.is_digest_only() ||
                store::WriteBlobFile(cache_, Digest::Of(found->second), found->second).ok());
    wire::ToProto(Digest::Of(found->second), answer.mutable_digest());
    answer.set_is_executable(true);
    return answer;
  }
  std::map<std::string, std::string> tools;
  std::map<std::string, int> asked, fetched;
  std::string hidden;

 private:
  const std::string cache_;
};

class FarToolsTest : public content::ContentTest {
 protected:
  FarToolsTest() : cache_(Host("cache")), link_(cache_) {}
  void SetUp() override {
    ContentTest::SetUp();
    Write("content/bin/bake", "#!/bin/sh\n");
    Write("system/tool", "of the system");
    snapshot_ = Scan();
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

  const std::string cache_;
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
  EXPECT_EQ(found->host_path, view_->root() + "/Game/bin/bake");
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

}  // namespace
}  // namespace galley::worker
