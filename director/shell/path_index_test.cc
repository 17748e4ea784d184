#include "director/shell/path_index.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "common/content/name.h"
#include "common/record/result.h"
#include "common/tree/plain_name.h"
#include "director/shell/shell_test_world.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A project with *.txt (copied), *.png (a texture, ".ktx2"), *.glb (a mesh, ".glb" and more),
// *.level (".bin" and generated packages) and *.glsl (".spv" on windows alone).
class PathIndexTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    AddRule("/**/*.glb", {.cooker = "mesh"});
    AddRule("/**/*.level", {.cooker = "level"});
    AddRule("/**/*.glsl", {.cooker = "shader"});
    project_.platforms[0].parameters["shader"] = "spirv-1.5";
    cookers_ = {
        {.name = "copy", .identity = "1", .outputs = {{.suffix = ""}}},
        {.name = "texture", .identity = "1", .outputs = {{.suffix = ".ktx2"}}},
        {.name = "mesh", .identity = "1", .outputs = {{.suffix = ".glb"}}, .has_more = true},
        {.name = "level", .identity = "1", .outputs = {{.suffix = ".bin"}}, .may_generate = true},
        {.name = "shader",
         .identity = "1",
         .outputs = {
             {.suffix = ".spv", .when_parameter = "shader", .parameter_prefix = "spirv-"}}}};
  }

  void StageMount(std::string path, std::string_view directory, std::string stage_as) {
    Mount(std::move(path), directory);
    options_.mounts.back().stage_as = std::move(stage_as);
  }

  std::shared_ptr<const ProjectCatalog> MakeCatalog() {
    project_.mounts = options_.mounts;
    const auto project = std::make_shared<project::Project>(project_);
    const auto resolver = std::make_shared<project::RecipeResolver>(*project, cookers_);
    return ProjectCatalog::ByNeed(Scan(), project, resolver, /*before=*/nullptr, /*changed=*/{})
        .value();
  }
  const PathIndex& Index() {
    if (index_ == nullptr) {
      catalog_ = MakeCatalog();
      index_ = std::make_unique<PathIndex>(catalog_, platform_);
    }
    return *index_;
  }

  // "/Game/a.png .ktx2", and "maybe", "after" the generators, and "(error)" where there is one.
  static std::string Text(const PathOwner& owner) {
    std::string text = fmt::format("{} {}", owner.package, owner.suffix);
    if (!owner.is_certain) text += " maybe";
    for (const std::string& generator : owner.generators) text += " after " + generator;
    if (!owner.error.empty()) text += " (error)";
    return text;
  }
  std::vector<std::string> Owners(std::string_view path) {
    std::vector<std::string> texts;
    for (const PathOwner& owner : Index().OwnersOf(path).owners) texts.push_back(Text(owner));
    return texts;
  }
  // "Game/a.png.ktx2: /Game/a.png .ktx2"
  std::vector<std::string> Twins(std::string_view path) {
    std::vector<std::string> texts;
    for (const PathOwner& twin : Index().OwnersOf(path).twins)
      texts.push_back(fmt::format("{}: {}", twin.path, Text(twin)));
    return texts;
  }
  // The error of the only owner.
  std::string Error(std::string_view path) {
    const std::vector<PathOwner> owners = Index().OwnersOf(path).owners;
    return owners.size() == 1 ? owners[0].error : fmt::format("{} owners", owners.size());
  }

  std::vector<record::CookerDescription> cookers_;
  PlatformIndex platform_ = 0;
  std::shared_ptr<const ProjectCatalog> catalog_;
  std::unique_ptr<PathIndex> index_;
};

TEST_F(PathIndexTest, APathLeadsToThePackageWhoseRecipeHasTheSuffix) {
  Write("content/ui/a.png", "");
  Write("content/b.txt", "");
  Write("content/notes.md", "");
  EXPECT_THAT(Owners("Game/ui/a.png.ktx2"), ElementsAre("/Game/ui/a.png .ktx2"));
  EXPECT_THAT(Owners("Game/b.txt"), ElementsAre("/Game/b.txt "));
  for (const char* path : {"Game/ui/a.png", "Game/ui/a.png.ktx", "Game/ui/a.ktx2", "Game/ui/a",
                           "Game/ui", "Game", "Game/b.txt.ktx2", "Game/ui/a.png.d/x.ktx2",
                           "Game/notes.md", "Game/none.png.ktx2", "ui/a.png.ktx2"}) {
    EXPECT_THAT(Owners(path), IsEmpty()) << path;
  }
}

TEST_F(PathIndexTest, APathThatIsNotPlainBelongsToNobody) {
  Write("content/b.txt", "");
  for (const char* path : {"", "/Game/b.txt", "Game//b.txt", "Game/./b.txt", "Game/x/../b.txt",
                           "Game/b.txt/", "Game\\b.txt", "Game/b.txt\n", "Game/\xff", "..", "."}) {
    EXPECT_THAT(Owners(path), IsEmpty()) << path;
    EXPECT_EQ(Index().OwnersOf(path).look_ups, 0u) << path;
  }
}

TEST_F(PathIndexTest, APathMayBelongToACookedAndToACopiedPackage) {
  Write("content/a.png", "");
  Write("content/a.png.ktx2", "");
  Write("content/a.png.ktx2.cook", "cooker = \"copy\"");
  EXPECT_THAT(Owners("Game/a.png.ktx2"), ElementsAre("/Game/a.png .ktx2", "/Game/a.png.ktx2 "));
}

TEST_F(PathIndexTest, FurtherOutputsAreKnownToACookAlone) {
  Write("content/m.glb", "");
  EXPECT_THAT(Owners("Game/m.glb.glb"), ElementsAre("/Game/m.glb .glb"));
  EXPECT_THAT(Owners("Game/m.glb.d/lod1.glb"), ElementsAre("/Game/m.glb .d/lod1.glb maybe"));
  EXPECT_THAT(Owners("Game/m.glb.d/a.d/b.c"), ElementsAre("/Game/m.glb .d/a.d/b.c maybe"));
  EXPECT_THAT(Owners("Game/m.glb.d"), IsEmpty());
  EXPECT_THAT(Owners("Game/m.glb.bin"), IsEmpty());
}

TEST_F(PathIndexTest, AHiddenFileHasItsDotInTheStem) {
  Write("content/.txt", "");
  Write("content/.d/x.txt", "");
  EXPECT_THAT(Owners("Game/.txt"), ElementsAre("/Game/.txt "));
  EXPECT_THAT(Owners("Game/.d/x.txt"), ElementsAre("/Game/.d/x.txt "));
}

TEST_F(PathIndexTest, RecipesArePerPlatform) {
  Write("content/s.glsl", "");
  EXPECT_THAT(Owners("Game/s.glsl.spv"), ElementsAre("/Game/s.glsl .spv"));
  index_ = nullptr;
  platform_ = 1;
  EXPECT_THAT(Owners("Game/s.glsl.spv"), IsEmpty());
}

TEST_F(PathIndexTest, MountsAreInvertedByWhereTheyAreStaged) {
  StageMount("/Plugins/X", "plugin", "/Game/dlc1");
  StageMount("/Plugins/Y", "other", "/Game/dlc1");
  StageMount("/Plugins/X/Plain", "plain", "");
  for (const char* path : {"plugin/a.txt", "other/a.txt", "other/b.txt", "content/dlc1/a.txt",
                           "content/c.txt", "plain/d.txt"})
    Write(path, "");
  EXPECT_THAT(Owners("Game/dlc1/a.txt"),
              ElementsAre("/Game/dlc1/a.txt ", "/Plugins/X/a.txt ", "/Plugins/Y/a.txt "));
  EXPECT_THAT(Owners("Game/dlc1/b.txt"), ElementsAre("/Plugins/Y/b.txt "));
  EXPECT_THAT(Owners("Plugins/X/a.txt"), IsEmpty()) << "it is staged elsewhere";
  EXPECT_THAT(Owners("Game/c.txt"), ElementsAre("/Game/c.txt "));
  EXPECT_THAT(Owners("Plugins/X/Plain/d.txt"), ElementsAre("/Plugins/X/Plain/d.txt "));
  EXPECT_THAT(Owners("Game/dlc1/Plain/d.txt"), IsEmpty()) << "the longest virtual path wins";
}

TEST_F(PathIndexTest, AFileAtThePathOfAnEmptyMountIsStagedAsTheMount) {
  Write("content/odd.txt", "");
  StageMount("/Game/odd.txt", "empty", "/Elsewhere/e");
  EXPECT_THAT(Owners("Elsewhere/e"), ElementsAre("/Game/odd.txt "));
  EXPECT_THAT(Owners("Game/odd.txt"), IsEmpty());
}

TEST_F(PathIndexTest, AModWinsAndTheNameIsOne) {
  Write("content/a.txt", "");
  Write("mod/a.txt", "");
  Mount("/Game", "mod", 5);
  options_.mounts.back().stage_as = "/Modded";
  EXPECT_THAT(Owners("Modded/a.txt"), ElementsAre("/Game/a.txt "));
  EXPECT_THAT(Owners("Game/a.txt"), IsEmpty());
}

TEST_F(PathIndexTest, AVariantForACultureIsAPackageOfItsOwn) {
  Write("content/ui/logo.png", "");
  Write("content/L10N/de/ui/logo.png", "");
  EXPECT_THAT(Owners("Game/L10N/de/ui/logo.png.ktx2"),
              ElementsAre("/Game/L10N/de/ui/logo.png .ktx2"));
  EXPECT_THAT(Owners("Game/ui/logo.png.ktx2"), ElementsAre("/Game/ui/logo.png .ktx2"));
}

TEST_F(PathIndexTest, PathsThatDifferInCaseAreTwins) {
  Write("content/a.png", "");
  Write("content/A.PNG.ktx2", "");
  Write("content/A.PNG.ktx2.cook", "cooker = \"copy\"");
  Write("content/caf\u00e9.txt", "");
  EXPECT_THAT(Owners("Game/a.png.ktx2"), ElementsAre("/Game/a.png .ktx2"));
  EXPECT_THAT(Twins("Game/a.png.ktx2"), ElementsAre("Game/A.PNG.ktx2: /Game/A.PNG.ktx2 "));
  EXPECT_THAT(Owners("Game/A.PNG.ktx2"), ElementsAre("/Game/A.PNG.ktx2 "));
  EXPECT_THAT(Twins("Game/A.PNG.ktx2"), ElementsAre("Game/a.png.ktx2: /Game/a.png .ktx2"));
  EXPECT_THAT(Owners("game/a.PNG.KTX2"), IsEmpty());
  EXPECT_THAT(Twins("game/a.PNG.KTX2"), ElementsAre("Game/A.PNG.ktx2: /Game/A.PNG.ktx2 ",
                                                    "Game/a.png.ktx2: /Game/a.png .ktx2"));
  EXPECT_THAT(Twins("Game/cafe\u0301.txt"),
              ElementsAre("Game/caf\u00e9.txt: /Game/caf\u00e9.txt "));
  EXPECT_THAT(Twins("Game/b.png.ktx2"), IsEmpty());
}

TEST_F(PathIndexTest, TwinsAcrossMountsAreFoundByWhereTheyAreStaged) {
  Write("content/DLC/a.txt", "");
  StageMount("/Plugins/X", "plugin", "/game/dlc");
  Write("plugin/A.txt", "");
  EXPECT_THAT(Twins("GAME/dlc/a.txt"),
              ElementsAre("Game/DLC/a.txt: /Game/DLC/a.txt ", "game/dlc/A.txt: /Plugins/X/A.txt "));
}

TEST_F(PathIndexTest, APackageThatThisWorldDoesNotCookIsAnOwnerWithTheReason) {
  Write("content/twin.txt", "");
  Write("content/Twin.txt", "");
  Write("content/never.png", "");
  Write("content/pointer.txt",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n");
  Write("content/sidecar.txt", "");
  Write("content/sidecar.txt.cook", "cooker = \"cpoy\"");
  project_.cook.never = {"/Game/never.*", "/Game/t.level/_gen/never"};
  Write("content/t.level", "");
  EXPECT_THAT(Error("Game/twin.txt"), HasSubstr("/Game/Twin.txt"));
  EXPECT_THAT(Owners("Game/twin.txt.ktx2"), IsEmpty()) << "its recipe never has that";
  EXPECT_THAT(Error("Game/never.png.ktx2"), HasSubstr("is never cooked"));
  EXPECT_THAT(Error("Game/pointer.txt"), HasSubstr("git lfs pull"));
  EXPECT_THAT(Error("Game/sidecar.txt"), HasSubstr("cpoy"));
  EXPECT_THAT(Owners("Game/sidecar.txt.any"), ElementsAre("/Game/sidecar.txt .any maybe (error)"))
      << "without a recipe it may have each";
  EXPECT_THAT(Error("Game/t.level/_gen/never"), HasSubstr("is never cooked"));
}

TEST_F(PathIndexTest, ANameThatThePlatformCannotHaveIsAnError) {
  Write("content/aux.png", "");
  Write("content/m.glb", "");
  EXPECT_EQ(Error("Game/aux.png.ktx2"), "");
  index_ = nullptr;
  project_.platforms[0].parameters["os"] = "windows";
  EXPECT_THAT(Error("Game/aux.png.ktx2"),
              HasSubstr("its output Game/aux.png.ktx2 cannot be in a tree: it has the name"));
  EXPECT_THAT(Error("Game/m.glb.d/con.glb"), HasSubstr("Game/m.glb.d/con.glb cannot be in a tree"));
  EXPECT_EQ(Error("Game/m.glb.d/lod1.glb"), "");
}

TEST_F(PathIndexTest, AGeneratedPackageIsCookedAfterItsGenerator) {
  Write("content/city.level", "");
  Write("content/b.txt", "");
  // The name ends at one of the dots; only the generator's list tells which.
  EXPECT_THAT(Owners("Game/city.level/_gen/cell_0_1.level.bin"),
              ElementsAre("/Game/city.level/_gen/cell_0_1 .level.bin maybe after /Game/city.level",
                          "/Game/city.level/_gen/cell_0_1.level .bin maybe after /Game/city.level",
                          "/Game/city.level/_gen/cell_0_1.level.bin  maybe after "
                          "/Game/city.level"));
  const PathOwner owner = Index().OwnersOf("Game/city.level/_gen/cell_0_1.level.bin").owners[1];
  EXPECT_EQ(owner.generated_name, "_gen/cell_0_1.level");
  EXPECT_THAT(Owners("Game/b.txt/_gen/x.bin"), IsEmpty()) << "it never generates";
  EXPECT_THAT(Owners("Game/none.level/_gen/x.bin"), IsEmpty());
  EXPECT_EQ(Index().PathsOf("/Game/city.level/_gen/cell_0_1.level"), std::nullopt);

  // This world is told what is generated.
  ASSERT_EQ(catalog_->Generated("/Game/city.level/_gen/cell_0_1.level", "level", "").error, "");
  ASSERT_EQ(catalog_->Generated("/Game/city.level/_gen/cell_0_1", "copy", "").error, "");
  EXPECT_THAT(Owners("Game/city.level/_gen/cell_0_1.level.bin"),
              ElementsAre("/Game/city.level/_gen/cell_0_1.level .bin maybe after /Game/city.level",
                          "/Game/city.level/_gen/cell_0_1.level.bin  maybe after "
                          "/Game/city.level"));
  EXPECT_THAT(Index().PathsOf("/Game/city.level/_gen/cell_0_1.level")->always,
              ElementsAre("Game/city.level/_gen/cell_0_1.level.bin"));
}

TEST_F(PathIndexTest, AFolderLeadsToThePackageWhoseCookTellsWhatItHas) {
  Write("content/city.level", "");
  Write("content/m.glb", "");
  Write("content/a.png", "");
  const auto folder_owners = [&](std::string_view path) {
    std::vector<std::string> texts;
    for (const PathOwner& owner : Index().FolderOwnersOf(path).owners) texts.push_back(Text(owner));
    return texts;
  };
  EXPECT_THAT(folder_owners("Game/m.glb.d"), ElementsAre("/Game/m.glb .d maybe"));
  EXPECT_THAT(folder_owners("Game/city.level/_gen"), ElementsAre("/Game/city.level /_gen maybe"));
  for (const char* const path :
       {"Game/a.png.d", "Game/city.level.d", "Game/m.glb/_gen", "Game/m.glb", "Game/none.d",
        "Game/.d", ".d", "/_gen", "_gen", ""}) {
    EXPECT_THAT(folder_owners(path), IsEmpty()) << path;
  }
  const std::string cell = "Game/city.level/_gen/cell.png";
  const std::string maybe = "/" + cell + " .d maybe after /Game/city.level";
  EXPECT_THAT(folder_owners(cell + ".d"), ElementsAre(maybe));
  ASSERT_EQ(catalog_->Generated("/" + cell, "texture", "").error, "");
  EXPECT_THAT(folder_owners(cell + ".d"), ElementsAre(maybe)) << "whatever outputs it has";
  EXPECT_THAT(folder_owners(cell + "/_gen"), IsEmpty());
}

TEST_F(PathIndexTest, GeneratorsComeOutermostFirst) {
  Write("content/city.level", "");
  const char* const path = "Game/city.level/_gen/cell.level/_gen/x";
  EXPECT_THAT(Owners(path), ElementsAre("/Game/city.level/_gen/cell.level/_gen/x  maybe after "
                                        "/Game/city.level after /Game/city.level/_gen/cell.level"));
  EXPECT_EQ(Index().OwnersOf(path).owners[0].generated_name, "_gen/x");
  ASSERT_EQ(catalog_->Generated("/Game/city.level/_gen/cell.level", "copy", "").error, "");
  EXPECT_THAT(Owners(path), IsEmpty()) << "the inner one is copied, and generates nothing";
}

TEST_F(PathIndexTest, AGeneratorInAnotherCaseIsATwin) {
  Write("content/city.level", "");
  EXPECT_THAT(Owners("Game/City.level/_gen/x"), IsEmpty());
  EXPECT_THAT(Twins("Game/City.level/_gen/x"),
              ElementsAre("Game/city.level/_gen/x: /Game/city.level/_gen/x  maybe after "
                          "/Game/city.level"));
}

TEST_F(PathIndexTest, AGeneratorWithAnErrorPassesItOn) {
  Write("content/city.level", "");
  Write("content/City.level", "");
  EXPECT_THAT(Error("Game/city.level/_gen/x"), HasSubstr("/Game/City.level"));
}

TEST_F(PathIndexTest, APackageHasPaths) {
  StageMount("/Plugins/X", "plugin", "/Game/dlc1");
  Write("plugin/m.glb", "");
  Write("content/t.level", "");
  Write("content/s.glsl", "");
  Write("content/notes.md", "");
  const auto mesh = Index().PathsOf("/Plugins/X/m.glb");
  ASSERT_TRUE(mesh.has_value());
  EXPECT_EQ(mesh->stem, "Game/dlc1/m.glb");
  EXPECT_THAT(mesh->always, ElementsAre("Game/dlc1/m.glb.glb"));
  EXPECT_TRUE(mesh->has_more && !mesh->may_generate);
  EXPECT_TRUE(Index().PathsOf("/Game/t.level")->may_generate);
  EXPECT_EQ(Index().PathsOf("/Game/notes.md"), std::nullopt);
  EXPECT_EQ(Index().PathsOf("/Game/none.txt"), std::nullopt);
  index_ = nullptr;
  platform_ = 1;
  EXPECT_THAT(Index().PathsOf("/Game/s.glsl")->always, IsEmpty());
}

TEST_F(PathIndexTest, ThePriceDoesNotRiseWithThePackages) {
  for (int i = 0; i < 3000; ++i) Write(fmt::format("content/many/{}.png", i), "");
  for (int i = 0; i < 50; ++i) {
    Write(fmt::format("content/many/{}.txt", i), "");
    Write(fmt::format("content/many/{}.txt.cook", i), fmt::format("labels = [\"l{}\"]", i));
  }
  for (int i = 0; i < 100; ++i) Mount(fmt::format("/Plugins/P{}", i), fmt::format("plugin{}", i));
  EXPECT_THAT(Owners("Game/many/7.png.ktx2"), ElementsAre("/Game/many/7.png .ktx2"));
  EXPECT_EQ(Index().OwnersOf("Game/many/7.png.ktx2").look_ups, 3u) << "one for each stem";
  EXPECT_THAT(Owners("Game/many/8.txt"), ElementsAre("/Game/many/8.txt "));
  EXPECT_EQ(Index().OwnersOf("Game/" + std::string(200, '.') + "x").look_ups, 200u);
  EXPECT_EQ(catalog_->snapshot().counters().files_hashed, 1u)
      << "one sidecar was read: the other packages were not resolved";
}

// The other direction, by a look at all packages.
class PathIndexPropertyTest : public PathIndexTest {
 protected:
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  template <typename T>
  T OneOf(const std::vector<T>& list) {
    return list[Below(list.size())];
  }

  // Files with names that have other names and suffixes in them, in folders that twins and
  // mounts share.
  void WriteFiles() {
    StageMount("/Plugins/X", "plugin", "/Game/b");
    StageMount("/Game/a", "inner", "/Plugins/Y");
    for (int i = 0; i < 40; ++i) {
      std::string name = OneOf<std::string>({"a", "A", "b", "a.glb", "a.png", ".x"});
      for (size_t k = Below(3); k > 0; --k)
        name += OneOf<std::string>({".glb", ".png", ".txt", ".ktx2", ".KTX2", ".d", ".level"});
      const std::string folder = OneOf<std::string>(
          {"content", "content/b", "content/B", "content/a.glb.d", "plugin", "inner"});
      const std::string path = folder + "/" + name;
      // A name may be a folder already.
      if (!CreateDirectories(Host(folder)).ok() || !WriteFileAtomic(Host(path), "1").ok()) continue;
      const size_t kind = Below(8);
      if (kind == 0) (void)WriteFileAtomic(Host(path + ".cook"), "cooker = \"copy\"");
      if (kind == 1) (void)WriteFileAtomic(Host(path + ".cook"), "cooker = \"cpoy\"");
    }
  }

  // The owners and twins of a path, by a look at all packages: "path: package suffix".
  std::pair<std::set<std::string>, std::set<std::string>> Expected(std::string_view path) {
    std::pair<std::set<std::string>, std::set<std::string>> found;
    const std::string folded = content::FoldName(path);
    for (const std::string& name : names_) {
      const std::string stem = StagePath(project_, name);
      const RecipesPtr recipes = catalog_->RecipesByRules(name);
      if (!folded.starts_with(content::FoldName(stem))) continue;
      const std::string asked(path.substr(stem.size()));
      std::set<std::string> suffixes;
      if (!record::ValidateSuffix(asked).ok()) continue;
      if (recipes == nullptr || record::MayHaveOutput((*recipes)[0].outputs, asked))
        suffixes.insert(asked);
      if (recipes != nullptr) {
        for (const std::string& suffix : (*recipes)[0].outputs.always) {
          if (content::FoldName(suffix) == content::FoldName(asked)) suffixes.insert(suffix);
        }
      }
      for (const std::string& suffix : suffixes) {
        (stem + suffix == path ? found.first : found.second)
            .insert(fmt::format("{}: {} {}", stem + suffix, name, suffix));
      }
    }
    return found;
  }

  static std::set<std::string> Texts(const std::vector<PathOwner>& owners) {
    std::set<std::string> texts;
    for (const PathOwner& owner : owners)
      texts.insert(fmt::format("{}: {} {}", owner.path, owner.package, owner.suffix));
    return texts;
  }

  // A path that a package has, or one that is near to it.
  std::string RandomPath() {
    const auto paths = Index().PathsOf(OneOf(names_));
    std::string path = paths->always.empty() ? paths->stem : OneOf(paths->always);
    switch (Below(6)) {
      case 0:
        return content::FoldName(path);
      case 1:
        return path + OneOf<std::string>({".d/x", ".d/a.ktx2", ".ktx2", ".", "..", ".d"});
      case 2:
        return path.substr(0, Below(path.size()));
      case 3:
        path[Below(path.size())] = OneOf<char>({'.', 'A', 'b', '/'});
        return path;
      default:
        return path;
    }
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
};

TEST_F(PathIndexPropertyTest, BothDirectionsAgreeWithALookAtAllPackages) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    random_.seed(seed);
    TearDown();
    cookers_.clear();
    project_ = {};
    options_ = {};
    SetUp();
    index_ = nullptr;
    WriteFiles();
    (void)Index();
    names_ = MakeCatalog()->names();
    ASSERT_THAT(names_, testing::Not(IsEmpty()));
    for (const std::string& name : names_) {
      const auto paths = catalog_->RecipesByRules(name) == nullptr
                             ? std::vector<std::string>{StagePath(project_, name)}
                             : Index().PathsOf(name)->always;
      for (const std::string& path : paths) {
        const std::vector<PathOwner> owners = Index().OwnersOf(path).owners;
        EXPECT_TRUE(std::ranges::any_of(
            owners, [&](const PathOwner& owner) { return owner.package == name; }))
            << path << " of " << name;
      }
    }
    for (int i = 0; i < 200; ++i) {
      const std::string path = RandomPath();
      const PathOwners found = Index().OwnersOf(path);
      const auto [owners, twins] = tree::IsPlainPath(path)
                                       ? Expected(path)
                                       : std::pair<std::set<std::string>, std::set<std::string>>();
      EXPECT_EQ(Texts(found.owners), owners) << path;
      EXPECT_EQ(Texts(found.twins), twins) << path;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace galley::director
