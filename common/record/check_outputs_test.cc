#include "common/record/check_outputs.h"

#include <string>
#include <vector>

#include "common/record/cooker_description.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::record {
namespace {

using ::testing::HasSubstr;

CookerDescription ShaderWithRules() {
  return {.name = "shader",
          .identity = "1",
          .outputs = {
              {.suffix = ".spv", .when_parameter = "shader", .parameter_prefix = "spirv-"},
              {.suffix = ".reflect.cbor"},
          }};
}

Observed ShaderTarget(std::string_view value) {
  return {{ObservationKind::kPlatform, "shader", ""}, std::string(value)};
}

std::string OutputRefusal(const CookerDescription& cooker, const std::vector<std::string>& suffixes,
                          const std::vector<Observed>& observed = {ShaderTarget("=spirv-1.5")}) {
  const absl::Status status = CheckOutputs(cooker, "{}", observed, suffixes);
  EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
  return std::string(status.message());
}

TEST(CheckOutputsTest, ACookWithWhatIsDeclaredIsTaken) {
  EXPECT_EQ(OutputRefusal(ShaderWithRules(), {".reflect.cbor", ".spv"}), "");
  EXPECT_EQ(OutputRefusal(ShaderWithRules(), {".reflect.cbor"}, {ShaderTarget("=msl-2.1")}), "");
  EXPECT_EQ(OutputRefusal(ShaderWithRules(), {".reflect.cbor"}, {ShaderTarget("unset")}), "");
  EXPECT_EQ(OutputRefusal({.name = "noop", .identity = "1"}, {}, {}), "");
}

TEST(CheckOutputsTest, AnOutputThatIsNotDeclaredIsNamed) {
  EXPECT_EQ(OutputRefusal(ShaderWithRules(), {".msl", ".reflect.cbor", ".spv"}),
            "cooker `shader` made the output \".msl\", which its description does not declare; "
            "declared: \".reflect.cbor\", \".spv\"");
  EXPECT_THAT(OutputRefusal({.name = "noop", .identity = "1"}, {""}, {}),
              HasSubstr("made the output \"\", which its description does not declare; declared: "
                        "none"));
}

TEST(CheckOutputsTest, AnOutputThatIsMissingIsNamed) {
  EXPECT_EQ(OutputRefusal(ShaderWithRules(), {".reflect.cbor"}),
            "cooker `shader` did not make the output \".spv\", which its description declares; "
            "declared: \".reflect.cbor\", \".spv\"");
}

TEST(CheckOutputsTest, FurtherOutputsAreTakenFromACookerThatMayHaveThem) {
  CookerDescription shader = ShaderWithRules();
  const std::vector<std::string> suffixes = {".d/fog.spv", ".reflect.cbor", ".spv"};
  EXPECT_THAT(OutputRefusal(shader, suffixes), HasSubstr("made the output \".d/fog.spv\""));
  shader.has_more = true;
  EXPECT_EQ(OutputRefusal(shader, suffixes), "");
  EXPECT_THAT(OutputRefusal(shader, {".reflect.cbor", ".spv", ".x"}),
              HasSubstr("declared: \".reflect.cbor\", \".spv\", further ones below \".d/\""));
}

TEST(CheckOutputsTest, AParameterThatDecidesMustBeLookedAt) {
  EXPECT_EQ(OutputRefusal(ShaderWithRules(), {".reflect.cbor"}, {}),
            "cooker `shader` made its outputs without a look at platform(shader), on which its "
            "description says that they depend");
}

TEST(CheckOutputsTest, OfManyOutputsTheFirstAreTold) {
  CookerDescription command = {
      .name = "command", .identity = "1", .outputs = {{.suffix = "*", .each_setting = "outputs"}}};
  std::string settings = R"({"outputs":[".000")";
  for (int i = 1; i < 50; ++i) settings += fmt::format(",\".{:03}\"", i);
  const std::vector<std::string> none;
  const absl::Status status = CheckOutputs(command, settings + "]}", {}, none);
  EXPECT_THAT(std::string(status.message()), HasSubstr("did not make the output \".000\""));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\".009\", 40 more"));
}

TEST(CheckGeneratedTest, ACookerThatMayNotGenerateIsRefused) {
  CookerDescription level = {.name = "level", .identity = "1"};
  const absl::Status status = CheckGenerated(level, "_gen/cell.level");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            "cooker `level` generated the package `_gen/cell.level`; its description says that it "
            "generates none");
  level.may_generate = true;
  EXPECT_TRUE(CheckGenerated(level, "_gen/cell.level").ok());
}

}  // namespace
}  // namespace galley::record
