#include "director/host/environment_difference.h"

#include "gmock/gmock.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using testing::HasSubstr;

StoredResult ResultThatSaw(const std::string& variable, const std::string& value) {
  StoredResult result;
  result.package = "/Game/a.x";
  result.observed = {{{ObservationKind::kFile, "/Game/LEVEL", ""}, "absent"},
                     {{ObservationKind::kEnv, variable, ""}, value}};
  return result;
}

TEST(EnvironmentDifferenceTest, AVariableThatDiffersMattersWhereACookLookedAtIt) {
  const DifferingVariables differing = {{"LEVEL", ValueText("2")}};
  EXPECT_THAT(RefusalOf(differing, ResultThatSaw("LEVEL", "=1")),
              HasSubstr("variable LEVEL is \"1\" for the director and \"2\" here, and the cook of "
                        "/Game/a.x looked"));
  EXPECT_THAT(RefusalOf(differing, ResultThatSaw("LEVEL", "unset")),
              HasSubstr("is unset for the director and \"2\" here"));
  EXPECT_EQ(RefusalOf(differing, ResultThatSaw("OTHER", "=1")), "");
  EXPECT_EQ(RefusalOf({}, ResultThatSaw("LEVEL", "=1")), "");
}

TEST(EnvironmentDifferenceTest, ALongValueIsCutAndControlsAreEscaped) {
  EXPECT_EQ(ValueText(std::string(101, 'x')), "\"" + std::string(100, 'x') + "\"...");
  EXPECT_EQ(ValueText("a\nb").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace galley::director
