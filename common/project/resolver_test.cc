#include "common/project/resolver.h"

#include <gmock/gmock.h>

namespace galley::project {
namespace {

using record::CookerDescription;
using record::SettingType;
using testing::HasSubstr;

Rule MakeRule(std::string_view match, RuleBody body, int line) {
  return {*content::Glob::Parse(match), std::move(body), line};
}

class ResolverTest : public testing::Test {
 protected:
  ResolverTest() {
    project_.platforms = {{.name = "windows"}, {.name = "android"}};
    cookers_ = {
        {.name = "copy", .identity = "1"},
        {.name = "data",
         .identity = "d1",
         .extensions = {"json"},
         .settings = {{.name = "cell_size", .type = SettingType::kInteger, .default_json = "0"}}},
        {.name = "texture",
         .identity = "t1",
         .extensions = {"png"},
         .settings = {{.name = "block", .type = SettingType::kString, .default_json = "\"6x6\""},
                      {.name = "mipmaps", .type = SettingType::kBool, .default_json = "true"},
                      {.name = "table", .type = SettingType::kTable, .default_json = "{}"},
                      {.name = "list", .type = SettingType::kStringList, .default_json = "[]"}}},
        {.name = "texture2", .identity = "t2", .extensions = {"tga"}},
        {.name = "texture3", .identity = "t3", .extensions = {"tga"}},
    };
  }

  void AddRule(std::string_view match, RuleBody body) {
    project_.rules.push_back(
        MakeRule(match, std::move(body), static_cast<int>(project_.rules.size() + 1) * 10));
  }
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> Resolve(
      std::string_view package, const std::optional<std::string>& sidecar = std::nullopt) {
    if (!resolver_) resolver_ = std::make_unique<RecipeResolver>(project_, cookers_);
    return resolver_->Resolve(package, sidecar ? std::optional(Sidecar{*sidecar}) : std::nullopt);
  }
  // "texture {...}" for a platform.
  std::string Recipe(std::string_view package, size_t platform = 0,
                     const std::optional<std::string>& sidecar = std::nullopt) {
    const auto resolved = Resolve(package, sidecar);
    if (!resolved.ok()) return resolved.status().ToString();
    if (*resolved == nullptr) return "no package";
    return (**resolved)[platform].recipe.cooker + " " + (**resolved)[platform].recipe.settings;
  }
  std::string Error(std::string_view package,
                    const std::optional<std::string>& sidecar = std::nullopt) {
    const absl::Status status = Resolve(package, sidecar).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  Project project_;
  std::vector<CookerDescription> cookers_;
  std::unique_ptr<RecipeResolver> resolver_;
};

TEST_F(ResolverTest, AFileWithoutRuleOrSidecarIsNoPackage) {
  AddRule("/Game/**/*.png", {.cooker = "texture"});
  AddRule("/Game/x/**", {.settings = R"({"mipmaps":false})"});
  EXPECT_EQ(Recipe("/Game/a.txt"), "no package");
  EXPECT_EQ(Recipe("/Game/x/a.txt"), "no package");
  EXPECT_THAT(Recipe("/Game/a.png"), HasSubstr("texture "));
  EXPECT_EQ(resolver_->RuleLineOf("/Game/x/a.png"), 10) << "the one that names the cooker";
  EXPECT_EQ(resolver_->RuleLineOf("/Game/x/a.txt"), 0);
}

TEST_F(ResolverTest, ARuleMayIgnoreCase) {
  AddRule("/game/**/*.{png,tga}", {.cooker = "texture"});
  EXPECT_EQ(Recipe("/Game/Rock.PNG"), "no package");
  project_.rules[0].ignore_case = true;
  resolver_.reset();
  EXPECT_THAT(Recipe("/Game/Rock.PNG"), HasSubstr("texture "));
  EXPECT_THAT(Recipe("/Game/a.Tga"), HasSubstr("texture "));
  EXPECT_EQ((**Resolve("/Game/Rock.PNG"))[0].recipe.extension, "png");
  EXPECT_EQ(Recipe("/Game/Rock.PNG.txt"), "no package");
}

TEST_F(ResolverTest, ASidecarIsNeverAPackage) {
  AddRule("/Game/**", {.cooker = "copy"});
  EXPECT_EQ(Recipe("/Game/a.png.cook"), "no package");
}

TEST_F(ResolverTest, LaterSettingsWinGeneralBeforePlatformWithinARule) {
  AddRule("/Game/**/*.png", {.cooker = "texture",
                             .settings = R"({"block":"4x4"})",
                             .platform_settings = {{"android", R"({"block":"8x8"})"}}});
  AddRule("/Game/ui/**", {.settings = R"({"mipmaps":false})"});
  EXPECT_EQ(Recipe("/Game/a.png"),
            R"(texture {"block":"4x4","list":[],"mipmaps":true,"table":{}})");
  EXPECT_EQ(Recipe("/Game/a.png", 1),
            R"(texture {"block":"8x8","list":[],"mipmaps":true,"table":{}})");
  EXPECT_EQ(Recipe("/Game/ui/a.png", 1),
            R"(texture {"block":"8x8","list":[],"mipmaps":false,"table":{}})");
}

TEST_F(ResolverTest, ALaterRulesGeneralSettingsWinOverAnEarlierRulesPlatformSettings) {
  AddRule("/Game/**/*.png",
          {.cooker = "texture", .platform_settings = {{"android", R"({"block":"8x8"})"}}});
  AddRule("/Game/**/*.png", {.settings = R"({"block":"5x5"})"});
  EXPECT_THAT(Recipe("/Game/a.png", 1), HasSubstr(R"("block":"5x5")"));
}

TEST_F(ResolverTest, TheSidecarWinsOverAllRules) {
  AddRule("/Game/**/*.png",
          {.cooker = "texture", .platform_settings = {{"android", R"({"block":"8x8"})"}}});
  const std::string sidecar =
      "settings = { block = \"5x5\" }\nplatform.windows.settings = { block = \"10x10\" }\n";
  EXPECT_THAT(Recipe("/Game/a.png", 0, sidecar), HasSubstr("10x10"));
  EXPECT_THAT(Recipe("/Game/a.png", 1, sidecar), HasSubstr("5x5"));
}

TEST_F(ResolverTest, TablesMergeAndListsReplace) {
  AddRule("/Game/**/*.png",
          {.cooker = "texture", .settings = R"({"table":{"a":1,"b":{"x":1}},"list":["a","b"]})"});
  AddRule("/Game/**/*.png", {.settings = R"({"table":{"b":{"y":2}},"list":["c"]})"});
  EXPECT_EQ(
      Recipe("/Game/a.png"),
      R"(texture {"block":"6x6","list":["c"],"mipmaps":true,"table":{"a":1,"b":{"x":1,"y":2}}})");
}

TEST_F(ResolverTest, AChangeOfCookerDropsEarlierSettings) {
  AddRule("/Game/**", {.cooker = "texture", .settings = R"({"mipmaps":false})"});
  AddRule("/Game/**/*.json", {.cooker = "data", .settings = R"({"cell_size":8})"});
  EXPECT_EQ(Recipe("/Game/a.json"), R"(data {"cell_size":8})");
  EXPECT_THAT(Recipe("/Game/a.png"), HasSubstr("\"mipmaps\":false"));
}

TEST_F(ResolverTest, NamingTheSameCookerAgainKeepsSettings) {
  AddRule("/Game/**", {.cooker = "texture", .settings = R"({"mipmaps":false})"});
  AddRule("/Game/**", {.cooker = "texture"});
  EXPECT_THAT(Recipe("/Game/a.png"), HasSubstr("\"mipmaps\":false"));
}

TEST_F(ResolverTest, ASidecarMakesAPackageOfTheCookerThatTakesTheExtension) {
  EXPECT_THAT(Recipe("/Game/a.png", 0, ""), HasSubstr("texture "));
  EXPECT_THAT(Error("/Game/a.tga", ""), HasSubstr("/Game/a.tga.cook: no rule names a cooker, and "
                                                  "several take `.tga` (texture2, texture3)"));
  EXPECT_THAT(Error("/Game/a.xyz", ""), HasSubstr("none takes `.xyz`"));
}

TEST_F(ResolverTest, ErrorsNameWhereTheyComeFrom) {
  AddRule("/Game/**/*.png", {.cooker = "texture"});
  AddRule("/Game/bad/**", {.settings = R"({"mipmap":true})"});
  AddRule("/Game/none/**", {.cooker = "textur"});
  EXPECT_THAT(Error("/Game/bad/a.png"),
              testing::AllOf(HasSubstr("galley.toml:20"), HasSubstr("mipmaps")));
  EXPECT_THAT(Error("/Game/none/a.png"),
              testing::AllOf(HasSubstr("galley.toml:30"), HasSubstr("did you mean `texture`?")));
  EXPECT_THAT(Error("/Game/a.png", "settings = { mipmaps = 3 }"), HasSubstr("/Game/a.png.cook"));
  EXPECT_THAT(Error("/Game/a.png", "cokker = \"x\""),
              HasSubstr("/Game/a.png.cook:1: unknown key `cokker`"));
  EXPECT_THAT(
      Error("/Game/a.png", "platform.windos.settings = {}\nplatform.linux.settings = { x = 1 }"),
      HasSubstr("unknown platform"));
}

TEST_F(ResolverTest, AllThatIsWrongIsToldEachAtItsOwnLine) {
  AddRule("/Game/**/*.png", {.cooker = "texture",
                             .settings = R"({"mipmap":true,"block":6})",
                             .platform_settings = {{"android", R"({"list":3})"}},
                             .setting_lines = {{"mipmap", 12}, {"block", 13}},
                             .platform_setting_lines = {{"android", {{"list", 14}}}}});
  const RecipeResolver resolver(project_, cookers_);
  std::vector<std::string> errors;
  EXPECT_FALSE(resolver.Resolve("/Game/a.png", std::nullopt, &errors).ok());
  EXPECT_THAT(errors,
              testing::ElementsAre(
                  "galley.toml:13: setting \"block\" of cooker \"texture\" is 6: expected string",
                  "galley.toml:12: cooker \"texture\" has no setting \"mipmap\"; did you mean "
                  "\"mipmaps\"?",
                  "galley.toml:14: setting \"list\" of cooker \"texture\" is 3: expected string "
                  "list"));
  EXPECT_EQ(resolver.CheckRules(), errors) << "the same words, so that each is told once";
  std::vector<std::string> again;
  EXPECT_FALSE(resolver.Resolve("/Game/b.png", std::nullopt, &again).ok());
  EXPECT_EQ(again, errors);
}

TEST_F(ResolverTest, ARuleThatMatchesNothingIsCheckedToo) {
  AddRule("/Game/none/**", {.cooker = "textur"});
  AddRule("/Game/none/**", {.settings = R"({"mipmap":true})"});  // a setting of no cooker
  AddRule("/Game/none/**", {.settings = R"({"cell_size":8})"});  // a setting of data
  AddRule("/Game/none/**", {.settings = R"({"cell_size":"large"})"});
  AddRule("/Game/none/**", {.cooker = "copy", .settings = R"({"cell_size":8})"});
  cookers_.push_back({.name = "command",
                      .settings = {{.name = "argv",
                                    .type = SettingType::kStringList,
                                    .default_json = "null",
                                    .required = true}}});
  AddRule("/Game/none/**", {.cooker = "command"});  // another rule may give its argv
  EXPECT_THAT(RecipeResolver(project_, cookers_).CheckRules(),
              testing::ElementsAre(
                  "galley.toml:10: unknown cooker `textur`; did you mean `texture`?",
                  "galley.toml:20: unknown setting `mipmap`; did you mean `mipmaps`?",
                  "galley.toml:40: setting \"cell_size\" of cooker \"data\" is \"large\": expected "
                  "integer",
                  "galley.toml:50: cooker \"copy\" has no setting \"cell_size\"; it has: none"));
}

TEST_F(ResolverTest, ASidecarIsNamedAsItsFileIs) {
  AddRule("/Game/**/*.png", {.cooker = "texture"});
  const RecipeResolver resolver(project_, cookers_);
  const auto error = [&](std::string text) {
    return std::string(
        resolver.Resolve("/Game/a.png", Sidecar{std::move(text), "content/a.png.cook"})
            .status()
            .message());
  };
  EXPECT_EQ(error("[settings]\nmipmap = true\n"),
            "content/a.png.cook:2: cooker \"texture\" has no setting \"mipmap\"; did you mean "
            "\"mipmaps\"?");
  EXPECT_EQ(error("\ncooker = \"none\"\n"),
            "content/a.png.cook:2: unknown cooker `none`; known: copy, data, texture, texture2, "
            "texture3");
  EXPECT_EQ(error("[platform.windos]\n"),
            "content/a.png.cook:1: unknown platform `windos`; did you mean `windows`?");
}

TEST_F(ResolverTest, EqualSettingsGiveEqualDigestsWhateverTheSidecarsBytes) {
  AddRule("/Game/**/*.png", {.cooker = "texture"});
  const auto plain = Resolve("/Game/a.png");
  const auto said = Resolve("/Game/b.png", "# a comment\nsettings = { mipmaps = true }\n");
  const auto other = Resolve("/Game/b.png", "settings = { mipmaps = false }\n");
  EXPECT_EQ((**plain)[0].digest, (**said)[0].digest);
  EXPECT_EQ((**plain)[0].digest, (**plain)[1].digest);
  EXPECT_NE((**plain)[0].digest, (**other)[0].digest);
}

TEST_F(ResolverTest, NeedsAreInNoKey) {
  AddRule("/Game/**/*.png", {.cooker = "texture",
                             .resources = record::ResourceCounts{{"gpu", 1}},
                             .keeps_lfs_pointers = true,
                             .memory_bytes = 1 << 30});
  AddRule("/Game/big/**", {.resources = record::ResourceCounts(),
                           .timeout = absl::Seconds(5),
                           .labels = std::vector<std::string>{"sdk-x"}});
  const auto small = Resolve("/Game/a.png");
  const auto big = Resolve("/Game/big/a.png");
  EXPECT_EQ((**small)[0].digest, (**big)[0].digest);
  EXPECT_EQ((**small)[0].needs.resources, (record::ResourceCounts{{"gpu", 1}}));
  EXPECT_EQ((**big)[0].needs.labels, std::vector<std::string>{"sdk-x"});
  EXPECT_TRUE((**big)[0].needs.resources.empty());
  EXPECT_TRUE((**big)[0].needs.keeps_lfs_pointers);
  EXPECT_EQ((**big)[0].needs.memory_bytes, 1u << 30);
  EXPECT_EQ((**big)[0].needs.timeout, absl::Seconds(5));
}

TEST_F(ResolverTest, ARuleThatSaysNothingSetsAsideWhatItMatches) {
  AddRule("/Game/**/*.bin", {});
  AddRule("/Game/**/*.dat", {.timeout = absl::Seconds(5)});
  Resolve("/Game/a.bin").IgnoreError();
  EXPECT_TRUE(resolver_->IsSetAside("/Game/m/a.bin"));
  EXPECT_FALSE(resolver_->IsSetAside("/Game/a.dat"));
  EXPECT_FALSE(resolver_->IsSetAside("/Game/a.png"));
}

TEST_F(ResolverTest, EqualPackagesShareTheirRecipes) {
  AddRule("/Game/**/*.png", {.cooker = "texture"});
  EXPECT_EQ(*Resolve("/Game/a.png"), *Resolve("/Game/b.png"));
}

TEST_F(ResolverTest, TheExtensionIsInTheRecipe) {
  AddRule("/Game/**", {.cooker = "copy"});
  EXPECT_EQ((**Resolve("/Game/a.PNG"))[0].recipe.extension, "png");
  EXPECT_NE((**Resolve("/Game/a.png"))[0].digest, (**Resolve("/Game/a.txt"))[0].digest);
}

TEST_F(ResolverTest, TheOutputsAreThoseOfTheSettingsAndOfThePlatform) {
  project_.platforms = {{.name = "windows", .parameters = {{"shader", "spirv-1.5"}}},
                        {.name = "mac", .parameters = {{"shader", "msl-2.1"}}}};
  cookers_.push_back(
      {.name = "shader",
       .identity = "s1",
       .extensions = {"frag"},
       .outputs = {{.suffix = ".spv", .when_parameter = "shader", .parameter_prefix = "spirv-"},
                   {.suffix = ".msl", .when_parameter = "shader", .parameter_prefix = "msl-"},
                   {.suffix = ".d/*", .each_setting = "variants"}},
       .settings = {{.name = "variants", .type = SettingType::kTable, .default_json = "{}"}}});
  AddRule("/Game/*.frag",
          {.cooker = "shader", .platform_settings = {{"mac", R"({"variants":{"fog":{}}})"}}});
  const auto resolved = Resolve("/Game/a.frag");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_THAT((**resolved)[0].outputs.always, testing::ElementsAre(".spv"));
  EXPECT_THAT((**resolved)[1].outputs.always, testing::ElementsAre(".d/fog", ".msl"));
}

TEST_F(ResolverTest, AGeneratedPackageIsResolvedByRulesAndItsGenerator) {
  AddRule("/Game/**/*.level", {.cooker = "data", .settings = R"({"cell_size":8})"});
  const RecipeResolver resolver(project_, cookers_);
  const auto by_rules = resolver.ResolveGenerated("/Game/a.level/_gen/x.level", "", "");
  ASSERT_TRUE(by_rules.ok()) << by_rules.status();
  EXPECT_EQ((**by_rules)[0].recipe.settings, R"({"cell_size":8})");
  const auto by_generator =
      resolver.ResolveGenerated("/Game/a.level/_gen/x.level", "data", R"({"cell_size":0})");
  EXPECT_EQ((**by_generator)[0].recipe.settings, R"({"cell_size":0})");
  const auto other = resolver.ResolveGenerated("/Game/a.gltf/_gen/x.png", "texture", "");
  EXPECT_EQ((**other)[0].recipe.cooker, "texture");
  EXPECT_FALSE(resolver.ResolveGenerated("/Game/a.gltf/_gen/x", "data", "[1]").ok());
  EXPECT_EQ(resolver.ResolveGenerated("/Game/a.gltf/_gen/x.json", "dta", "").status().message(),
            "generated by /Game/a.gltf: unknown cooker `dta`; did you mean `data`?");
}

}  // namespace
}  // namespace galley::project
