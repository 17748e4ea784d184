#include "common/record/warning.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::record {
namespace {

TEST(WarningTest, ATextEndsWithTheNameOfItsKind) {
  const Warning warning{WarningKind::kTextureBlockSize, "70 x 66 texels"};
  EXPECT_EQ(warning.ToText(), "70 x 66 texels [texture-block-size]");
  EXPECT_EQ(Warning::Parse(warning.ToText()), warning);
}

TEST(WarningTest, ATextOfAnOlderGalleyIsRead) {
  for (const char* text :
       {"no normals", "", "odd [", "odd []", "odd [no-such-kind]", "[audio-file]"})
    EXPECT_EQ(Warning::Parse(text), (Warning{WarningKind::kOther, text})) << text;
}

TEST(WarningTest, AKindThatTheTextNamesWins) {
  EXPECT_EQ(KeptWarning(WarningKind::kMeshFile, "x"), "x [mesh-file]");
  EXPECT_EQ(KeptWarning(WarningKind::kMeshFile, "x [mesh-repaired]"), "x [mesh-repaired]");
  EXPECT_EQ(KeptWarning(WarningKind::kProgramWarning, "x [1]"), "x [1] [program-warning]");
}

TEST(WarningTest, NamesAreLowerCaseAndDiffer) {
  const std::vector<std::string> names = WarningKindNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), kWarningKindCount);
  for (const std::string& name : names) {
    EXPECT_THAT(name, testing::MatchesRegex("[a-z]+(-[a-z]+)*"));
    EXPECT_EQ(WarningKindName(WarningKindNamed(name).value()), name);
  }
  EXPECT_EQ(WarningKindNamed("texture"), std::nullopt);
}

TEST(WarningTest, ALaterLayerHasTheLastWordOnTheKindsThatItNames) {
  const auto rules = [](std::vector<WarningKind> off, std::vector<WarningKind> error) {
    WarningRules made;
    for (const WarningKind kind : off) made.off.set(static_cast<size_t>(kind));
    for (const WarningKind kind : error) made.error.set(static_cast<size_t>(kind));
    return made;
  };
  using enum WarningKind;
  WarningRules all = rules({kAudioFile, kMeshFile}, {kShaderCompiler, kMeshRepaired});
  all.Add(rules({kShaderCompiler}, {kMeshFile}));
  EXPECT_EQ(all, rules({kAudioFile, kShaderCompiler}, {kMeshRepaired, kMeshFile}));
  all.Add({});
  EXPECT_EQ(all, rules({kAudioFile, kShaderCompiler}, {kMeshRepaired, kMeshFile}));
}

// The table of docs/warnings.md has each kind once, and no other kind.
TEST(WarningTest, ThePageHasEachKind) {
  std::ifstream page(GALLEY_SOURCE_DIR "/docs/warnings.md");
  ASSERT_TRUE(page.is_open());
  std::multiset<std::string> rows;
  const std::regex row("^\\| `([a-z-]+)` \\|.*");
  for (std::string line; std::getline(page, line);) {
    if (std::smatch match; std::regex_match(line, match, row)) rows.insert(match[1]);
  }
  const std::vector<std::string> names = WarningKindNames();
  EXPECT_THAT(std::vector<std::string>(rows.begin(), rows.end()), testing::ElementsAreArray(names));
}

// The names of the enum, as they are spelled in the code.
std::set<std::string> KindsInCode() {
  std::ifstream header(GALLEY_SOURCE_DIR "/common/record/warning.h");
  std::set<std::string> kinds;
  bool is_inside = false;
  const std::regex name("^  (k[A-Za-z]+),");
  for (std::string line; std::getline(header, line);) {
    is_inside = (is_inside || line.starts_with("enum class WarningKind")) && line != "};";
    std::smatch match;
    if (is_inside && std::regex_search(line, match, name)) kinds.insert(match[1]);
  }
  return kinds;
}

// Every kind belongs to some warning, except `other`, which is only read.
TEST(WarningTest, EachKindIsTold) {
  std::set<std::string> untold = KindsInCode();
  ASSERT_EQ(untold.size(), kWarningKindCount);
  untold.erase("kOther");
  for (const char* folder : {"common", "director", "worker"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(GALLEY_SOURCE_DIR) / folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".cc") || path.ends_with("_test.cc") ||
          path.ends_with("record/warning.cc"))
        continue;
      std::ifstream file(path);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      std::erase_if(untold, [&](const std::string& kind) {
        return text.find("WarningKind::" + kind) != std::string::npos;
      });
    }
  }
  EXPECT_THAT(untold, testing::IsEmpty());
}

}  // namespace
}  // namespace galley::record
