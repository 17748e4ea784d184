#include "common/project/later_keys.h"

#include <gtest/gtest.h>

#include "common/base/status_macros.h"
#include "common/project/project.h"
#include "common/toml/toml_value.h"

namespace galley::project {
namespace {

std::string Refusal(std::string_view toml) {
  const auto document = ParseToml(toml, "galley.toml");
  EXPECT_TRUE(document.ok()) << document.status();
  const absl::Status refused = RefuseLaterKeys(*document, "galley.toml");
  return refused.ok() ? "" : MessageOf(refused);
}

TEST(LaterKeysTest, EachIsToldWithItsPlace) {
  EXPECT_EQ(Refusal("[cook]\nstartup = []\n"), "galley.toml:2: `cook.startup`: not yet");
  EXPECT_EQ(Refusal("[cook]\nprove = 0.5\n"), "galley.toml:2: `cook.prove`: not yet");
  EXPECT_EQ(Refusal("[output]\ncontainers = \"dist\"\n"),
            "galley.toml:2: `output.containers`: not yet");
  EXPECT_EQ(Refusal("[farm]\nlauncher = \"reapi\"\n"),
            "galley.toml:2: `farm.launcher` `reapi`: not yet");
  EXPECT_EQ(Refusal("[farm]\nendpoint = \"grpcs://farm:8980\"\n"),
            "galley.toml:2: `farm.endpoint`: not yet");
  EXPECT_EQ(Refusal("[farm]\ninstance = \"\"\n"), "galley.toml:2: `farm.instance`: not yet");
  EXPECT_EQ(Refusal("[farm]\nplatform = { OSFamily = \"linux\" }\n"),
            "galley.toml:2: `farm.platform`: not yet");
  EXPECT_EQ(Refusal("[farm]\nlauncher = [\"local\", \"slurm\"]\n"),
            "galley.toml:2: `farm.launcher`: a list of launchers: not yet; give one, as a text");
  EXPECT_EQ(Refusal("\n[[modify]]\nrun = \"x\"\n"), "galley.toml:2: `modify`: not yet");
  EXPECT_EQ(Refusal("[[chunk]]\nname = \"base\"\n"), "galley.toml:1: `chunk`: not yet");
  EXPECT_EQ(Refusal("[registry]\nreferences = []\n"), "galley.toml:1: `registry`: not yet");
}

TEST(LaterKeysTest, AllElementsOfAListAreLookedAt) {
  EXPECT_EQ(
      Refusal("[[platform]]\nname = \"a\"\n[[platform]]\nname = \"b\"\nprofile = \"plain\"\n"),
      "galley.toml:5: `platform.profile`: not yet");
  EXPECT_EQ(Refusal("[[platform]]\ntexture = \"bc7\"\n"),
            "galley.toml:2: `platform.texture` `bc7`: not yet");
  EXPECT_EQ(Refusal("[[rule]]\nmatch = \"/**\"\n[[rule]]\nwalls = { network = true }\n"),
            "galley.toml:4: `rule.walls`: not yet");
}

TEST(LaterKeysTest, ASidecarHasTheKeysOfARule) {
  const auto sidecar = ParseSidecar("\nwalls = { network = true }\n", "a.png.cook");
  EXPECT_EQ(MessageOf(sidecar.status()), "a.png.cook:2: `walls`: not yet");
}

TEST(LaterKeysTest, AllElseIsForOthersToJudge) {
  EXPECT_EQ(
      Refusal("[[platform]]\ntexture = \"bc\"\n[farm]\nlauncher = \"ssh\"\n[director]\nhtpp = 1\n"
              "[output]\ndir = \"x\"\n"),
      "");
  EXPECT_EQ(Refusal("director = 1\nplatform = [1]\n"), "");
}

TEST(LaterKeysTest, VariablesAreToldToo) {
  EXPECT_EQ(MessageOf(RefuseLaterVariables({{"GALLEY_COOK_PROVE", "0.5"}})),
            "the environment's GALLEY_COOK_PROVE: not yet");
  EXPECT_TRUE(RefuseLaterVariables({{"GALLEY_DIRECTOR_AHEAD", "true"}}).ok());
  EXPECT_TRUE(RefuseLaterVariables({{"GALLEY_FARM_LAUNCHER", "ssh"}}).ok());
  EXPECT_FALSE(RefuseLaterVariables({{"GALLEY_FARM_LAUNCHER", "reapi"}}).ok());
  EXPECT_TRUE(RefuseLaterVariables({{"GALLEY_STORE_DIR", "x"}}).ok());
}

}  // namespace
}  // namespace galley::project
