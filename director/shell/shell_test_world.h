// ShellTestWorld: for the tests of this folder: a small project on the disk, its World, and a store
// that counts calls and can fail.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/content/testing/test_tree.h"
#include "common/record/result.h"
#include "common/store/testing/memory_store.h"
#include "director/journal/journal.h"
#include "director/shell/project_sources.h"
#include "director/shell/result_table.h"
#include "director/shell/world.h"
#include "gmock/gmock.h"

namespace galley::director {

// WatchedStore: a MemoryStore that counts look-ups and commits, and returns the errors of the test.
class WatchedStore final : public store::Store {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    if (on_find_missing) on_find_missing(digests);
    return inner.FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return inner.Get(digest); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    ++puts;
    return put_error.ok() ? inner.Put(digest, bytes) : put_error;
  }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> keys) override {
    ++look_ups;
    if (!look_up_error.ok()) return look_up_error;
    return inner.ObservationSets(keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> keys) override {
    ++look_ups;
    if (!look_up_error.ok()) return look_up_error;
    return inner.Results(keys);
  }
  absl::StatusOr<store::StoreInfo> Info() override { return inner.Info(); }
  absl::StatusOr<uint64_t> AllocateSegment() override { return inner.AllocateSegment(); }
  absl::StatusOr<std::vector<std::optional<store::BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    return inner.Locate(digests);
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    return inner.FindLost(digests);
  }
  absl::Status Commit(const store::CommitBatch& batch) override {
    ++commits;
    if (on_commit) on_commit(batch);
    return commit_error.ok() ? inner.Commit(batch) : commit_error;
  }
  absl::StatusOr<uint64_t> Publish(const store::PublishedRoot& root) override {
    return inner.Publish(root);
  }
  absl::StatusOr<std::vector<store::PublishedRoot>> Roots(std::string_view project_id) override {
    return inner.Roots(project_id);
  }
  absl::Status Forget(std::span<const Digest> keys) override { return inner.Forget(keys); }
  absl::StatusOr<std::vector<record::Revocation>> Revocations() override {
    return inner.Revocations();
  }

  store::MemoryStore inner;
  std::atomic<int> puts = 0;
  int look_ups = 0;
  int commits = 0;
  absl::Status put_error;
  absl::Status look_up_error;
  absl::Status commit_error;
  std::function<void(const store::CommitBatch&)> on_commit;
  std::function<void(std::span<const Digest>)> on_find_missing;
};

// ShellTest: a project with the mount /Game (<dir>/content) and the platforms windows (0), android
// (1) and linux (2), which has the parameters of windows. Rules: *.txt is copied, *.png is a
// texture.
class ShellTest : public content::ContentTest {
 protected:
  void SetUp() override {
    content::ContentTest::SetUp();
    project_.name = "tower";
    project_.root = dir_;
    project_.platforms = {{.name = "windows", .parameters = {{"texture", "bc"}}},
                          {.name = "android", .parameters = {{"texture", "astc"}}},
                          {.name = "linux", .parameters = {{"texture", "bc"}}}};
    AddRule("/**/*.txt", {.cooker = "copy"});
    AddRule("/**/*.png", {.cooker = "texture"});
    environment_ = {{"LEVEL", "9"}, {"EMPTY", ""}};
  }

  void AddRule(std::string_view match, project::RuleBody body) {
    project_.rules.push_back({*content::Glob::Parse(match), std::move(body),
                              static_cast<int>(project_.rules.size() + 1) * 10});
  }

  // Scans the files, and makes a World from them and the present project_.
  WorldPtr MakeWorld(unsigned threads = 0) {
    project_.mounts = options_.mounts;
    auto world = std::make_shared<World>();
    world->snapshot = Scan();
    world->project = std::make_shared<project::Project>(project_);
    const std::vector<record::CookerDescription> cookers = {
        {.name = "copy", .identity = "1"},
        {.name = "texture",
         .identity = "t1",
         .extensions = {"png"},
         .settings = {
             {.name = "mipmaps", .type = record::SettingType::kBool, .default_json = "true"}}}};
    resolver_ = std::make_shared<project::RecipeResolver>(*world->project, cookers);
    auto table = ProjectCatalog::Build(world->snapshot, world->project, resolver_, threads);
    EXPECT_TRUE(table.ok()) << table.status();
    world->table = table.value();
    world->environment = environment_;
    return world;
  }

  SourcesPtr SourcesOf(const WorldPtr& world) {
    return std::make_shared<ProjectSources>(world, tools_);
  }

  // Returns a result whose outputs (suffix, bytes) are in `store`.
  static record::Result MakeResult(
      store::Store& store, const std::vector<std::pair<std::string, std::string>>& outputs) {
    record::Result result;
    for (const auto& [suffix, bytes] : outputs) {
      EXPECT_TRUE(store.Put(Digest::Of(bytes), bytes).ok());
      result.outputs.push_back({suffix, Digest::Of(bytes)});
    }
    const std::string details = record::EncodeDetails(result.details);
    EXPECT_TRUE(store.Put(Digest::Of(details), details).ok());
    result.provenance.worker = "local-7";
    return result;
  }
  static record::Result MakeVerdict(std::string error) {
    record::Result result;
    result.is_verdict = true;
    result.error = std::move(error);
    return result;
  }

  project::Project project_;
  std::map<std::string, std::string> environment_;
  std::shared_ptr<const project::RecipeResolver> resolver_;
  ToolDigests tools_;
  ResultTable results_;
  WatchedStore store_;
};

// ShellJournalTest: ShellTest with a journal.
class ShellJournalTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    journal_ = Journal::Open(Host("state")).value();
  }
  void TearDown() override {
    journal_.reset();
    ShellTest::TearDown();
  }

  std::unique_ptr<Journal> journal_;
};

}  // namespace galley::director
