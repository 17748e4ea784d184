#include "director/cli/farm_doctor.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

using ::testing::HasSubstr;
using Level = FarmFinding::Level;

const std::vector<record::CookerDescription> kOwn = {{.name = "copy", .identity = "1"},
                                                     {.name = "texture", .identity = "5"}};

ProgramOutput Said(int code, std::string output, std::string errors = "") {
  return {.exit = {.code = code}, .output = std::move(output), .errors = std::move(errors)};
}

FarmFinding Host(const absl::StatusOr<ProgramOutput>& answer,
                 const std::string& program = "/opt/galley") {
  return JudgeHost("build@node7", program, answer, kOwn);
}

TEST(FarmDoctorTest, AHostWithTheSameCookersIsWell) {
  const FarmFinding found = Host(Said(0, record::EncodeDescriptions(kOwn)));
  EXPECT_EQ(found.level, Level::kOk);
  EXPECT_THAT(found.text, HasSubstr("build@node7: reached"));
  EXPECT_EQ(Host(Said(0, "x86_64\n"), "").level, Level::kOk) << "it is given the programs";
}

TEST(FarmDoctorTest, AHostThatSshDoesNotReachIsNamedWithWhatSshSaid) {
  const FarmFinding found = Host(Said(255, "", "Permission denied (publickey).\n"));
  EXPECT_EQ(found.level, Level::kError);
  EXPECT_THAT(found.text, HasSubstr("Permission denied (publickey)"));
  EXPECT_THAT(found.text, HasSubstr("ssh -o BatchMode=yes build@node7 true"));
  EXPECT_EQ(Host(absl::UnavailableError("did not end within 15 s")).level, Level::kError);
}

TEST(FarmDoctorTest, AHostWithoutTheProgramOrWithAnotherBuildIsNamedWithWhatToDo) {
  EXPECT_THAT(Host(Said(127, "")).text, HasSubstr("/opt/galley is not there"));
  auto others = kOwn;
  others[1].identity = "4";
  const FarmFinding found = Host(Said(0, record::EncodeDescriptions(others)));
  EXPECT_EQ(found.level, Level::kError);
  EXPECT_THAT(found.text,
              HasSubstr("another build, so that it gets no jobs of these cookers: texture"));
  EXPECT_THAT(Host(Said(0, "galley 0.0.1\n")).text, HasSubstr("of another build"));
}

TEST(FarmDoctorTest, AToolThatIsNotThereIsNamed) {
  EXPECT_EQ(JudgeTool("sbatch", Said(0, "slurm-wlm 22.05.8\n")).text, "slurm-wlm 22.05.8");
  const FarmFinding found = JudgeTool("sbatch", Said(127, ""));
  EXPECT_EQ(found.level, Level::kError);
  EXPECT_THAT(found.text, HasSubstr("sbatch is not found"));
}

TEST(FarmDoctorTest, TheScriptForAHostTakesAnyPath) {
  EXPECT_THAT(HostScript("/opt/it's/galley"), HasSubstr("command -v '/opt/it'\\''s/galley'"));
}

}  // namespace
}  // namespace galley::cli
