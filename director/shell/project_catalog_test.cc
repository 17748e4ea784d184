#include "director/shell/project_catalog.h"

#include <filesystem>
#include <random>
#include <system_error>

#include "director/shell/shell_test_world.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProjectCatalogTest : public ShellTest {
 protected:
  const ProjectCatalog& Table() {
    if (world_ == nullptr) world_ = MakeWorld(threads_);
    return *world_->table;
  }
  ReferenceTarget Resolve(std::string_view as_written) {
    return Table().Resolve("/Game/maps/town.txt", as_written);
  }

  unsigned threads_ = 0;
  WorldPtr world_;
};

TEST_F(ProjectCatalogTest, PackagesAreTheFilesWithARuleOrASidecar) {
  Write("content/b.txt", "");
  Write("content/a.png", "");
  Write("content/notes.md", "");
  Write("content/odd.bin", "");
  Write("content/odd.bin.cook", "cooker = \"copy\"");
  EXPECT_THAT(Table().names(), ElementsAre("/Game/a.png", "/Game/b.txt", "/Game/odd.bin"));
  EXPECT_EQ(Table().RecipesOf("/Game/odd.bin")->front().recipe.cooker, "copy");
  EXPECT_EQ(Table().RecipesOf("/Game/a.png")->size(), 3u) << "one for each platform";
  EXPECT_EQ(Table().RecipesOf("/Game/notes.md"), nullptr);
  EXPECT_FALSE(Table().Find("/Game/notes.md").has_value());
  EXPECT_FALSE(Table().Find("/Game/odd.bin.cook").has_value());
}

class CatalogByNeedTest : public ProjectCatalogTest {
 protected:
  // Returns the catalog of the files of `before`, after `changed` were looked at again.
  std::shared_ptr<const ProjectCatalog> Next(const World& before,
                                             const std::vector<std::string>& changed) {
    SnapshotPtr snapshot = *before.snapshot->Refresh(changed);
    return *ProjectCatalog::ByNeed(std::move(snapshot), before.project, before.table->resolver(),
                                   before.table.get(), changed);
  }
};

TEST_F(CatalogByNeedTest, SaysTheSameAsOneOfAll) {
  Write("content/a.txt", "1");
  Write("content/b.txt", "1");
  Write("content/b.txt.cook", "cooker = \"cpoy\"");
  Write("content/notes.md", "");
  Write("content/odd.bin", "");
  Write("content/odd.bin.cook", "cooker = \"copy\"");
  (void)Table();
  const auto by_need = *ProjectCatalog::ByNeed(world_->snapshot, world_->project,
                                               world_->table->resolver(), /*before=*/nullptr, {});
  for (const char* name : {"/Game/a.txt", "/Game/b.txt", "/Game/notes.md", "/Game/odd.bin",
                           "/Game/odd.bin.cook", "/Game/absent"}) {
    const auto one = by_need->Find(name);
    const auto other = Table().Find(name);
    ASSERT_EQ(one.has_value(), other.has_value()) << name;
    if (one) {
      EXPECT_EQ(one->error, other->error) << name;
      EXPECT_EQ(one->source_bytes, other->source_bytes) << name;
    }
    EXPECT_EQ(by_need->RecipesOf(name) == nullptr, Table().RecipesOf(name) == nullptr) << name;
  }
  EXPECT_EQ(by_need->names(), Table().names());
  EXPECT_EQ(by_need->recipe_errors(), Table().recipe_errors());
  EXPECT_THAT(by_need->DifferentFrom(Table()), IsEmpty());
}

TEST_F(CatalogByNeedTest, WhatWasResolvedIsUsedWhereOnlyBytesDiffer) {
  Write("content/a.txt", "1");
  Write("content/b.txt", "1");
  (void)Table();
  Write("content/a.txt", "longer");
  const auto next = Next(*world_, {"/Game/a.txt"});
  EXPECT_EQ(&next->names(), &Table().names()) << "they are the same";
  EXPECT_EQ(next->Find("/Game/a.txt")->source_bytes, 6u);
  EXPECT_EQ(Table().Find("/Game/a.txt")->source_bytes, 1u);
}

TEST_F(CatalogByNeedTest, AnotherSidecarIsRead) {
  Write("content/a.txt", "1");
  Write("content/a.txt.cook", "cooker = \"copy\"");
  (void)Table();
  Write("content/a.txt.cook", "cooker = \"cpoy\"");
  const auto next = Next(*world_, {"/Game/a.txt.cook"});
  EXPECT_THAT(next->Find("/Game/a.txt")->error, HasSubstr("cpoy"));
  EXPECT_EQ(Table().Find("/Game/a.txt")->error, "");
}

TEST_F(CatalogByNeedTest, AFileThatComesOrGoesLeavesTheOthersResolved) {
  Write("content/a.txt", "1");
  Write("content/b.txt", "1");
  (void)Table();
  const RecipesPtr of_b = Table().RecipesOf("/Game/b.txt");
  Write("content/c.png", "1");
  std::filesystem::remove(Host("content/a.txt"));
  const auto next = Next(*world_, {"/Game/a.txt", "/Game/c.png"});
  EXPECT_FALSE(next->Find("/Game/a.txt").has_value());
  EXPECT_EQ(next->Find("/Game/c.png")->cooker, "texture");
  EXPECT_EQ(next->RecipesOf("/Game/b.txt"), of_b);
  EXPECT_THAT(next->names(), ElementsAre("/Game/b.txt", "/Game/c.png"));
  EXPECT_THAT(Table().names(), ElementsAre("/Game/a.txt", "/Game/b.txt"));
}

// Catalogs of one project under random edits, each made from the one before.
class CatalogEditsTest : public CatalogByNeedTest {
 protected:
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  std::string OneOf(const std::vector<std::string>& list) { return list[Below(list.size())]; }

  // Edits a file, a sidecar or a folder of one of two mounts. Returns the virtual path.
  std::string Edit() {
    const std::string mount = OneOf({"content", "content", "mod"});
    const std::string folder = OneOf({"", "", "a/", "A/", "b/"});
    const std::string name = OneOf({"x.txt", "X.txt", "y.png", "z.md", "Z.md"});
    const std::string host = mount + "/" + folder + name;
    switch (Below(12)) {
      case 0:  // a file of the mod hides a folder of the content
        std::filesystem::remove_all(Host("mod/b"));
        if (Below(2) == 0) Write("mod/b", "file");
        return "/Game/b";
      case 1:
        std::filesystem::remove_all(Host(mount + "/a"));
        return "/Game/a";
      case 2:
      case 3:
        Remove(host);
        return "/Game/" + folder + name;
      case 4:
        Remove(host + ".cook");
        return "/Game/" + folder + name + ".cook";
      case 5:
      case 6:
      case 7:
        Put(host + ".cook", OneOf({"cooker = \"copy\"", "cooker = \"cpoy\"", "labels = [\"l\"]",
                                   "cooker = \"texture\"\nsettings = { mipmaps = false }"}));
        return "/Game/" + folder + name + ".cook";
      default:
        Put(host, std::string(Below(9) + 1, 'x'));
        return "/Game/" + folder + name;
    }
  }

  // Removes a file, if it is there.
  void Remove(const std::string& path) {
    std::error_code ignored;  // a file may have the place of its folder
    std::filesystem::remove(Host(path), ignored);
  }
  // Writes a file, unless a file has the place of its folder.
  void Put(const std::string& path, const std::string& bytes) {
    const std::string host = Host(path);
    if (!CreateDirectories(host.substr(0, host.rfind('/'))).ok()) return;
    ASSERT_TRUE(WriteFileAtomic(host, bytes).ok());
  }

  // Everything that a catalog says of each path that an edit can make.
  static std::string Told(const ProjectCatalog& catalog) {
    std::string text;
    for (const char* folder : {"", "a/", "A/", "b/"}) {
      for (const char* name : {"x.txt", "X.txt", "y.png", "z.md", "Z.md"})
        text += ToldOf(catalog, fmt::format("/Game/{}{}", folder, name));
    }
    return text + ToldOf(catalog, "/Game/b") +
           (catalog.has_unread_sidecars() ? "unread sidecars" : "");
  }
  static std::string ToldOf(const ProjectCatalog& catalog, const std::string& name) {
    const std::optional<CatalogEntry> entry = catalog.Find(name);
    if (!entry) return name + " -\n";
    std::string text = fmt::format("{} {} {} {} {}", name, entry->error, entry->never_cook,
                                   entry->cooker, entry->source_bytes);
    for (const RecipesPtr& recipes : {catalog.RecipesOf(name), catalog.RecipesByRules(name)})
      text += recipes == nullptr ? " -" : " " + recipes->front().digest.ToString();
    return text + "\n";
  }

  std::mt19937 random_;
};

TEST_F(CatalogEditsTest, ACatalogOfEditsIsThatOfTheFilesFromNothing) {
  Mount("/Game", "mod", 5);
  project_.cook.never = {"/Game/a/x.*"};
  Write("content/x.txt", "");
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    random_.seed(seed);
    const WorldPtr world = MakeWorld();
    SnapshotPtr snapshot = world->snapshot;
    std::shared_ptr<const ProjectCatalog> before = world->table;
    // The first one has resolved all, or nothing yet.
    if (Below(2) == 0)
      before = *ProjectCatalog::ByNeed(snapshot, world->project, resolver_, /*before=*/nullptr, {});
    for (int step = 0; step < 40; ++step) {
      std::vector<std::string> edited;
      for (size_t i = 0; i < 1 + Below(3); ++i) edited.push_back(Edit());
      SCOPED_TRACE(fmt::format("step {}: {}", step, fmt::join(edited, ", ")));
      snapshot = *snapshot->Refresh(edited);
      const auto make = [&](const ProjectCatalog* from) {
        return *ProjectCatalog::ByNeed(snapshot, world->project, resolver_, from, edited);
      };
      const auto next = make(before.get());
      const auto from_nothing = make(nullptr);
      if (Below(4) == 0) {
        EXPECT_EQ(next->names(), from_nothing->names());
        EXPECT_EQ(next->recipe_errors(), from_nothing->recipe_errors());
      }
      // Some packages are left to a later catalog.
      if (Below(3) != 0) {
        EXPECT_EQ(Told(*next), Told(*from_nothing));
      }
      if (HasFailure()) return;
      before = next;
    }
  }
}

TEST_F(ProjectCatalogTest, APackageIsFoundByItsFile) {
  Write("content/a.txt", "");
  Write("content/notes.md", "");
  Write("mod/b.txt", "");
  Write("content/b.txt", "");
  Mount("/Game", "mod", 5);
  EXPECT_EQ(Table().NameOfFile("content/a.txt"), "/Game/a.txt");
  EXPECT_EQ(Table().NameOfFile("./content/../content/a.txt"), "/Game/a.txt");
  EXPECT_EQ(Table().NameOfFile(Host("content/a.txt")), "/Game/a.txt");
  EXPECT_EQ(Table().NameOfFile("mod/b.txt"), "/Game/b.txt");
  EXPECT_EQ(Table().NameOfFile("content/b.txt"), std::nullopt) << "the mod's lies over it";
  EXPECT_EQ(Table().NameOfFile("content/notes.md"), std::nullopt) << "no package";
  EXPECT_EQ(Table().NameOfFile("elsewhere/a.txt"), std::nullopt);
  EXPECT_EQ(Table().NameOfFile("/Game/a.txt"), std::nullopt) << "a name is no file";
}

TEST_F(ProjectCatalogTest, APackageWithAnErrorIsInTheTableWithIt) {
  Write("content/a.txt", "");
  Write("content/a.txt.cook", "cooker = \"cpoy\"");
  Write("content/b.txt", "");
  Write("content/b.txt.cook", "colour = 1");
  Write("content/C.txt", "");
  Write("content/c.txt", "");
  Link("/etc/passwd", "content/out.txt");
  EXPECT_THAT(Table().Find("/Game/a.txt")->error, HasSubstr("cpoy"));
  EXPECT_THAT(Table().Find("/Game/b.txt")->error, HasSubstr("colour"));
  EXPECT_THAT(Table().Find("/Game/c.txt")->error, HasSubstr("/Game/C.txt"));
  EXPECT_THAT(Table().Find("/Game/out.txt")->error, testing::Not(IsEmpty()));
  EXPECT_EQ(Table().RecipesOf("/Game/a.txt"), nullptr);
  EXPECT_EQ(Table().RecipesByRules("/Game/a.txt"), nullptr) << "no rule gives it any";
  EXPECT_EQ(Table().RecipesOf("/Game/c.txt"), nullptr);
  EXPECT_EQ(Table().RecipesByRules("/Game/c.txt")->front().recipe.cooker, "copy")
      << "only the file is wrong";
}

TEST_F(ProjectCatalogTest, WhatIsWrongWithRulesAndSidecarsIsToldOnceWithItsPlace) {
  project_.rules.push_back({*content::Glob::Parse("/Game/ui/**"),
                            {.settings = R"({"mipmap":true,"mipmaps":3})",
                             .setting_lines = {{"mipmap", 33}, {"mipmaps", 34}}},
                            31});
  for (const char* name : {"ui/a.png", "ui/b.png", "ui/c.txt", "props/a.png", "props/b.png"})
    Write(std::string("content/") + name, "");
  Write("content/props/a.png.cook", "\n\ncooker = \"txeture\"\n");
  Write("content/props/b.png.cook",
        "platform.android.settings = { mipmaps = 1 }\nsettings = { mipmaps = \"no\" }\n");
  Link("/etc/passwd", "content/ui/out.txt");  // wrong in any case
  EXPECT_THAT(
      Table().recipe_errors(),
      ElementsAre("content/props/a.png.cook:3: unknown cooker `txeture`; did you mean `texture`?",
                  "content/props/b.png.cook:2: setting \"mipmaps\" of cooker \"texture\" is "
                  "\"no\": expected bool",
                  "content/props/b.png.cook:1: setting \"mipmaps\" of cooker \"texture\" is 1: "
                  "expected bool",
                  "galley.toml:33: cooker \"texture\" has no setting \"mipmap\"; did you mean "
                  "\"mipmaps\"?",
                  "galley.toml:34: setting \"mipmaps\" of cooker \"texture\" is 3: expected bool",
                  "galley.toml:33: cooker \"copy\" has no setting \"mipmap\"; it has: none",
                  "galley.toml:34: cooker \"copy\" has no setting \"mipmaps\"; it has: none"));
  EXPECT_THAT(Table().Find("/Game/ui/a.png")->error, HasSubstr("galley.toml:33"));
}

TEST_F(ProjectCatalogTest, ANeverThatNamesNothingIsKnownOnceAllGeneratedPackagesAre) {
  Write("content/dev/notes.md", "");
  Write("content/a.txt", "");
  project_.cook.never = {{"/Game/dev/**", "galley.toml:7"},
                         {"/Game/dve/**", "galley.toml:8"},
                         {"/Game/a.txt/_gen/lod*", "galley.toml:9"},
                         {"/Game/*.txt", "galley.toml:10"}};
  const auto places = [&] {
    std::vector<std::string> texts;
    for (const project::Pattern& one : Table().UnmatchedNeverPatterns())
      texts.push_back(one.place + " " + one.text);
    return texts;
  };
  const content::Glob glob = *content::Glob::Parse("/Game/a.txt/_gen/lod*");
  EXPECT_THAT(places(),
              ElementsAre("galley.toml:8 /Game/dve/**", "galley.toml:9 /Game/a.txt/_gen/lod*"));
  EXPECT_FALSE(Table().IsMatchedBy(glob));
  (void)Table().Generated("/Game/a.txt/_gen/lod1.txt", "", "");
  EXPECT_THAT(places(), ElementsAre("galley.toml:8 /Game/dve/**"));
  EXPECT_TRUE(Table().IsMatchedBy(glob));
  EXPECT_TRUE(Table().IsMatchedBy(*content::Glob::Parse("/Game/dev/**"))) << "a file is enough";
}

TEST_F(ProjectCatalogTest, WhatIsSomethingElseToOtherRulesIsTold) {
  for (const char* name : {"a.txt", "b.txt", "c.png", "d.txt"})
    Write(std::string("content/") + name, "");
  const auto before = MakeWorld()->table;
  (void)before->Generated("/Game/a.txt/_gen/lod.txt", "", "");
  EXPECT_THAT(MakeWorld()->table->DifferentFrom(*before), ElementsAre("/Game/a.txt/_gen/lod.txt"))
      << "nothing is known of what is generated";
  AddRule("/Game/b.txt", {.memory_bytes = 7 << 20});
  AddRule("/Game/c.png", {.cooker = "copy"});
  project_.cook.never = {{"/Game/d.*", "galley.toml:7"}};
  Write("content/new.txt", "");
  EXPECT_THAT(MakeWorld()->table->DifferentFrom(*before),
              ElementsAre("/Game/a.txt/_gen/lod.txt", "/Game/b.txt", "/Game/c.png", "/Game/d.txt",
                          "/Game/new.txt"));
  EXPECT_THAT(before->DifferentFrom(*MakeWorld()->table), testing::Contains("/Game/new.txt"));
}

TEST_F(ProjectCatalogTest, AReferenceIsResolvedFromTheFolderOfItsFile) {
  Write("content/tex/wood.png", "");
  Write("content/maps/town.txt", "");
  for (const char* as_written :
       {"/Game/tex/wood.png", "../tex/wood.png", "..\\tex\\wood.png", "./../tex//wood.png"}) {
    EXPECT_EQ(Resolve(as_written).name, "/Game/tex/wood.png") << as_written;
    EXPECT_EQ(Resolve(as_written).error, "") << as_written;
  }
  EXPECT_EQ(Resolve("town.txt").name, "/Game/maps/town.txt");
}

TEST_F(ProjectCatalogTest, AReferenceThatLeadsNowhereSaysWhy) {
  Write("content/tex/wood.png", "");
  Write("content/readme.md", "");
  EXPECT_THAT(Resolve("../tex/oak.png").error, HasSubstr("no such file"));
  EXPECT_EQ(Resolve("../tex/oak.png").name, "/Game/tex/oak.png")
      << "the name is known, for messages";
  EXPECT_THAT(Resolve("/Engine/wood.png").error, HasSubstr("leaves the mounts"));
  EXPECT_THAT(Resolve("../../wood.png").error, HasSubstr("leaves the mounts"));
  EXPECT_THAT(Resolve("../../../../wood.png").error, testing::Not(IsEmpty()));
  EXPECT_EQ(Resolve("../../../../wood.png").name, "");
  EXPECT_THAT(Resolve("/Game/readme.md").error, HasSubstr("no rule or sidecar"));
  EXPECT_THAT(Resolve("/Game/tex").error, HasSubstr("folder"));
  EXPECT_THAT(Resolve("").error, testing::Not(IsEmpty()));
  EXPECT_THAT(Resolve("a\nb.png").error, testing::Not(IsEmpty()));
}

TEST_F(ProjectCatalogTest, AWrongSpellingIsAnErrorThatGivesTheRightOne) {
  Write("content/tex/Wood.png", "");
  EXPECT_EQ(Resolve("../tex/wood.png").error,
            "there is no such file; its name in other spelling is /Game/tex/Wood.png (case and "
            "Unicode form count): write the reference as the file is named, or set [project] "
            "fix_case = true");
  EXPECT_EQ(Resolve("../tex/wood.png").warning, "");
}

TEST_F(ProjectCatalogTest, WithFixCaseAWrongSpellingIsAWarning) {
  Write("content/tex/Wood.png", "");
  Write("content/Notes.md", "");
  project_.fix_case = true;
  EXPECT_EQ(Resolve("../tex/wood.png").name, "/Game/tex/Wood.png");
  EXPECT_EQ(Resolve("../tex/wood.png").error, "");
  EXPECT_EQ(Resolve("../tex/wood.png").warning,
            "refers to '../tex/wood.png', and the file is named /Game/tex/Wood.png: it is taken, "
            "since [project] fix_case = true; write the reference as the file is named");
  EXPECT_THAT(Resolve("/Game/notes.md").error, HasSubstr("/Game/Notes.md"))
      << "what it is near to is no package";
}

TEST_F(ProjectCatalogTest, NeverIsOfTheProject) {
  Write("content/dev/a.txt", "");
  Write("content/c.txt", "");
  project_.cook.never = {"/Game/dev/**"};
  EXPECT_TRUE(Table().Find("/Game/dev/a.txt")->never_cook);
  EXPECT_FALSE(Table().Find("/Game/c.txt")->never_cook);
  EXPECT_TRUE(Table().Generated("/Game/dev/a.txt/_gen/x.txt", "", "").never_cook);
}

TEST_F(ProjectCatalogTest, AMalformedNeverIsRefused) {
  const WorldPtr world = MakeWorld();
  auto project = std::make_shared<project::Project>(*world->project);
  project->cook.never = {"/Game/[a"};
  const auto built = ProjectCatalog::Build(world->snapshot, project, resolver_);
  EXPECT_TRUE(absl::IsInvalidArgument(built.status())) << built.status();
}

TEST_F(ProjectCatalogTest, VariantsAreOfTheCulturesThatAreAskedForOrOfTheProject) {
  const Cultures french = std::vector<std::string>{"fr"};
  Write("content/ui/logo.png", "");
  Write("content/L10N/de/ui/logo.png", "");
  Write("content/L10N/fr/ui/logo.png", "");
  Write("content/ui/icon.png", "");
  EXPECT_THAT(Table().VariantsOf("/Game/ui/logo.png", std::nullopt), IsEmpty())
      << "the project has no culture";
  EXPECT_THAT(Table().VariantsOf("/Game/ui/logo.png", french),
              ElementsAre("/Game/L10N/fr/ui/logo.png"));
  world_ = nullptr;
  project_.cook.cultures = {"de", "en"};
  EXPECT_THAT(Table().VariantsOf("/Game/ui/logo.png", std::nullopt),
              ElementsAre("/Game/L10N/de/ui/logo.png"));
  EXPECT_THAT(Table().VariantsOf("/Game/ui/logo.png", french),
              ElementsAre("/Game/L10N/fr/ui/logo.png"));
  EXPECT_THAT(Table().VariantsOf("/Game/ui/icon.png", std::nullopt), IsEmpty());
  Write("content/L10N/de/ui/gone.png", "");
  world_ = nullptr;
  EXPECT_THAT(Table().VariantsOf("/Game/ui/gone.png", std::nullopt), IsEmpty())
      << "there is no package to come along with";
  EXPECT_THAT(Table().VariantsOf("/Game/L10N/fr/ui/logo.png", std::nullopt), IsEmpty());
}

TEST_F(ProjectCatalogTest, AGeneratedPackageGetsTheRulesAndItsGeneratorsSettings) {
  EXPECT_EQ(Table().Generated("/Game/a.txt/_gen/image.png", "", "").error, "");
  EXPECT_EQ(Table().GeneratedRecipesOf("/Game/a.txt/_gen/image.png")->front().recipe.settings,
            R"({"mipmaps":true})");
  EXPECT_EQ(Table().Generated("/Game/a.txt/_gen/image.png", "", R"({"mipmaps":false})").error, "");
  EXPECT_EQ(Table().GeneratedRecipesOf("/Game/a.txt/_gen/image.png")->front().recipe.settings,
            R"({"mipmaps":false})");
  EXPECT_EQ(Table().Generated("/Game/a.txt/_gen/image.png", "copy", "").error, "");
  EXPECT_EQ(Table().GeneratedRecipesOf("/Game/a.txt/_gen/image.png")->front().recipe.cooker,
            "copy");
  EXPECT_EQ(Table().GeneratedRecipesOf("/Game/a.txt/_gen/other.png"), nullptr);
}

TEST_F(ProjectCatalogTest, AGeneratedPackageThatNoCookerTakesHasAnError) {
  EXPECT_THAT(Table().Generated("/Game/a.txt/_gen/x.weird", "", "").error, testing::Not(IsEmpty()));
  EXPECT_THAT(Table().Generated("/Game/a.txt/_gen/x.png", "txeture", "").error,
              HasSubstr("txeture"));
  EXPECT_EQ(Table().GeneratedRecipesOf("/Game/a.txt/_gen/x.png"), nullptr);
}

TEST_F(ProjectCatalogTest, AReferenceToAGeneratedPackageIsLeftToTheCore) {
  Write("content/maps/town.txt", "");
  EXPECT_EQ(Resolve("/Game/maps/town.txt/_gen/cell.txt").error, "");
  EXPECT_THAT(Resolve("/Game/maps/none.txt/_gen/cell.txt").error, HasSubstr("no such file"));
}

TEST_F(ProjectCatalogTest, TheMemoryThatARuleAllowsIsTold) {
  Write("content/large.txt", "");
  Write("content/small.txt", "");
  AddRule("/Game/large.txt", {.memory_bytes = uint64_t{8} << 30});
  EXPECT_EQ(Table().Find("/Game/large.txt")->memory_bytes, uint64_t{8} << 30);
  EXPECT_EQ(Table().Find("/Game/small.txt")->memory_bytes, 0u);
}

constexpr char kPointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n";

TEST_F(ProjectCatalogTest, APointerOfGitLfsThatIsCopiedIsAnError) {
  Write("content/a.txt", kPointer);
  Write("content/old.txt", "version https://hawser.github.com/spec/v1\r\noid sha256:1\r\n");
  Write("content/b.txt", "version 1: the file, which is as long as a pointer of Git LFS is");
  EXPECT_THAT(Table().Find("/Game/a.txt")->error, HasSubstr("run `git lfs pull`"));
  EXPECT_THAT(Table().Find("/Game/a.txt")->error, HasSubstr("lfs = \"keep\""));
  EXPECT_THAT(Table().Find("/Game/old.txt")->error, HasSubstr("is a Git LFS pointer"));
  EXPECT_EQ(Table().Find("/Game/b.txt")->error, "");
}

TEST_F(ProjectCatalogTest, ARuleOrASidecarKeepsPointersOfGitLfs) {
  for (const char* name : {"a", "b", "c", "d"})
    Write(fmt::format("content/{}.txt", name), kPointer);
  AddRule("/Game/{a,b}.txt", {.keeps_lfs_pointers = true});
  AddRule("/Game/b.txt", {.keeps_lfs_pointers = false});
  Write("content/c.txt.cook", "lfs = \"keep\"");
  EXPECT_EQ(Table().Find("/Game/a.txt")->error, "");
  EXPECT_NE(Table().Find("/Game/b.txt")->error, "") << "the last rule that says it wins";
  EXPECT_EQ(Table().Find("/Game/c.txt")->error, "");
  EXPECT_NE(Table().Find("/Game/d.txt")->error, "");
}

TEST_F(ProjectCatalogTest, WhetherPointersAreKeptIsNotInTheKeyAndStillADifference) {
  Write("content/a.txt", kPointer);
  Write("content/b.txt", "x");
  const auto before = MakeWorld()->table;
  AddRule("/Game/a.txt", {.keeps_lfs_pointers = true});
  const auto after = MakeWorld()->table;
  EXPECT_EQ(after->RecipesOf("/Game/a.txt")->front().digest,
            before->RecipesOf("/Game/a.txt")->front().digest);
  EXPECT_THAT(after->DifferentFrom(*before), ElementsAre("/Game/a.txt"));
}

TEST_F(CatalogByNeedTest, AFileThatBecomesAPointerOfGitLfsIsAnErrorThen) {
  Write("content/a.txt", "the file");
  Write("content/b.txt", kPointer);
  (void)Table();
  Write("content/a.txt", kPointer);
  Write("content/b.txt", "the file");
  const auto next = Next(*world_, {"/Game/a.txt", "/Game/b.txt"});
  EXPECT_NE(next->Find("/Game/a.txt")->error, "");
  EXPECT_EQ(next->Find("/Game/b.txt")->error, "");
}

TEST_F(ProjectCatalogTest, ResourcesAreTheRulesAndThreadsDoNotMatter) {
  for (int i = 0; i < 3000; ++i) Write("content/many/" + std::to_string(i) + ".txt", "");
  AddRule("/Game/many/7.txt", {.resources = record::ResourceCounts{{"gpu", 1}}});
  threads_ = 4;
  const std::vector<std::string> names = Table().names();
  EXPECT_EQ(names.size(), 3000u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(Table().Find("/Game/many/7.txt")->resources, ElementsAre(testing::Pair("gpu", 1)));
  EXPECT_THAT(Table().Find("/Game/many/8.txt")->resources, IsEmpty());
}

}  // namespace
}  // namespace galley::director
