#include "director/remake/action_folder.h"

#include "common/store/testing/memory_store.h"
#include "director/remake/testing/kept_record.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using testing::IsEmpty;
using testing::SizeIs;

class ActionFolderTest : public KeptRecordTest {
 protected:
  // An Action with an include, a cooked input, and a program of the project.
  ActionFolderTest() {
    kept_.inputs = {
        .recipe = {.cooker = "copy", .identity = "1", .extension = "txt", .settings = "{}"},
        .source = Put("source"),
        .observed = {{{ObservationKind::kFile, "/Game/inc/a.txt", ""}, Put("include").ToString()},
                     {{ObservationKind::kCooked, "b.png", ".ktx2"}, Put("cooked").ToString()},
                     {{ObservationKind::kTool, "tools/x", ""}, Put("program").ToString()}},
        .trust_domain = "main"};
    kept_.action = *record::BuildAction(kept_.inputs);
    EXPECT_TRUE(CreateDirectories(In("action")).ok());
  }
  Digest Put(std::string_view bytes) {
    EXPECT_TRUE(store_.Put(Digest::Of(bytes), bytes).ok());
    return Digest::Of(bytes);
  }
  absl::StatusOr<std::vector<AbsentInput>> LayOut() {
    return LayOutAction(kept_, store_, In("action"), stop_);
  }
  std::string Text(std::string_view path) { return *ReadFile(JoinPath(In("action"), path)); }

  store::MemoryStore store_;
  record::KeptAction kept_;
  Cancellation stop_;
};

TEST_F(ActionFolderTest, FilesLieWhereExecActionLooks) {
  const auto absent = LayOut();
  ASSERT_TRUE(absent.ok()) << absent.status();
  EXPECT_THAT(*absent, IsEmpty());
  EXPECT_EQ(Text("action"), kept_.action.action);
  EXPECT_EQ(Text("command"), kept_.action.command);
  EXPECT_EQ(Text("input/source"), "source");
  EXPECT_EQ(Text("input/abs/Game/inc/a.txt"), "include");
  EXPECT_EQ(Text("input/cooked/1"), "cooked");
  EXPECT_EQ(Text("input/tools/tools/x"), "program");
  EXPECT_EQ(Text("input/recipe"), record::EncodeRecipe(kept_.inputs.recipe));
  EXPECT_NE(StatFile(JoinPath(In("action"), "input/tools/tools/x"))->mode & S_IXUSR, 0u);
  EXPECT_EQ(StatFile(JoinPath(In("action"), "input/source"))->mode & S_IXUSR, 0u);
}

TEST_F(ActionFolderTest, AbsentInputsAreNamedAndNothingIsWritten) {
  store_.Drop(Digest::Of("include"));
  store_.Drop(Digest::Of("cooked"));
  const auto absent = LayOut();
  ASSERT_TRUE(absent.ok()) << absent.status();
  ASSERT_THAT(*absent, SizeIs(2));
  EXPECT_EQ((*absent)[0].path, "abs/Game/inc/a.txt");
  EXPECT_EQ((*absent)[0].what, "file(/Game/inc/a.txt)");
  EXPECT_EQ((*absent)[1].what, "cooked(b.png, .ktx2)");
  EXPECT_FALSE(FileExists(JoinPath(In("action"), "input")));
}

TEST_F(ActionFolderTest, AnInputWithWrongBytesCountsAsAbsent) {
  ASSERT_TRUE(store_.Corrupt(Digest::Of("source")));
  const auto absent = LayOut();
  ASSERT_TRUE(absent.ok()) << absent.status();
  ASSERT_THAT(*absent, SizeIs(1));
  EXPECT_EQ((*absent)[0].digest, Digest::Of("source"));
  EXPECT_EQ((*absent)[0].what, "the source");
}

TEST_F(ActionFolderTest, NobodyWaitsAnyMore) {
  stop_.Cancel();
  EXPECT_EQ(LayOut().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace galley::director
