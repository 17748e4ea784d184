#include "director/shell/lost_files.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LostFilesTest : public ShellJournalTest {
 protected:
  // Adds a package that is cooked and known to the journal; the bytes of its output are its name.
  ResultId Add(const std::string& package, const std::vector<std::string>& generated = {}) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = package;
    stored->action_key = Digest::Of("key of " + package);
    stored->result.outputs = {{".out", Make(package)}};
    stored->result.provenance = {.worker = made_by_, .taken = absl::FromUnixSeconds(1)};
    for (const std::string& name : generated)
      stored->result.details.generated.push_back(
          {.name = name, .source = Make(name), .cooker = "", .settings = ""});
    JournalUpdate update{.package = package, .platform = "windows"};
    update.record.result = record::EncodeResult(stored->result);
    EXPECT_TRUE(journal_->Record(std::span(&update, 1), true).ok());
    const ResultId id = results_.Add(stored)->id;
    look_.packages.emplace_back(PackageId(static_cast<uint32_t>(look_.packages.size())), id);
    return id;
  }
  Digest Make(const std::string& bytes) {
    EXPECT_TRUE(store_.Put(Digest::Of(bytes), bytes).ok());
    EXPECT_TRUE(store_.Commit({}).ok());
    return Digest::Of(bytes);
  }
  tree::BuiltTree Build(const std::vector<tree::TreeFile>& files) {
    tree::BuiltTree built =
        tree::BuildTree(files, [](std::string_view name) { return std::string(name); });
    for (const auto& [digest, bytes] : built.directories)
      EXPECT_TRUE(store_.Put(digest, bytes).ok());
    return built;
  }
  std::vector<std::string> Lost() {
    std::vector<std::string> paths;
    const auto lost = LookForLostFiles(store_, results_, look_);
    EXPECT_TRUE(lost.ok()) << lost.status();
    for (const RootBuilt::Lost& one : *lost) {
      paths.push_back(one.path);
      EXPECT_EQ(look_.packages[one.package.value()].second, one.result);
    }
    return paths;
  }

  LookForLost look_{.look = 1, .packages = {}};
  std::string made_by_ = "far-1";
};

TEST_F(LostFilesTest, NothingIsFoundThatIsThere) {
  Add("/Game/a", {"_gen/x"});
  EXPECT_THAT(Lost(), IsEmpty());
}

TEST_F(LostFilesTest, OutputsAndGeneratedSourcesOfAllPackagesAreLookedFor) {
  Add("/Game/a", {"_gen/x", "_gen/y"});
  Add("/Game/b");
  Add("/Game/c");
  store_.inner.Drop(Digest::Of("_gen/y"));
  store_.inner.Drop(Digest::Of("/Game/c"));
  EXPECT_THAT(Lost(), ElementsAre("/Game/a/_gen/y", "/Game/c.out"));
}

TEST_F(LostFilesTest, AResultInDisputeIsAsGoodAsLost) {
  Add("/Game/a");
  Add("/Game/b");
  results_.Dispute(Digest::Of("key of /Game/b"));
  EXPECT_THAT(Lost(), ElementsAre("/Game/b"));
}

TEST_F(LostFilesTest, RootsAreWholeWhileAllOfThemIsThere) {
  const tree::BuiltTree built =
      Build({{.path = "a", .digest = Make("a")}, {.path = "sub/b", .digest = Make("b")}});
  const std::vector<Digest> keys = {Digest::Of("none"), Digest::Of("key of /Game/a")};
  const auto are_whole = [&] { return *AreWhole(store_, std::span(&built.root, 1), keys); };
  EXPECT_TRUE(are_whole());
  store_.inner.Drop(Digest::Of("b"));
  EXPECT_FALSE(are_whole());
  Make("b");
  EXPECT_TRUE(are_whole());
  const record::Result one{.outputs = {{".out", Digest::Of("a")}}};
  const record::Result other{.outputs = {{".out", Digest::Of("b")}}};
  const auto put = [&](const record::Result& result) {
    store::CommitBatch batch;
    batch.results.push_back({.weak_key = Digest::Of("weak"),
                             .observation_set = "",
                             .action_key = keys[1],
                             .result = record::EncodeResult(result)});
    (void)store_.Commit(batch);  // ALREADY_EXISTS: a dispute
  };
  put(one);
  EXPECT_TRUE(are_whole());
  put(other);  // which of the two is right?
  EXPECT_FALSE(are_whole());
}

TEST_F(LostFilesTest, WhatWasRevokedIsAsGoodAsLost) {
  Add("/Game/a");
  made_by_ = "far-2";
  Add("/Game/b");
  EXPECT_THAT(*PackagesThatLost(*journal_, store_), IsEmpty());
  ASSERT_TRUE(store_.inner.Revoke({.what = {.worker = "far-2"}}).ok());
  EXPECT_THAT(*PackagesThatLost(*journal_, store_), ElementsAre("/Game/b"))
      << "whether the store had its result or not";
}

TEST_F(LostFilesTest, ARootIsNotKnownToBeWholeWhenAResultMayHaveBeenRevoked) {
  const tree::BuiltTree built = Build({{.path = "a", .digest = Make("a")}});
  const std::vector<Digest> keys = {Digest::Of("key that the store does not have")};
  EXPECT_TRUE(*AreWhole(store_, std::span(&built.root, 1), keys));
  ASSERT_TRUE(store_.inner.Revoke({.what = {.worker = "far-2"}}).ok());
  EXPECT_FALSE(*AreWhole(store_, std::span(&built.root, 1), keys));
  EXPECT_TRUE(*AreWhole(store_, std::span(&built.root, 1), {}));
}

TEST_F(LostFilesTest, AFolderThatIsLostIsALossOfTheRoot) {
  const tree::BuiltTree built = Build({{.path = "sub/b", .digest = Make("b")}});
  EXPECT_TRUE(*AreWhole(store_, std::span(&built.root, 1), {}));
  for (const auto& [digest, bytes] : built.directories) {
    if (digest != built.root) store_.inner.Drop(digest);
  }
  EXPECT_FALSE(*AreWhole(store_, std::span(&built.root, 1), {}));
}

TEST_F(LostFilesTest, WhoLostSomethingIsTrustedNoMore) {
  Add("/Game/a");
  Add("/Game/b");
  store_.inner.Drop(Digest::Of("/Game/b"));
  const auto lost = LookForLostFiles(store_, results_, look_);
  EXPECT_THAT(DistrustLost(*journal_, results_, look_.packages, *lost).value(),
              ElementsAre("/Game/b"));
  EXPECT_TRUE(journal_->Find("/Game/a").value()->platforms.at("windows").is_trusted);
  EXPECT_FALSE(journal_->Find("/Game/b").value()->platforms.at("windows").is_trusted);
}

}  // namespace
}  // namespace galley::director
