// CheckoutSessionTest: checkouts of session trees, which have links.
#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/file.h"
#include "common/store/testing/memory_store.h"
#include "common/tree/testing/linked_folders.h"
#include "director/stage/checkout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckoutSessionTest : public testing::Test {
 protected:
  CheckoutSessionTest() : home_(*MakeTemporaryDirectory(testing::TempDir(), "session-")) {}
  ~CheckoutSessionTest() override { static_cast<void>(RemoveAll(home_)); }

  // Puts a session tree (linked_folders.h) whose files have their paths as contents.
  Digest Put(const std::string& text) {
    tree::LinkedFolders folders;
    const Digest root = folders.Build(text);
    for (const auto& [digest, bytes] : folders.blobs()) EXPECT_TRUE(store_.Put(digest, bytes).ok());
    for (const tree::TreeFile& file : tree::ParseLinkedTree(text).files)
      EXPECT_TRUE(store_.Put(file.digest, file.path).ok());
    return root;
  }
  absl::StatusOr<StageReport> CheckOut(const Digest& root) {
    return Checkout(store_, root, home_ + "/out");
  }
  std::string In(const std::string& path) const { return home_ + "/out/" + path; }
  std::string TargetOf(const std::string& path) const {
    return fs::is_symlink(In(path)) ? fs::read_symlink(In(path)).string() : "no link";
  }

  const std::string home_;
  store::MemoryStore store_;
};

TEST_F(CheckoutSessionTest, LinksBecomeRelativeSymbolicLinks) {
  const Digest root =
      Put("resource/1f/a.ktx2 static/x/a->../../resource/1f/a.ktx2 static/d->../resource/1f");
  const auto report = CheckOut(root);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->written, 1u);
  EXPECT_EQ(report->symbolic_links, 2u);
  EXPECT_EQ(TargetOf("static/x/a"), "../../resource/1f/a.ktx2");
  EXPECT_EQ(TargetOf("static/d"), "../resource/1f");
  EXPECT_EQ(*ReadFile(In("static/x/a")), "resource/1f/a.ktx2");
  EXPECT_EQ(*ReadFile(In("static/d/a.ktx2")), "resource/1f/a.ktx2");
  EXPECT_FALSE(fs::exists(In(".galley-checkout")));
}

TEST_F(CheckoutSessionTest, ALinkThatLeadsNowhereIsLaidOutAllTheSame) {
  const auto report = CheckOut(Put("static/later->../resource/1f/later world"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(TargetOf("static/later"), "../resource/1f/later");
}

TEST_F(CheckoutSessionTest, ALinkThatLeavesTheTreeIsRefusedBeforeAnythingIsWritten) {
  for (const char* text : {"a l->..", "a d/l->../../a", "a d/e/l->../../../etc/passwd"}) {
    const auto report = CheckOut(Put(text));
    EXPECT_TRUE(absl::IsInvalidArgument(report.status())) << text;
    EXPECT_THAT(std::string(report.status().message()), HasSubstr("leaves the tree"));
    EXPECT_FALSE(fs::exists(home_ + "/out")) << text;
  }
}

TEST_F(CheckoutSessionTest, ACheckoutThatWasCutOffBeginsAgain) {
  const Digest root = Put("a static/l->../a static/m->../b");
  fs::create_directories(In("static"));
  std::ofstream(In(".galley-checkout")) << root.ToString() << "\n";
  fs::create_symlink("../a", In("static/l"));
  const auto report = CheckOut(root);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(TargetOf("static/l"), "../a");
  EXPECT_EQ(TargetOf("static/m"), "../b");
  EXPECT_FALSE(fs::exists(In(".galley-checkout")));
}

TEST_F(CheckoutSessionTest, AnotherLinkInACheckoutThatWasCutOffIsNotTouched) {
  const Digest root = Put("a static/l->../a");
  fs::create_directories(In("static"));
  std::ofstream(In(".galley-checkout")) << root.ToString() << "\n";
  fs::create_symlink("../elsewhere", In("static/l"));
  const auto report = CheckOut(root);
  EXPECT_TRUE(absl::IsFailedPrecondition(report.status())) << report.status();
  EXPECT_EQ(TargetOf("static/l"), "../elsewhere");
}

}  // namespace
}  // namespace galley::director
