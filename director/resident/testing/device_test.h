// DeviceTest: for tests of what devices see: a project with copied texts, textures, meshes and
// levels, and a store in memory.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/record/action.h"
#include "common/record/observation.h"
#include "common/record/recipe.h"
#include "common/store/testing/memory_store.h"
#include "director/journal/journal.h"
#include "director/remake/remaker.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {

// LeasingStore: a store in memory whose list of leases, or a blob that is put, can be held back, as
// by a slow disk, and that can lose something while a lease is taken, as by a collection.
class LeasingStore final : public store::MemoryStore {
 public:
  absl::StatusOr<std::vector<store::RootLease>> Leases() override {
    base::MutexLock lock(mutex_);
    while (is_held_) released_.Wait(mutex_);
    return MemoryStore::Leases();
  }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    {
      base::MutexLock lock(mutex_);
      while (!held_part_.empty() && bytes.find(held_part_) != std::string_view::npos) {
        is_put_held_ = true;
        released_.Wait(mutex_);
      }
    }
    return MemoryStore::Put(digest, bytes);
  }
  absl::Status ChangeLeases(const store::LeaseChanges& changes) override {
    std::function<void()> act;
    {
      base::MutexLock lock(mutex_);
      act = std::exchange(at_lease_, nullptr);
    }
    if (act) act();
    return MemoryStore::ChangeLeases(changes);
  }
  // The next change of leases does this first.
  void SetAtLease(std::function<void()> act) {
    base::MutexLock lock(mutex_);
    at_lease_ = std::move(act);
  }
  void Hold() {
    base::MutexLock lock(mutex_);
    is_held_ = true;
  }
  // Blobs with these bytes in them are held.
  void HoldPutOf(std::string part) {
    base::MutexLock lock(mutex_);
    held_part_ = std::move(part);
  }
  bool is_put_held() {
    base::MutexLock lock(mutex_);
    return is_put_held_;
  }
  void Release() {
    {
      base::MutexLock lock(mutex_);
      is_held_ = false;
      held_part_.clear();
    }
    released_.NotifyAll();
  }

 private:
  base::Mutex mutex_;
  base::CondVar released_;
  bool is_held_ GALLEY_GUARDED_BY(mutex_) = false;
  std::string held_part_ GALLEY_GUARDED_BY(mutex_);
  bool is_put_held_ GALLEY_GUARDED_BY(mutex_) = false;
  std::function<void()> at_lease_ GALLEY_GUARDED_BY(mutex_);
};

// *.txt is copied; *.png is a texture (".ktx2"); *.glb is a mesh (".glb" and further outputs);
// *.level makes ".bin" and generates packages.
class DeviceTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    AddRule("/**/*.glb", {.cooker = "mesh"});
    AddRule("/**/*.level", {.cooker = "level"});
    cookers_ = {
        {.name = "copy", .identity = "1", .outputs = {{.suffix = ""}}},
        {.name = "texture", .identity = "1", .outputs = {{.suffix = ".ktx2"}}},
        {.name = "mesh", .identity = "1", .outputs = {{.suffix = ".glb"}}, .has_more = true},
        {.name = "level", .identity = "1", .outputs = {{.suffix = ".bin"}}, .may_generate = true}};
    journal_ = Journal::Open(Host("state")).value();
    remaker_ = std::make_unique<Remaker>(
        memory_, [](std::string_view) { return std::string("1"); },
        Remaker::Options{.worker_program = "/bin/false", .scratch_directory = Host("scratch")});
  }
  void TearDown() override {
    remaker_.reset();
    journal_.reset();
    ShellTest::TearDown();
  }

  // The world of the files as they are now. Its rules are those of the first world.
  WorldPtr MakeNow() {
    project_.mounts = options_.mounts;
    auto world = std::make_shared<World>();
    world->number = ++number_;
    world->snapshot = Scan();
    if (rules_ == nullptr) {
      rules_ = std::make_shared<project::Project>(project_);
      resolver_ = std::make_shared<project::RecipeResolver>(*rules_, cookers_);
    }
    world->project = rules_;
    auto table = ProjectCatalog::Build(world->snapshot, world->project, resolver_);
    EXPECT_TRUE(table.ok()) << table.status();
    world->table = table.value();
    return world;
  }

  // A result whose outputs (suffix, bytes) are in the store.
  record::Result Made(const std::vector<std::pair<std::string, std::string>>& outputs) {
    return MakeResult(memory_, outputs);
  }
  record::Result MadeWith(const std::vector<std::pair<std::string, std::string>>& outputs,
                          const std::vector<std::string>& generated) {
    record::Result result = Made(outputs);
    for (const std::string& name : generated)
      result.details.generated.push_back({.name = name, .source = Digest::Of(name)});
    return result;
  }

  // Puts the result of a package that looked at nothing but its source into the action cache.
  // Returns its key.
  Digest Cache(const World& world, const std::string& package, const std::string& source,
               const record::Result& result) {
    const project::ResolvedRecipe recipe = world.table->RecipesOf(package)->at(kLinux);
    const Digest key = record::ActionKey({recipe.recipe, Digest::Of(source), {}, "main"}).value();
    EXPECT_TRUE(
        memory_
            .Commit({.results = {{record::WeakKey(Digest::Of(source), recipe.digest, "main"),
                                  record::EncodeSetOf(std::span<const record::Observed>()), key,
                                  record::EncodeResult(result)}}})
            .ok());
    return key;
  }
  // Notes the result in the journal, as a cook does.
  void Note(const World& world, const std::string& package, const std::string& source,
            const record::Result& result, std::vector<record::Observed> observed = {}) {
    const std::string file = package.substr(0, package.find("/_gen/"));
    const project::ResolvedRecipe recipe = world.table->RecipesOf(file)->at(kLinux);
    JournalUpdate update{.package = package, .platform = "linux"};
    update.record.recipe = recipe.digest;
    update.record.source = Digest::Of(source);
    update.record.weak_key = record::WeakKey(Digest::Of(source), recipe.digest, "main");
    update.record.action_key = Digest::Of("key of " + package);
    update.record.recipe_bytes = record::EncodeRecipe(recipe.recipe);
    update.record.result = record::EncodeResult(result);
    update.record.observed = std::move(observed);
    EXPECT_TRUE(journal_->Record({{update}}, false).ok());
  }

  static constexpr PlatformIndex kLinux = 2;  // in ShellTest's project
  std::vector<record::CookerDescription> cookers_;
  std::shared_ptr<project::Project> rules_;
  uint64_t number_ = 0;
  LeasingStore memory_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Remaker> remaker_;
};

}  // namespace galley::director
