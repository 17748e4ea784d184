#include "director/cli/unsent_results.h"

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "common/store/layers/memory_store.h"
#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(UnsentResultsTest, ComeBackUntilThereAreNone) {
  const TemporaryFolder folder = *TemporaryFolder::Make(testing::TempDir(), "galley-unsent-");
  EXPECT_THAT(ReadUnsent(folder.path()), IsEmpty());
  ASSERT_TRUE(
      WriteUnsent(folder.path(), {{"/Game/a.txt", "pc"}, {"/Game/\"b\".txt", "phone"}}).ok());
  EXPECT_THAT(ReadUnsent(folder.path()),
              ElementsAre(Pair("/Game/a.txt", "pc"), Pair("/Game/\"b\".txt", "phone")));
  ASSERT_TRUE(WriteUnsent(folder.path(), {}).ok());
  EXPECT_FALSE(FileExists(JoinPath(folder.path(), "unsent.json")));
  EXPECT_TRUE(WriteUnsent(folder.path(), {}).ok());
}

TEST(UnsentResultsTest, ADamagedFileIsNone) {
  const TemporaryFolder folder = *TemporaryFolder::Make(testing::TempDir(), "galley-unsent-");
  for (const std::string text :
       {"", "[[\"/Game/a.txt\", \"pc\"], 7]", "{\"a\": [\"b\", \"c\"]}", "\xff"}) {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(folder.path(), "unsent.json"), text).ok());
    EXPECT_THAT(ReadUnsent(folder.path()), IsEmpty()) << text;
  }
}

TEST(UnsentResultsTest, OnlyWhatTheJournalHasIsSent) {
  const TemporaryFolder folder = *TemporaryFolder::Make(testing::TempDir(), "galley-unsent-");
  auto journal = *director::Journal::Open(folder.path());
  record::Result result;
  result.outputs = {{.suffix = ".out", .digest = Digest::Of("out")}};
  const auto update = [&](const std::string& package, const record::Result& of) {
    director::JournalUpdate one;
    one.package = package;
    one.platform = "pc";
    one.record.action_key = Digest::Of(package);
    one.record.recipe_bytes = "recipe";
    one.record.result = record::EncodeResult(of);
    ASSERT_TRUE(journal->Record(std::vector{one}, false).ok());
  };
  update("/Game/a.txt", result);
  update("/Game/wrong.txt", {.is_verdict = true, .error = "no"});
  update("/Game/forgotten.txt", result);
  store::MemoryStore store;
  ASSERT_TRUE(store.Put(Digest::Of("out"), "out").ok());
  ASSERT_TRUE(store
                  .Commit({.results = {{.action_key = Digest::Of("/Game/a.txt"),
                                        .result = record::EncodeResult(result)}}})
                  .ok());
  const auto found = FindUnsent(*journal, store,
                                {{"/Game/forgotten.txt", "pc"},
                                 {"/Game/a.txt", "pc"},
                                 {"/Game/a.txt", "phone"},
                                 {"/Game/wrong.txt", "pc"},
                                 {"/Game/gone.txt", "pc"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->package, "/Game/a.txt");
  EXPECT_EQ(found[0]->platform_name, "pc");
  EXPECT_EQ(found[0]->action_key, Digest::Of("/Game/a.txt"));
  EXPECT_EQ(found[0]->recipe_bytes, "recipe");
  EXPECT_EQ(found[0]->result.outputs, result.outputs);
}

}  // namespace
}  // namespace galley::cli
