// AffectedTest: Affected against a naive model: worlds of a few files, packages with random
// observations, and the changes between two worlds.

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "common/base/file.h"
#include "common/content/name.h"
#include "director/journal/index.h"
#include "director/journal/journal.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using record::Observation;
using record::ObservationKind;
using record::Observed;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AffectedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "affected").value();
    journal_ = Journal::Open(folder_).value();
  }
  void TearDown() override {
    journal_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  static JournalUpdate Update(std::string package, std::string platform,
                              std::vector<Observed> observed) {
    JournalUpdate update{.package = std::move(package), .platform = std::move(platform)};
    update.record.observed = std::move(observed);
    return update;
  }
  void Record(const JournalUpdate& update) {
    ASSERT_TRUE(journal_->Record({{update}}, false).ok());
  }
  std::vector<std::string> Affected(std::vector<content::Change> changes) {
    return journal_->Affected(changes).value();
  }

  static content::Change Changed(std::string path) {
    return {.path = std::move(path), .was_there = true, .is_there = true};
  }
  static content::Change Added(std::string path) {
    return {.path = std::move(path), .is_there = true};
  }
  static content::Change Removed(std::string path) {
    return {.path = std::move(path), .was_there = true};
  }

  std::string folder_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(AffectedTest, AChangedFileAffectsWhoReadItAndNobodyElse) {
  Record(Update("/G/a.frag", "w", {{{ObservationKind::kFile, "inc/x.glsl", ""}, "absent"}}));
  Record(Update("/G/b.frag", "w", {{{ObservationKind::kFile, "/G/inc/x.glsl", ""}, "absent"}}));
  Record(Update("/G/c.frag", "w", {{{ObservationKind::kFile, "inc/x.glslx", ""}, "absent"}}));
  EXPECT_THAT(Affected({Changed("/G/inc/x.glsl")}), ElementsAre("/G/a.frag", "/G/b.frag"));
  EXPECT_THAT(Affected({Added("/G/inc/x.glsl")}), ElementsAre("/G/a.frag", "/G/b.frag"));
  EXPECT_THAT(Affected({Changed("/G/inc")}), IsEmpty());
}

TEST_F(AffectedTest, AChangedSourceAffectsItsPackage) {
  Record(Update("/G/a.png", "w", {}));
  EXPECT_THAT(Affected({Changed("/G/a.png")}), ElementsAre("/G/a.png"));
}

TEST_F(AffectedTest, ListingsAndGlobsMeetPresenceButNotContent) {
  Record(Update("/G/l", "w", {{{ObservationKind::kList, "/G/props", ""}, "a"}}));
  Record(Update("/G/g", "w", {{{ObservationKind::kGlob, "/G", "**"}, "a"}}));
  EXPECT_THAT(Affected({Changed("/G/props/a")}), IsEmpty());
  EXPECT_THAT(Affected({Added("/G/props/b")}), ElementsAre("/G/g", "/G/l"));
  EXPECT_THAT(Affected({Removed("/G/other/b")}), ElementsAre("/G/g"));
}

TEST_F(AffectedTest, AFolderThatComesWithItsFirstFileIsSeen) {
  Record(Update("/G/e", "w", {{{ObservationKind::kExists, "/G/new", ""}, "absent"}}));
  Record(Update("/G/l", "w", {{{ObservationKind::kList, "/G", ""}, "e\nl"}}));
  EXPECT_THAT(Affected({Added("/G/new/deep/file")}), ElementsAre("/G/e", "/G/l"));
}

TEST_F(AffectedTest, ReadersOfACookedOutputFollowTransitively) {
  Record(Update("/G/a.png", "w", {}));
  Record(Update("/G/b.atlas", "w", {{{ObservationKind::kCooked, "a.png", ".ktx2"}, "absent"}}));
  Record(Update("/G/c.pack", "w", {{{ObservationKind::kCooked, "/G/b.atlas", ""}, "absent"}}));
  // The transitive search ends at a cycle.
  Record(Update("/G/d.pack", "w",
                {{{ObservationKind::kCooked, "/G/c.pack", ""}, "absent"},
                 {{ObservationKind::kCooked, "/G/d.pack", ""}, "absent"}}));
  EXPECT_THAT(Affected({Changed("/G/a.png")}),
              ElementsAre("/G/a.png", "/G/b.atlas", "/G/c.pack", "/G/d.pack"));
  EXPECT_THAT(Affected({Changed("/G/c.pack")}), ElementsAre("/G/c.pack", "/G/d.pack"));
}

TEST_F(AffectedTest, WhatARecordNoLongerLooksAtNoLongerMeetsIt) {
  Record(Update("/G/a", "w",
                {{{ObservationKind::kFile, "/G/old", ""}, "absent"},
                 {{ObservationKind::kCooked, "/G/in", ""}, "absent"}}));
  Record(Update("/G/a", "w", {{{ObservationKind::kFile, "/G/new", ""}, "absent"}}));
  EXPECT_THAT(Affected({Changed("/G/old"), Changed("/G/in")}), IsEmpty());
  EXPECT_THAT(Affected({Changed("/G/new")}), ElementsAre("/G/a"));
}

TEST_F(AffectedTest, WhatLiesBesideAPackageMeetsItByItsWholeName) {
  Record(Update("/G/a.mesh", "w",
                {{{ObservationKind::kExists, "a", ""}, "absent"},
                 {{ObservationKind::kFile, "a.png", ""}, "absent"},
                 {{ObservationKind::kFile, "sub", ""}, "absent"}}));
  Record(Update("/G/b.mesh", "w", {{{ObservationKind::kFile, "sub/a.png", ""}, "absent"}}));
  Record(Update("/top", "w", {{{ObservationKind::kFile, "beside", ""}, "absent"}}));
  EXPECT_THAT(Affected({Changed("/G/a.png")}), ElementsAre("/G/a.mesh"));
  EXPECT_THAT(Affected({Changed("/G/a")}), ElementsAre("/G/a.mesh"));
  EXPECT_THAT(Affected({Changed("/G/a.pn"), Changed("/G/a.png2"), Changed("/G/png")}), IsEmpty());
  EXPECT_THAT(Affected({Changed("/H/a.png"), Changed("/a.png"), Changed("/G/sub/a")}), IsEmpty());
  EXPECT_THAT(Affected({Changed("/G/sub/a.png")}), ElementsAre("/G/b.mesh"));
  EXPECT_THAT(Affected({Added("/G/sub/x")}), ElementsAre("/G/a.mesh")) << "with its folder";
  EXPECT_THAT(Affected({Changed("/beside")}), ElementsAre("/top"));
}

TEST_F(AffectedTest, WhatLiesBesideAPackageIsThatOfAllItsPlatforms) {
  const auto looks_at = [](const std::string& name, const std::string& platform) {
    return Update("/G/a", platform, {{{ObservationKind::kFile, name, ""}, "absent"}});
  };
  ASSERT_TRUE(journal_->Record({{looks_at("1", "w"), looks_at("2", "x")}}, false).ok());
  Record(looks_at("3", "w"));
  EXPECT_THAT(Affected({Changed("/G/1")}), IsEmpty());
  EXPECT_THAT(Affected({Changed("/G/2")}), ElementsAre("/G/a"));
  EXPECT_THAT(Affected({Changed("/G/3")}), ElementsAre("/G/a"));
  ASSERT_TRUE(journal_->Forget({{"/G/a"}}).ok());
  EXPECT_THAT(Affected({Changed("/G/2"), Changed("/G/3"), Changed("/G/a")}), IsEmpty());
}

TEST_F(AffectedTest, WhatAnotherPlatformLooksAtStaysIndexed) {
  const std::vector<Observed> old = {{{ObservationKind::kFile, "/G/old", ""}, "absent"}};
  ASSERT_TRUE(journal_->Record({{Update("/G/a", "w", old), Update("/G/a", "x", old)}}, false).ok());
  Record(Update("/G/a", "w", {}));
  EXPECT_THAT(Affected({Changed("/G/old")}), ElementsAre("/G/a"));
  Record(Update("/G/a", "x", {}));
  EXPECT_THAT(Affected({Changed("/G/old")}), IsEmpty());
}

TEST_F(AffectedTest, AForgottenPackageIsNotAffected) {
  Record(Update("/G/a", "w", {{{ObservationKind::kGlob, "/", "**"}, ""}}));
  Record(Update("/G/ab", "w", {}));
  ASSERT_TRUE(journal_->Forget({{"/G/a"}}).ok());
  EXPECT_THAT(Affected({Added("/G/a")}), IsEmpty());
  EXPECT_THAT(Affected({Changed("/G/ab")}), ElementsAre("/G/ab"));
}

// ---- the model ----

using World = std::map<std::string, int>;  // path -> content

const std::vector<std::string>& AllPaths() {
  static const std::vector<std::string> paths = {"/G/a",   "/G/a/b", "/G/a/b/c", "/G/d/e",
                                                 "/G/d/f", "/H/a",   "/H/g/h/i", "/x"};
  return paths;
}
const std::vector<std::string>& AllFolders() {
  static const std::vector<std::string> folders = {"/",    "/G", "/G/a", "/G/a/b",
                                                   "/G/d", "/H", "/H/g", "/H/g/h"};
  return folders;
}
const std::vector<std::string>& AllPackages() {
  static const std::vector<std::string> packages = {"/G/a", "/G/d/e", "/G/d/f", "/H/a", "/x"};
  return packages;
}

bool IsFolder(const World& world, const std::string& path) {
  return std::any_of(world.begin(), world.end(), [&](const auto& f) {
    return f.first != path && content::IsUnder(f.first, path);
  });
}

// Returns the value that an observation has in a world, as text.
std::string See(const World& world, const std::string& package, const Observation& what) {
  const std::string path = content::ResolveAsked(package, what.subject).value();
  std::string seen;
  switch (what.kind) {
    case ObservationKind::kFile:
      if (const auto file = world.find(path); file != world.end())
        return fmt::format("{}", file->second);
      return IsFolder(world, path) ? "folder" : "absent";
    case ObservationKind::kExists:
      return world.contains(path) ? "file" : IsFolder(world, path) ? "folder" : "absent";
    case ObservationKind::kList:
    case ObservationKind::kGlob:
      for (const auto& [file, text] : world) {
        if (file == path || !content::IsUnder(file, path)) continue;
        const std::string rest = file.substr(path == "/" ? 1 : path.size() + 1);
        const std::string entry =
            what.kind == ObservationKind::kGlob
                ? rest
                : rest.substr(0, rest.find('/') + (rest.find('/') == std::string::npos ? 0 : 1));
        if (seen.find(entry + "\n") == std::string::npos) seen += entry + "\n";
      }
      return seen;
    default:
      return "";
  }
}

class RandomAffectedTest : public AffectedTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }

  World RandomWorld() {
    World world;
    for (const std::string& path : AllPaths()) {
      const bool fits = std::none_of(world.begin(), world.end(), [&](const auto& f) {
        return content::IsUnder(path, f.first);
      });
      if (fits && random_() % 2 == 0) world[path] = static_cast<int>(random_() % 2);
    }
    return world;
  }

  std::vector<Observed> RandomObserved() {
    std::set<Observation> set;
    for (size_t n = random_() % 4; n > 0; --n) {
      switch (random_() % 5) {
        case 0:
          set.insert({ObservationKind::kFile,
                      random_() % 2 == 0 ? Pick(AllPaths()) : Pick(AllFolders()), ""});
          break;
        case 1:
          set.insert({ObservationKind::kExists,
                      random_() % 2 == 0 ? Pick(AllPaths()) : Pick(AllFolders()), ""});
          break;
        case 2:
          set.insert({ObservationKind::kList, Pick(AllFolders()), ""});
          break;
        case 3:
          set.insert({ObservationKind::kGlob, Pick(AllFolders()), "**"});
          break;
        case 4:
          set.insert({ObservationKind::kCooked, Pick(AllPackages()), ".o"});
          break;
      }
    }
    std::vector<Observed> observed;
    for (const Observation& what : set) observed.push_back({what, "absent"});
    return observed;
  }

  static std::vector<content::Change> ChangesOf(const World& before, const World& now) {
    std::vector<content::Change> changes;
    for (const std::string& path : AllPaths()) {
      const auto old_file = before.find(path);
      const auto new_file = now.find(path);
      const content::Change change{path, old_file != before.end(), new_file != now.end()};
      if (!change.was_there && !change.is_there) continue;
      if (change.was_there && change.is_there && old_file->second == new_file->second) continue;
      changes.push_back(change);
    }
    return changes;
  }

  // Adds to `packages` all readers of cooked outputs of its members.
  void AddReaders(std::set<std::string>& packages) const {
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [key, observed] : records_) {
        for (const Observed& one : observed) {
          if (one.what.kind == ObservationKind::kCooked && packages.contains(one.what.subject))
            grew |= packages.insert(key.first).second;
        }
      }
    }
  }

  std::set<std::string> TrulyAffected(const World& before, const World& now) const {
    std::set<std::string> affected;
    for (const auto& [key, observed] : records_) {
      const std::string& package = key.first;
      const Observation source{ObservationKind::kFile, package, ""};
      bool differs = See(before, package, source) != See(now, package, source);
      for (const Observed& one : observed)
        differs |= See(before, package, one.what) != See(now, package, one.what);
      if (differs) affected.insert(package);
    }
    AddReaders(affected);
    return affected;
  }

  // Applies the rule of index.h, without an index.
  std::set<std::string> AffectedByTheRule(const std::vector<content::Change>& changes) const {
    std::set<std::string> affected;
    for (const auto& [key, observed] : records_) {
      IndexEntries entries;
      AddEntriesOf(key.first, observed, entries);
      std::vector<std::string> paths = std::move(entries.paths);
      paths.push_back(key.first);
      const std::vector<std::string>& folders = entries.folders;
      for (const content::Change& change : changes) {
        const bool presence = change.was_there != change.is_there;
        const auto meets = [&](const std::string& name) {
          return change.path == name || (presence && content::IsUnder(change.path, name));
        };
        const auto is_above = [&](const std::string& name) {
          return presence && change.path != name && content::IsUnder(change.path, name);
        };
        if (std::any_of(paths.begin(), paths.end(), meets) ||
            std::any_of(folders.begin(), folders.end(), is_above))
          affected.insert(key.first);
      }
    }
    AddReaders(affected);
    return affected;
  }

  std::mt19937 random_{GetParam()};
  // By (package, platform).
  std::map<std::pair<std::string, std::string>, std::vector<Observed>> records_;
};

TEST_P(RandomAffectedTest, AffectedFollowsTheRuleAndNeverLeavesAnyoneOut) {
  for (int step = 0; step < 150; ++step) {
    const std::string package = Pick(AllPackages());
    if (random_() % 8 == 0) {
      ASSERT_TRUE(journal_->Forget({{package}}).ok());
      std::erase_if(records_, [&](const auto& entry) { return entry.first.first == package; });
    } else {
      const std::string platform = random_() % 2 == 0 ? "linux" : "windows";
      const std::vector<Observed> observed = RandomObserved();
      Record(Update(package, platform, observed));
      records_[{package, platform}] = observed;
    }
    const World before = RandomWorld();
    const World now = RandomWorld();
    const std::vector<content::Change> changes = ChangesOf(before, now);
    const std::vector<std::string> affected = Affected(changes);
    const std::set<std::string> rule = AffectedByTheRule(changes);
    ASSERT_THAT(affected, ::testing::ElementsAreArray(rule))
        << "seed " << GetParam() << " step " << step;
    for (const std::string& name : TrulyAffected(before, now))
      ASSERT_TRUE(rule.contains(name)) << name << " seed " << GetParam() << " step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomAffectedTest, ::testing::Range(0u, 4u));

}  // namespace
}  // namespace galley::director
