#include "director/cli/farm_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace galley::cli {
namespace {

using testing::HasSubstr;

std::string Problem(const std::string& launcher, const std::string& listen) {
  project::Project project;
  project.farm.launcher = launcher;
  project.farm.listen = listen;
  return std::string(CheckFarm(project).message());
}

TEST(FarmCheckTest, WorkersComeFromHereOrByThemselves) {
  EXPECT_EQ(Problem("local", ""), "");
  EXPECT_EQ(Problem("local", "127.0.0.1:0"), "");
  EXPECT_EQ(Problem("none", "[::1]:9010"), "");
  EXPECT_EQ(Problem("slurm", "127.0.0.1:0"), "");
  EXPECT_THAT(Problem("slurm", ""), HasSubstr("needs listen"));
  EXPECT_THAT(Problem("ssh", ""), HasSubstr("needs hosts"));
  EXPECT_THAT(Problem("none", ""), HasSubstr("no worker would ever come"));
}

TEST(FarmCheckTest, NobodyWaitsForWorkersThatAreAllRefused) {
  project::Project project;
  project.cook.binary_identity = true;
  project.farm.listen = "127.0.0.1:0";
  EXPECT_TRUE(CheckFarm(project).ok());
  project.farm.launcher = "none";
  EXPECT_THAT(CheckFarm(project).message(), HasSubstr("identity = \"binary\""));
}

TEST(FarmCheckTest, NobodyElseCanReachThePortWithoutTls) {
  EXPECT_THAT(Problem("local", "0.0.0.0:9010"), HasSubstr("others than this machine may reach it"));
  EXPECT_THAT(Problem("local", "cook.studio:9010"), HasSubstr("needs tls_cert"));
  EXPECT_THAT(Problem("local", "9010"), HasSubstr("expected HOST:PORT"));
  EXPECT_THAT(Problem("local", "unix:/tmp/x"), HasSubstr("expected HOST:PORT"));
}

TEST(FarmCheckTest, TlsIsThreeFilesThatFit) {
  project::Project project;
  project::FarmSection& farm = project.farm;
  farm.listen = "127.0.0.1:0";
  farm.tls_cert = "/none/cert.pem";
  EXPECT_THAT(CheckFarm(project).message(), HasSubstr("for TLS it needs"));
  farm.tls_key = farm.tls_ca = "/none/other.pem";
  EXPECT_THAT(CheckFarm(project).message(), HasSubstr("/none/cert.pem"));
}

}  // namespace
}  // namespace galley::cli
